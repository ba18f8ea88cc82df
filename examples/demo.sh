#!/usr/bin/env bash
# Five processes on loopback agree on who owns every key; one is killed, one leaves, the killed one comes back.
#
#   bash examples/demo.sh
#
# Installs what is missing, builds the release preset, runs the story in under a minute and checks each step of it
# against what the processes themselves say. Exits 0 only if all of it held.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
agent=$root/build/release/bin/lifering-agent
names=(cache-1 cache-2 cache-3 cache-4 cache-5)
keys=100000

# --- Driving the agents: commands go into a pipe, answers and events come out in a file of $work ---

declare -A pid=() input=() address=()

cleanup() {
  local status=$?
  ((${#pid[@]} == 0)) || kill -KILL "${pid[@]}" 2>/dev/null || true
  if ((status == 0)); then
    rm -rf "$work"
  else
    echo "What the processes wrote is kept in $work."
  fi
}

# within SECONDS COMMAND...: waits until the command succeeds, and fails when the time or the whole minute is up.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end && SECONDS < minute_is_up)) || return 1
    sleep 0.05
  done
}

is_ready() { grep -q '^{"event":"ready"' "$work/$1.out"; }
has_ended() { ! kill -0 "$1" 2>/dev/null; }
is_ready_or_ended() { is_ready "$1" || has_ended "${pid[$1]}"; }

# start NAME: runs an agent that joins through the first two, of which one may be itself. Only this script holds the
# other end of its pipe, so that no agent outlives the script, however that ends.
start() {
  local name=$1 pipe=$work/$1.in fd
  rm -f "$pipe" && mkfifo "$pipe" && : >"$work/$name.out"
  exec {fd}<>"$pipe"
  input[$name]=$fd
  (
    for fd in "${input[@]}"; do exec {fd}>&-; done
    exec "$agent" --name "$name" --bind "${address[$name]}" --cluster demo --profile local --quit-on-eof \
      --join "${address[cache-1]}" --join "${address[cache-2]}"
  ) <"$pipe" >"$work/$name.out" 2>"$work/$name.err" &
  pid[$name]=$!
  disown
  within 10 is_ready_or_ended "$name" || true
  if has_ended "${pid[$name]}" || ! is_ready "$name"; then
    echo "$name did not start. It said:"
    cat "$work/$name.err"
    exit 1
  fi
}

# has_gone NAME: no question is put to it any more.
has_gone() {
  local fd=${input[$1]}
  exec {fd}>&-
  unset "pid[$1]" "input[$1]"
}

living() { printf '%s\n' "${!pid[@]}" | sort; }

answer_count() { grep -vc '^{"event"' "$work/$1.out" || true; }
has_answers() { (($(answer_count "$1") >= $2)); }

# ask NAME < commands > answers, of which there is one a command, in order.
ask() {
  local name=$1 commands=$work/commands before wanted writer
  cat >"$commands"
  before=$(answer_count "$name")
  wanted=$(wc -l <"$commands")
  cat "$commands" >&"${input[$name]}" &
  writer=$!
  within 10 has_answers "$name" $((before + wanted)) || kill "$writer" 2>/dev/null || true
  wait "$writer" || true
  grep -v '^{"event"' "$work/$name.out" | tail -n +$((before + 1))
}

fingerprint() { ask "$1" <<<fingerprint | sed -E 's/.*"fingerprint":"([0-9a-f]{16})".*/\1/'; }

# when NAME EVENT MEMBER: how many seconds after $since NAME reported that event of that member, if it has.
when() {
  sed -nE "s/^\{\"event\":\"$2\",\"t\":([0-9.]+),\"member\":\{\"name\":\"$3\",.*/\1/p" "$work/$1.out" |
    awk -v since="$since" '$1 >= since { printf "%.2f", $1 - since; exit }'
}

# --- What must hold ---

chapter=
failures=()

tell() {
  chapter=$1
  echo "$chapter:"
}

# check SENTENCE COMMAND...
check() {
  local sentence=$1
  shift
  if "$@"; then
    echo "  held:    $sentence"
  else
    echo "  FAILED:  $sentence"
    failures+=("$chapter: $sentence")
  fi
}

every_living() { # COMMAND NAME-COMES-HERE ARGUMENT...
  local command=$1 name
  shift
  for name in $(living); do "$command" "$name" "$@" || return 1; done
}

sees_alive() { (($(ask "$1" <<<members | grep -o '"state":"alive"' | wc -l) == $2)); }
has_reported() { [[ -n $(when "$@") ]]; }
has_not_reported() { [[ -z $(when "$@") ]]; }

fingerprints_agree() {
  local name
  [[ $(for name in $(living); do fingerprint "$name"; done | sort -u) =~ ^[0-9a-f]{16}$ ]]
}

# look_up FILE: asks every living process for the owner of each key; `key<TAB>owner` lines go to the file.
look_up() {
  local name
  for name in $(living); do
    seq -f 'owner key-%.0f' "$keys" | ask "$name" |
      sed -nE 's/^\{"key":"(.*)","owner":"(.*)"\}$/\1\t\2/p' >"$work/$name.owners"
    [[ $(wc -l <"$work/$name.owners") == "$keys" ]] || return 1
  done
  cp "$work/$(living | head -n 1).owners" "$1"
  for name in $(living); do cmp -s "$1" "$work/$name.owners" || return 1; done
}

# count_moved BEFORE AFTER CONDITION: the keys whose owner changed, under a condition on was and is.
count_moved() {
  paste "$1" "$2" | awk -F '\t' "{ was = \$2; is = \$4 } was != is && ($3) { n++ } END { print n + 0 }"
}

moved_only_from() { (($(count_moved "$1" "$2" "was != \"$3\"") == 0)); }
moved_only_to() { (($(count_moved "$1" "$2" "is != \"$3\"") == 0)); }
owns_none() { ! grep -q $'\t'"$2\$" "$1"; }
owns_all_it_had() { (($(count_moved "$1" "$2" "was == \"$3\"") == 0)); }

# --- What is shown ---

show_members() { # OWNERS
  ask "$(living | head -n 1)" <<<members | grep -o '{"name":[^}]*}' |
    sed -E 's/.*"name":"([^"]*)".*"address":"([^"]*)".*"state":"([^"]*)".*/\1\t\2\t\3/' | sort |
    awk -F '\t' -v keys="$keys" -v owners="$1" '
      BEGIN {
        while ((getline line < owners) > 0) { split(line, field, "\t"); count[field[2]]++ }
        printf "  %-9s %-17s %-8s %8s %8s\n", "member", "address", "state", "keys", "share"
      }
      { printf "  %-9s %-17s %-8s %8d %7.1f%%\n", $1, $2, $3, count[$1], 100 * count[$1] / keys }'
}

show_fingerprints() {
  local name
  for name in $(living); do echo "  $name has the ring $(fingerprint "$name")"; done
}

show_notices() { # EVENT MEMBER
  local name
  for name in $(living); do echo "  $name reported $2 as $1 after $(when "$name" "$1" "$2") s"; done
}

# first_free: the first of five ports in a row that nothing on this machine holds.
first_free() {
  local first port
  while true; do
    first=$((20000 + RANDOM % 10000))
    for ((port = first; port < first + ${#names[@]}; port++)); do
      ! grep -qi ":$(printf %04x "$port") " /proc/net/{tcp,tcp6,udp,udp6} 2>/dev/null || continue 2
    done
    echo "$first"
    return
  done
}

# --- The story ---

five_form_a_cluster() {
  tell "Five processes form a cluster"
  local port name
  port=$(first_free)
  for name in "${names[@]}"; do address[$name]=127.0.0.1:$((port++)); done
  for name in "${names[@]}"; do start "$name"; done
  check "every process sees five live members" within 15 every_living sees_alive 5
  check "all fingerprints agree" within 5 fingerprints_agree
  check "all five name the same owner for each of $keys keys" look_up "$work/five"
  show_members "$work/five"
  show_fingerprints
}

one_is_killed() {
  tell "cache-3 is killed with SIGKILL"
  since=$EPOCHREALTIME
  kill -KILL "${pid[cache-3]}"
  has_gone cache-3
  check "every survivor reported it as failed" within 15 every_living has_reported failed cache-3
  show_notices failed cache-3
  check "all fingerprints agree again" within 5 fingerprints_agree
  check "the survivors name the same owner for each key" look_up "$work/killed"
  check "only the dead one's keys moved" moved_only_from "$work/five" "$work/killed" cache-3
  check "the dead one owns none" owns_none "$work/killed" cache-3
  echo "  $(count_moved "$work/five" "$work/killed" 1) of $keys keys moved"
  show_fingerprints
}

one_leaves() {
  tell "cache-5 leaves"
  local process=${pid[cache-5]}
  since=$EPOCHREALTIME
  echo leave >&"${input[cache-5]}"
  check "it ended by itself" within 10 has_ended "$process"
  has_gone cache-5
  check "every survivor reported it as left" within 10 every_living has_reported left cache-5
  show_notices left cache-5
  check "none reported it as failed" every_living has_not_reported failed cache-5
  check "all fingerprints agree again" within 5 fingerprints_agree
  check "the survivors name the same owner for each key" look_up "$work/left"
  check "only its keys moved" moved_only_from "$work/killed" "$work/left" cache-5
}

the_killed_one_returns() {
  tell "cache-3 starts again under its name"
  since=$EPOCHREALTIME
  start cache-3
  check "every process sees four live members" within 15 every_living sees_alive 4
  check "all fingerprints agree again" within 5 fingerprints_agree
  check "all four name the same owner for each key" look_up "$work/returned"
  check "keys moved to it alone" moved_only_to "$work/left" "$work/returned" cache-3
  check "all keys that it had are its own again" owns_all_it_had "$work/five" "$work/returned" cache-3
  show_members "$work/returned"
  show_fingerprints
}

bash "$root/cmake/install-deps.sh" build
cd "$root"
cmake --preset release
cmake --build --preset release

minute_is_up=$((SECONDS + 55))
work=$(mktemp -d "${TMPDIR:-/tmp}/lifering-demo.XXXXXX")
trap cleanup EXIT
five_form_a_cluster
one_is_killed
one_leaves
the_killed_one_returns

if ((${#failures[@]} > 0)); then
  echo "The demo failed:"
  printf '  %s\n' "${failures[@]}"
  exit 1
fi
echo "Everything held."
