#!/usr/bin/env bash
# The ring's figures beside those of the yardstick, a plain ring in Go, measured in one run on this machine.
#
#   tests/bench/bench_ring.sh [BUILD TREE]     default build/release; it needs -DLIFERING_BUILD_BENCHMARKS=ON
#
# Needs go (apt-get install golang-go) for the yardstick. Prints a table; the whole output of Google Benchmark is left in
# the tree as bench_ring.json. Runs some two minutes; figures mean something on an idle machine only.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=${1:-$root/build/release}
program=$tree/bin/bench_ring
if [[ ! -x $program ]]; then
  echo "no $program; build it: cmake -S $root -B $tree -DCMAKE_BUILD_TYPE=Release -DLIFERING_BUILD_BENCHMARKS=ON" >&2
  exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if command -v go >/dev/null; then
  cp "$root/tests/bench/yardstick/ring_test.go" "$work/"
  (cd "$work" && GO111MODULE=off go test -run XXX -bench . -benchtime 0.5s) >"$work/yardstick.txt"
else
  echo "go is not installed; no yardstick" >&2
  : >"$work/yardstick.txt"
fi

"$program" --benchmark_format=json --benchmark_min_time=0.3 --benchmark_repetitions=3 \
  --benchmark_report_aggregates_only=true >"$tree/bench_ring.json" 2>/dev/null

python3 - "$tree/bench_ring.json" "$work/yardstick.txt" <<'PYTHON'
import json, re, sys

ours = {}
for b in json.load(open(sys.argv[1]))["benchmarks"]:
    if b["aggregate_name"] == "median":
        unit = {"ns": 1, "us": 1e3, "ms": 1e6}[b["time_unit"]]
        name = b["run_name"].replace("/real_time", "")
        ours[name] = (b["real_time"] * unit, b.get("items_per_second", 0))
theirs = {}
for line in open(sys.argv[2]):
    m = re.match(r"Benchmark(\S+?)-?\d*\s+\d+\s+([\d.]+) ns/op", line)
    if m:
        theirs[m[1]] = float(m[2])

kinds = {0: "classic", 1: "mixed", 2: "slots"}

def row(work, ns, yardstick=None, shown=None):
    ratio = f"{yardstick / ns:.0f}x" if yardstick else ""
    peer = f"{yardstick:.0f} ns" if yardstick else ""
    print(f"| {work} | {shown or f'{ns:.1f} ns'} | {peer} | {ratio} |")

print("| work | lifering | yardstick | ratio |\n|---|---|---|---|")
for kind, word in kinds.items():
    for nodes in (10, 100, 1000, 10000):
        row(f"lookup, {word}, {nodes} nodes", ours[f"lookup/placement:{kind}/nodes:{nodes}"][0],
            theirs.get(f"Get/nodes={nodes}/one") if kind == 0 else None)
for kind, word in kinds.items():
    one = ours[f"lookup/placement:{kind}/nodes:1000"][1]
    two = ours[f"lookup/placement:{kind}/nodes:1000/threads:2"][1]
    row(f"two threads, {word}, 1000 nodes", 1e9 / two, theirs.get("Get/nodes=1000/all-cores") if kind == 0 else None,
        f"{two / 1e6:.0f} M/s, {two / one:.2f} of one")
    batch = ours[f"lookup_batch/placement:{kind}/nodes:1000"][1]
    row(f"batches of 64, {word}, 1000 nodes", 1e9 / batch, None, f"{batch / 1e6:.0f} M/s")
row("take and release a view", ours["view_and_release/placement:0/nodes:1000"][0])
for nodes, rate in ((1000, 100), (10, 1000)):
    calm = ours[f"lookup_beside_writer/placement:0/nodes:{nodes}/rate:0"][1]
    busy = ours[f"lookup_beside_writer/placement:0/nodes:{nodes}/rate:{rate}"][1]
    row(f"reader beside {rate} publications a second, {nodes} nodes", 1e9 / busy, None,
        f"{busy / calm:.3f} of undisturbed")
for kind, nodes, weighted in ((0, 1000, 0), (2, 1000, 0), (0, 1000, 1), (2, 1000, 1), (0, 10000, 0), (2, 10000, 0),
                              (2, 10, 0), (2, 100, 0), (4, 1000, 0)):
    ns = ours[f"join_and_leave/placement:{kind}/nodes:{nodes}/weighted:{weighted}"][0] / 2
    word = kinds.get(kind, "slots, cap 0.05") + (", weighted" if weighted else "")
    row(f"one join or leave, {word}, {nodes} nodes", ns,
        theirs.get("Add1000") if (kind, nodes, weighted) == (0, 1000, 0) else None, f"{ns / 1e6:.3f} ms")
for kind, nodes in ((0, 1000), (1, 1000), (2, 1000), (4, 1000), (3, 1000), (0, 10000), (2, 10000)):
    ns = ours[f"build/placement:{kind}/nodes:{nodes}/weighted:0"][0]
    word = kinds.get(kind, "slots, cap 0.05" if kind == 4 else "slots 2^22")
    row(f"{nodes} nodes in one batch, {word}", ns, None, f"{ns / 1e6:.1f} ms")
for size in (8, 10, 16, 24, 32, 64, 256, 1400):
    row(f"CRC-32 of {size} bytes", ours[f"crc/{size}"][0])
PYTHON
