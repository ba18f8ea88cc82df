#!/usr/bin/env bash
# Runs all cases of a Catch2 program at the same time, each in a process of its own, and says what failed.
#
#   side_by_side.sh PROGRAM
#
# Every case has the tag [hosts] and one of its own.
set -uo pipefail

program=$1
said=$(mktemp -d)
running=()
finish() {
  if ((${#running[@]} > 0)); then kill "${running[@]}" 2>/dev/null; fi
  rm -rf "$said"
}
trap finish EXIT
trap 'exit 1' TERM INT

mapfile -t tags < <("$program" --list-tags '[hosts]' | sed -n 's/^ *[0-9]\+ *\[\(.*\)\]$/\1/p' | grep -vx hosts)
if ((${#tags[@]} == 0)); then
  echo "$program has no case"
  exit 1
fi
for tag in "${tags[@]}"; do
  "$program" "[hosts][$tag]" --durations yes >"$said/$tag" 2>&1 &
  running+=($!)
done

failed=0
for i in "${!tags[@]}"; do
  if wait "${running[i]}"; then
    echo "passed: ${tags[i]}"
    grep -m1 -E 'SKIPPED: |% loss: ' "$said/${tags[i]}"
  else
    failed=1
    echo "FAILED: ${tags[i]}"
    cat "$said/${tags[i]}"
  fi
done
running=()
exit $failed
