#!/usr/bin/env bash
# Installs the Debian packages that lifering is built from or tested with, as far as they are missing.
#
#   cmake/install-deps.sh build          the library and its programs
#   cmake/install-deps.sh build test     and all that the test run needs
#
# Where the packages come from elsewhere, LIFERING_DEPS=present makes this script trust that they are there.
set -euo pipefail

build=(g++ cmake ninja-build libasio-dev libmd-dev libprotobuf-dev protobuf-compiler libsodium-dev libspdlog-dev libxxhash-dev)
test=(
  catch2 ccache clang libbenchmark-dev libclang-rt-14-dev pkg-config spin
  g++-aarch64-linux-gnu g++-s390x-linux-gnu haproxy iproute2 libfaketime nftables nginx-light qemu-user
)

say() { echo "lifering: $*" >&2; }

wanted=()
for group in "$@"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    *)
      say "no group of packages is called '$group'; there are 'build' and 'test'."
      exit 2
      ;;
  esac
done

if [[ ${LIFERING_DEPS:-} == present ]]; then
  exit 0
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  say "this script installs Debian packages with apt-get, which isn't here."
  say "Install what these hold in your system's way, then run again with LIFERING_DEPS=present: ${wanted[*]}."
  exit 1
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  if [[ $status != installed ]]; then
    missing+=("$package")
  fi
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    say "these packages are missing, and there is no sudo to install them with: ${missing[*]}."
    say "As root, run: apt-get update && apt-get install ${missing[*]}"
    exit 1
  fi
  as_root=(sudo)
fi

say "installing with ${as_root[*]:+sudo }apt-get what is missing: ${missing[*]}"
# RUNLEVEL=1: no service is started that comes with a package, such as the proxies that tests start themselves.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -o DPkg::Lock::Timeout=300)
"${apt[@]}" update
"${apt[@]}" install --yes --no-install-recommends "${missing[@]}"
