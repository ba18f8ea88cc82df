#!/usr/bin/env bash
# Builds the ring and its tests for another processor and runs them under qemu-user: ARMv8 for its CRC instructions,
# IBM Z for its big-endian memory. The frozen values in the tests make owners and fingerprints the same as everywhere.
#
#   cross_test.sh aarch64|s390x WORK_FOLDER
#
# Exit code 77, with a line that says why, where the compiler or qemu is missing.
set -euo pipefail

arch=$1
work=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
compiler=$arch-linux-gnu-g++
emulator=$(command -v "qemu-$arch" || command -v "qemu-$arch-static" || true)

if ! command -v "$compiler" >/dev/null; then
  echo "SKIPPED: $compiler is not installed (apt-get install g++-$arch-linux-gnu)"
  exit 77
fi
if [[ -z $emulator ]]; then
  echo "SKIPPED: qemu-$arch is not installed (apt-get install qemu-user)"
  exit 77
fi

mkdir -p "$work/include"
# Catch2 is headers only in version 2; the host's other headers must stay out of sight.
ln -sfn /usr/include/catch2 "$work/include/catch2"
if [[ ! -e /usr/include/catch2/catch.hpp ]]; then
  echo "SKIPPED: only Catch2 version 2, as headers, can be built for another processor"
  exit 77
fi

cache=()
if command -v ccache >/dev/null; then
  cache=(ccache)
fi
flags=(-std=c++20 -O2 -g0 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Werror
  -I"$root/include" -I"$root/lib" -I"$root/tests" -isystem "$work/include"
  "-DLIFERING_RING_ORACLES=\"$root/tests/ring/oracles\"")

# Other systems' placements but for MD5, which is a library that Debian has for this machine only; xxHash is a header.
compat=()
skipped="~[balance]"
if [[ -e /usr/include/xxhash.h ]]; then
  ln -sfn /usr/include/xxhash.h "$work/include/xxhash.h"
  for source in "$root"/lib/ring/compat/*.cpp "$root"/lib/base/endpoint.cpp "$root"/tests/ring/compat/*.cpp; do
    [[ $source == */compat/md5.cpp ]] || compat+=("$source")
  done
  flags+=(-DLIFERING_NO_MD5)
  skipped+="~[md5]"
fi

objects=()
build() {
  local object
  object=$work/$(basename "$1" .cpp).o
  "${cache[@]}" "$compiler" "${flags[@]}" -c "$1" -o "$object"
  objects+=("$object")
}
for source in "$root"/lib/ring/*.cpp "$root"/lib/base/{check,error,text}.cpp "$root"/tests/ring/*_test.cpp \
  "$root"/tests/support/catch_main.cpp "${compat[@]}"; do
  build "$source"
done
"$compiler" -static -o "$work/ring_test" "${objects[@]}" -lpthread

"$emulator" "$work/ring_test" "$skipped"
