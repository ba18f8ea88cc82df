#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test through one ctest, whose closing lines end the run.
#
#   bash tests/run.sh [ctest argument...]
#
# Four trees are built (CMakePresets.json says with what): dev runs every test; asan and tsan run again what reads
# strangers' bytes and what several threads touch; clang only has to build without a warning. tests/README.md is the
# map, and says what each part costs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)
cd "$root"

heading() { printf '\n--- %s, after %d s ---\n' "$1" "$SECONDS"; }

heading "Packages"
cmake/install-deps.sh build test

for preset in dev asan tsan clang release; do
  heading "Building $preset"
  cmake --preset "$preset"
  targets=(all)
  if [[ $preset == dev || $preset == clang ]]; then
    targets+=(all_verify_interface_header_sets)
  fi
  cmake --build --preset "$preset" --parallel "$jobs" --target "${targets[@]}"
done

# One ctest over the three trees, so that there is one result.
mkdir -p build/tests
printf 'subdirs("%s")\n' "$root"/build/{dev,asan,tsan} >build/tests/CTestTestfile.cmake

# ThreadSanitizer of g++ 12 can't map its shadow where the kernel spreads addresses wide, so they aren't randomised.
runner=()
if setarch -R true 2>/dev/null; then
  runner=(setarch -R)
fi

heading "Testing"
"${runner[@]}" ctest --test-dir build/tests --output-on-failure --parallel "$jobs" --no-tests=error "$@"
