#!/usr/bin/env bash
# Checks one variant of the model exhaustively.
#
#   check.sh MODEL holds|fails [-DNAME ...]
#
# Exit code 0 if the claim holds, or fails, as expected; 1 if not; 77 if spin or a C compiler is missing.
set -euo pipefail

model=$(readlink -f "$1")
expected=$2
shift 2

for tool in spin cc; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIPPED: $tool is not installed (apt-get install spin gcc)"
    exit 77
  fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
spin "$@" -a "$model" >spin.txt 2>&1 || { cat spin.txt; exit 1; }
cc -O2 -w -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -o pan pan.c
./pan -m1000000 -w24 >pan.txt 2>&1 || { cat pan.txt; exit 1; }

grep -E 'states, stored|errors:|assertion' pan.txt
if grep -qE 'max search depth too small|out of memory|Search not completed' pan.txt && [[ $expected == holds ]]; then
  echo "not exhaustive:"
  cat pan.txt
  exit 1
fi
case $expected in
  holds) grep -q 'errors: 0' pan.txt ;;
  fails) grep -q 'assertion violated' pan.txt ;;
  *) echo "expected '$expected'?"; exit 2 ;;
esac || { echo "expected that the claim $expected; it did not:"; cat pan.txt; exit 1; }
