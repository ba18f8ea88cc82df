#!/usr/bin/env bash
# What the library costs a program: the size of one that links it statically, stripped, and the time from its start to
# the moment when it is a member and owns keys.
#
#   tests/bench/program_cost.sh [BUILD TREE [RUNS]]     default build/release, 50 runs
#
# The program is lifering-agent, which says when it is ready. The time is from before fork() to the arrival of that line,
# with the loading of all shared libraries. In parentheses, what of it a program takes that does nothing. On a busy machine
# the least of the times means something, and the processor's time, of all threads to the end.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=${1:-$root/build/release}
for program in lifering-agent hello_cluster; do
  if [[ ! -x $tree/bin/$program ]]; then
    echo "no $tree/bin/$program; build it: cmake --preset release && cmake --build --preset release" >&2
    exit 2
  fi
done

python3 - "$tree/bin" "${2:-50}" <<'PYTHON'
import os, signal, statistics, subprocess, sys, tempfile, time

folder, runs = sys.argv[1], int(sys.argv[2])

def start(words, until_line):
    times, processor = [], []
    for _ in range(runs):
        before = time.perf_counter()
        made = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = made.stdout.readline()
        times.append((time.perf_counter() - before) * 1000)
        if until_line and b'"ready"' not in line:
            sys.exit(f"not ready: {line!r}")
        made.stdin.close()
        made.stdout.close()
        os.kill(made.pid, signal.SIGKILL)
        usage = os.wait4(made.pid, 0)[2]
        made.returncode = 0
        processor.append((usage.ru_utime + usage.ru_stime) * 1000)
    return sorted(times), sorted(processor)

with tempfile.TemporaryDirectory() as work:
    for program in ("hello_cluster", "lifering-agent"):
        copy = os.path.join(work, program)
        subprocess.run(["strip", "-o", copy, os.path.join(folder, program)], check=True)
        print(f"{program}, stripped: {os.path.getsize(copy) / 1e6:.2f} MB (bound: 6)")

agent = [os.path.join(folder, "lifering-agent"), "--name", "a", "--cluster", "cost", "--bind", "127.0.0.1:0"]
(ready, processor), (nothing, _) = start(agent, True), start(["/bin/true"], False)
print(f"start to ready, ms: least {ready[0]:.1f} ({nothing[0]:.1f}), median {statistics.median(ready):.1f} "
      f"({statistics.median(nothing):.1f}), longest {ready[-1]:.1f} ({nothing[-1]:.1f}) of {runs} runs (bound: 20)")
print(f"processor, ms: least {processor[0]:.1f}, median {statistics.median(processor):.1f}")
PYTHON
