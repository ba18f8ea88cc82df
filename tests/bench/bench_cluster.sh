#!/usr/bin/env bash
# Clusters in one process, ours (sealed) and one of hashicorp/memberlist (in the clear, as it is by default), in turn on
# this machine; a table of both, and a picture.
#
#   tests/bench/bench_cluster.sh [--tree BUILD] [--members N] [--kills K] [--idle S] [--loss PERCENT] [--limit S]
#                                [--plot FILE.svg]
#
# The build tree (default build/release) needs -DLIFERING_BUILD_BENCHMARKS=ON; memberlist comes from Debian's packages
# golang-go and golang-github-hashicorp-memberlist-dev. With --loss, everything runs in a network namespace of its own,
# whose loopback device drops that share of all packets (needs root and nftables). A crash is one of a process on a
# living host; a vanished host doesn't even refuse what is sent to it. What isn't complete after --limit seconds (120)
# is given up. Figures mean something on an idle machine only. The rows with loss of the README:
#
#   tests/bench/bench_cluster.sh --members 60 --loss 20 --limit 60 --idle 600 --kills 5
#   tests/bench/bench_cluster.sh --members 60 --loss 40 --limit 60 --idle 10 --kills 5
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=$root/build/release members=100 kills=20 idle=15 loss=0 limit=120 plot=
while (($# > 0)); do
  case $1 in
    --tree) tree=$2 ;;
    --members) members=$2 ;;
    --kills) kills=$2 ;;
    --idle) idle=$2 ;;
    --loss) loss=$2 ;;
    --limit) limit=$2 ;;
    --plot) plot=$(realpath -m "$2") ;;
    *) sed -n '2,15p' "$0" >&2 && exit 2 ;;
  esac
  shift 2
done
ours=$tree/bin/bench_cluster
if [[ ! -x $ours ]]; then
  echo "no $ours; build it: cmake -S $root -B $tree -DCMAKE_BUILD_TYPE=Release -DLIFERING_BUILD_BENCHMARKS=ON" >&2
  exit 2
fi
if ! command -v go >/dev/null || [[ ! -d /usr/share/gocode/src/github.com/hashicorp/memberlist ]]; then
  echo "apt-get install golang-go golang-github-hashicorp-memberlist-dev: memberlist is what this compares with" >&2
  exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root/tests/bench/yardstick/memberlist/main.go" "$work/"
(cd "$work" && GO111MODULE=off GOPATH=/usr/share/gocode:$work/go go build -o memberlist main.go)

# A namespace of its own in any case, so that nothing else counts as traffic.
inside='ip link set lo up
if [[ $1 != 0 ]]; then
  nft add table inet bench
  nft add chain inet bench in "{ type filter hook input priority 0 ; }"
  nft add rule inet bench in numgen random mod 100 "<" "$1" drop
fi
shift
exec "$@"'
run() {
  if unshare --net true 2>/dev/null; then
    unshare --net bash -c "$inside" bash "$loss" "$@"
  elif [[ $loss == 0 ]]; then
    "$@"
  else
    echo "--loss needs root: no network namespace can be made" >&2
    return 2
  fi
}
flags=(-n "$members" -idle "$idle" -kills "$kills" -mute "$kills" -limit "$limit")
# A join that isn't complete within the limit is a result, not a reason to stop.
run "$ours" "${flags[@]}" -seal 1 >"$work/lifering.txt" || [[ -s $work/lifering.txt ]]
run "$work/memberlist" "${flags[@]}" >"$work/memberlist.txt" || [[ -s $work/memberlist.txt ]]

python3 "$root/tests/bench/compare_clusters.py" "$work/lifering.txt" "$work/memberlist.txt" "$members" "$loss" "$plot"
