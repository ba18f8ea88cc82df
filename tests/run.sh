#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test through one ctest, whose closing lines end the run.
#
#   bash tests/run.sh [ctest argument...]
#
# Four trees are built (CMakePresets.json says with what): dev runs every test, with g++; asan runs nearly all again, with
# Clang; tsan what several threads touch; release is what the demo uses. A warning stops the build in each of them.
# tests/README.md is the map, and says what each part costs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)
cd "$root"

heading() { printf '\n--- %s, after %d s ---\n' "$1" "$SECONDS"; }

heading "Packages"
bash cmake/install-deps.sh build test

for preset in release dev asan tsan; do
  heading "Building $preset"
  cmake --preset "$preset"
  cmake --build --preset "$preset" --parallel "$jobs"
done

heading "Compiling each public header alone"
cmake --build --preset dev --parallel "$jobs" --target all_verify_interface_header_sets
cmake --build --preset asan --parallel "$jobs" --target all_verify_interface_header_sets

# One ctest over the three trees, so that there is one result.
mkdir -p build/tests
printf 'subdirs("%s")\n' "$root"/build/{dev,asan,tsan} >build/tests/CTestTestfile.cmake

# ThreadSanitizer of g++ 12 can't map its shadow where the kernel spreads addresses wide, so they aren't randomised.
runner=()
if setarch -R true 2>/dev/null; then
  runner=(setarch -R)
fi

# One more at a time than there are cores: those with processes wait most of the time.
heading "Testing"
"${runner[@]}" ctest --test-dir build/tests --output-on-failure --parallel "$((jobs + 1))" --no-tests=error "$@"
