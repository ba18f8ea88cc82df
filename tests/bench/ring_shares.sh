#!/usr/bin/env bash
# How even the shares of each placement are, what it moves, what it keeps in memory: the median of 20 sets of names.
#
#   tests/bench/ring_shares.sh [BUILD TREE]     default build/release
#
# Shares are exact (arcs, not sampled keys), so any machine prints the same; only the time of a build depends on it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=${1:-$root/build/release}/bin/lifering-ring
if [[ ! -x $program ]]; then
  echo "no $program; build it: cmake --preset release && cmake --build --preset release" >&2
  exit 2
fi

python3 - "$program" <<'PYTHON'
import json, statistics, subprocess, sys

program = sys.argv[1]
plans = [("classic", []), ("mixed", []), ("slots", []), ("slots, 2^20", ["--segments", "20"]),
         ("slots, 2^22", ["--segments", "22"]), ("slots, cap 0.05", ["--cap", "0.05"]),
         ("slots, 2^17, cap 0.05", ["--segments", "17", "--cap", "0.05"])]
print("| placement | nodes | busiest / fair | moved by a join / (1/(N+1)) | memory | build |")
print("|---|---|---|---|---|---|")
for word, more in plans:
    kind = word.split(",")[0]
    for nodes in (10, 100, 1000):
        sets = []
        for s in range(1, 21):
            out = subprocess.run([program, "report", "--placement", kind, "--nodes", str(nodes), "--set", str(s), *more],
                                 check=True, capture_output=True, text=True).stdout
            sets.append(json.loads(out))
        median = lambda f: statistics.median(f(x) for x in sets)
        print(f"| {word} | {nodes} | {median(lambda x: x['share_max']):.3f} "
              f"| {median(lambda x: x['moved_on_add'] / x['ideal_move']):.2f} "
              f"| {median(lambda x: x['bytes']) / 1024:.0f} KiB | {median(lambda x: x['build_ms']):.1f} ms |", flush=True)
PYTHON
