#!/usr/bin/env bash
# Runs lifering-ring as a person does, and compares what it says.
#
#   lifering_ring_test.sh PROGRAM ORACLES
set -uo pipefail

program=$1
oracles=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

# says EXPECTED ARGUMENT...: exit code 0, that text on stdout, nothing on stderr.
says() {
  local expected=$1
  shift
  "$program" "$@" >out 2>err
  local code=$?
  if [[ $code != 0 || $(cat out) != "$expected" || -s err ]]; then
    fail "$*: exit $code, said '$(cat out)', expected '$expected'; stderr: $(cat err)"
  fi
}

# refuses SENTENCE ARGUMENT...: exit code 2, that one line on stderr, nothing on stdout.
refuses() {
  local expected="lifering-ring: $1"
  shift
  "$program" "$@" >out 2>err
  local code=$?
  if [[ $code != 2 || $(cat err) != "$expected" || $(wc -l <err) != 1 || -s out ]]; then
    fail "$*: exit $code, stderr '$(cat err)', expected '$expected'; stdout: $(cat out)"
  fi
}

tab=$'\t'
three=10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379

# Owners.
says "user:12345${tab}10.0.0.2:6379" owner --nodes $three user:12345
says "user:12345${tab}10.0.0.1:6379" owner --nodes 10.0.0.1:6379,10.0.0.3:6379 user:12345
says "user:12345${tab}10.0.0.2:6379${tab}10.0.0.1:6379${tab}10.0.0.3:6379" owner --nodes $three --replicas 5 user:12345
says "a${tab}x"$'\n'"b${tab}x" owner a --nodes x b
says "--nodes${tab}x" owner --nodes x -- --nodes
says "${tab}" owner --nodes x ""
says "757365723a3132333435${tab}10.0.0.2:6379" owner --nodes $three --hex 757365723A3132333435
says "\\x20\\x5c\\xc3\\xb8${tab}n\\xc3\\xb8\\x20de" owner --nodes $'n\xc3\xb8 de' $' \\\xc3\xb8'
printf 'n\\xc3\\xb8de\nheavy\t50\nidle\t0\tz\\x20ne\n' >nodes
printf 'one\ntwo\n' >keys
says "one${tab}heavy"$'\n'"two${tab}heavy" owner --nodes-file nodes --keys-file keys
for placement in classic mixed slots; do
  says "k${tab}only" owner --nodes only --placement $placement k
done
says "k${tab}only" owner --nodes only --placement slots --segments 10 --cap 0.05 k

# Files as other systems' editors leave them, flags with a `=`.
printf '\xef\xbb\xbfone\t1\r\ntwo\t0.5\tz\r\n' >nodes
"$program" owner --nodes-file nodes --replicas 2 a b c | cut -f2- | tr '\t' '\n' | sort -u >names
[[ $(tr '\n' ' ' <names) == "one two " ]] || fail "line ends and byte order mark: $(cat names)"
says "k${tab}a#0" owner --nodes=a#0 --placement=classic --label={node}={i} --replicas=1 k

# Every recorded set, with all its keys in one call: what the other implementation said, but for rows without an owner
# here and sets made of shared points.
awk -F'\t' '/^#config/ && $2 !~ /tie/ && $0 !~ /nodes=[^\t]*,,/ { print $2 "\t" $3 "\t" $4 "\t" $5 }' \
  "$oracles/crc32-node-hash-i.tsv" >configs
rows=0
while IFS=$tab read -r id scheme points nodes; do
  tr ',' '\n' <<<"${nodes#nodes=}" >nodes
  awk -F'\t' -v id="$id" '$1 == id && $2 != "" { print $2 }' "$oracles/crc32-node-hash-i.tsv" >escaped
  awk -F'\t' -v id="$id" '$1 == id && $2 != "" { print $2 "\t" $3 }' "$oracles/crc32-node-hash-i.tsv" >expected
  # Escapes to hexadecimal, which --hex takes; and back from hexadecimal for the comparison.
  while IFS= read -r key; do printf '%b' "$key" | od -An -v -tx1 | tr -d ' \n'; echo; done <escaped >hex
  "$program" owner --nodes-file nodes --keys-file hex --hex --vnodes "${points#replicas=}" --label "${scheme#scheme=}" |
    cut -f2 >owners
  paste escaped owners >answers
  cmp -s answers expected || fail "$id: $(diff answers expected | head -3)"
  rows=$((rows + $(wc -l <expected)))
done <configs
[[ $rows -gt 1000 ]] || fail "only $rows rows were compared"

# Errors of a person.
refuses "a command is missing: owner, slot, report or bench (--help)"
refuses 'command "own" is unknown; use owner, slot, report or bench (--help)' own
refuses "no nodes are given; use --nodes a,b,c or --nodes-file FILE" owner key
refuses "no keys are given; name some, or use --keys-file FILE" owner --nodes a
refuses 'node "a" is given twice; name each node once' owner --nodes a,b,a key
refuses "a node's name is empty; use 1 to 255 bytes" owner --nodes a,,b key
refuses 'flag --node is unknown to owner; see lifering-ring --help' owner --node a key
refuses '--vnodes is "x"; it must be a whole number, up to 4294967295' owner --nodes a --vnodes x key
refuses '--vnodes is "-1"; it must be a whole number, up to 4294967295' owner --nodes a --vnodes -1 key
refuses '--vnodes is "4294967296"; it must be a whole number, up to 4294967295' owner --nodes a --vnodes 4294967296 key
refuses '--vnodes needs a value, and --label looks like a flag; if it is meant, write --vnodes=--label' owner --nodes a --vnodes --label x key
refuses '--vnodes needs a value' owner --nodes a key --vnodes
refuses 'vnodes is 70000; use 1 to 65536, or 0 for 150' owner --nodes a --vnodes 70000 key
refuses 'placement "rendezvous" is unknown; use classic, mixed, slots, nginx, haproxy, ketama, envoy_ring, maglev, redis_slots or kafka' \
  owner --nodes a --placement rendezvous key
for own in classic mixed slots; do
  for text in "$own:vnodes=3" "$own:"; do
    refuses "placement $own takes no options after a colon; use --vnodes, --label, --segments or --cap" \
      owner --nodes a --placement "$text" key
  done
done
refuses 'label is "x"; it must hold {node} and {i} exactly once each' owner --nodes a --label x key
refuses 'segments is 30; use 10 to 22, the base-2 logarithm of their number' owner --nodes a --placement slots --segments 30 k
for cap in much '' . .5 5. 0.0001 10.001 11 100 -1 0.0.1 nan 1e1; do
  refuses "cap is \"$cap\"; use 0 for none or a part such as 0.05, 0.001 to 10" owner --nodes a --placement slots "--cap=$cap" k
done
for cap in 0 0.001 0.05 1 10 10.000; do
  says "k${tab}only" owner --nodes only --placement slots --segments 10 "--cap=$cap" k
done
refuses '--replicas is 0; use 1 or more' owner --nodes a --replicas 0 key
refuses 'key "zz" isn'"'"'t pairs of hexadecimal digits' owner --nodes a --hex zz
refuses 'file "absent" can'"'"'t be read; give one that exists and is readable' owner --nodes-file absent key
refuses 'file "absent" can'"'"'t be read; give one that exists and is readable' owner --nodes a --keys-file absent
printf 'a\nb\theavy\n' >nodes
refuses 'nodes, line 2: weight is "heavy"; use 0, or 0.01 to 100 with at most three places' owner --nodes-file nodes k
printf 'a\tno\r\n' >nodes
refuses 'nodes, line 1: weight is "no"; use 0, or 0.01 to 100 with at most three places' owner --nodes-file nodes k
printf 'a\n\n' >nodes
refuses 'nodes, line 2: a node'"'"'s name is empty; use 1 to 255 bytes' owner --nodes-file nodes k
refuses 'vnodes is 65536, with which these weights make 67174400 points, which would fill memory; a ring takes up to 67108864, so use fewer or smaller weights' \
  report --nodes 1025 --vnodes 65536
printf 'a\\y\n' >nodes
refuses 'nodes, line 1: "a\y" has a backslash that doesn'"'"'t begin \xHH' owner --nodes-file nodes k
printf 'a\n\nb\n' >nodes
refuses "nodes, line 2: a node's name is empty; use 1 to 255 bytes" owner --nodes-file nodes k
printf 'a\nb 2 z1\n' >nodes
refuses 'nodes, line 2: "b\x202\x20z1" holds a byte that must be written \x20; fields are separated by tabs' owner --nodes-file nodes k
printf 'a\t1\tz\tid\tmore\n' >nodes
refuses 'nodes, line 1: 5 fields; write name, weight, zone and id, or fewer, with tabs between' owner --nodes-file nodes k
refuses 'the number of nodes is missing; use --nodes N, 1 to 100000' report
refuses 'the number of nodes is missing; use --nodes N, 1 to 100000' report --names pod
refuses '--nodes is 0; use 1 to 100000' report --nodes 0
refuses '--nodes is 100001; use 1 to 100000' report --nodes 100001
refuses 'names "cats" are unknown; use ip, pod, padded or uuid' report --nodes 5 --names cats
refuses 'file "no/such/folder.svg" can'"'"'t be written; give one in a folder that exists' report --nodes 5 --plot no/such/folder.svg

# What the placement doesn't use, whichever flag comes first.
for other in classic mixed; do
  refuses "segments is 12, of no use to $other; set vnodes and label, or choose slots" owner --nodes a --segments 12 --placement $other k
  refuses "cap is 100 thousandths, of no use to $other; set vnodes and label, or choose slots" owner --nodes a --placement $other --cap 0.1 k
done
refuses 'segments is 12, of no use to classic; set vnodes and label, or choose slots' report --nodes 5 --segments 12
refuses 'vnodes is 5, of no use to slots; set segments and cap, or choose classic or mixed' bench --placement slots --vnodes 5
refuses 'label is "{i}{node}", of no use to slots; set segments and cap, or choose classic or mixed' owner --nodes a --label '{i}{node}' --placement slots k

# One line, whatever bytes are in it; nothing before an error; and an error when nobody takes the answers.
refuses 'flag --no\x0ade is unknown to owner; see lifering-ring --help' owner $'--no\nde' a key
printf '61\n6\n' >keys
refuses 'key "6" isn'"'"'t pairs of hexadecimal digits' owner --nodes a --hex --keys-file keys
refuses '--hex takes no value' owner --nodes a --hex=61 62
if [[ -w /dev/full ]]; then
  "$program" owner --nodes a k 2>err >/dev/full
  [[ $? == 1 && $(cat err) == "lifering-ring: what was asked for can't be written to stdout" ]] || fail "full device: $(cat err)"
fi

# Reports.
for placement in classic mixed "slots --segments 12" "slots --segments 12 --cap 0.05"; do
  # shellcheck disable=SC2086
  "$program" report --placement $placement --nodes 20 --names pod --plot picture.svg >report 2>err || fail "report $placement"
  for field in placement nodes share_max share_min share_sd share_sd_theory moved_on_add moved_on_remove ideal_move \
    top_heir build_ms bytes; do
    grep -q "\"$field\":" report || fail "report $placement has no $field: $(cat report)"
  done
  grep -q '</svg>' picture.svg || fail "no picture for $placement"
done
"$program" report --nodes 100 >report
grep -qE '"share_max":2\.0[0-9]*' report || fail "plain CRC-32 should give the busiest of 100 addresses twice its share: $(cat report)"

# Other systems' placements: the order and the ids of a file, slots without nodes, traps.
printf 's1\t1\t\t7\ns2\t1\t\t100\ns3\t1\t\t2000\ns4\t1\t\t65535\n' >nodes
awk -F'\t' '$1 == "ids" && $2 !~ /\\/ { print $2 }' "$oracles/haproxy-consistent.tsv" >keys
awk -F'\t' '$1 == "ids" && $2 !~ /\\/ { print $2 "\t" $3 }' "$oracles/haproxy-consistent.tsv" >expected
"$program" owner --nodes-file nodes --keys-file keys --placement haproxy:hash=sdbm,avalanche=on,key=id >answers
cmp -s answers expected || fail "haproxy with ids: $(diff answers expected | head -3)"
[[ $(wc -l <answers) -gt 10 ]] || fail "only $(wc -l <answers) keys were asked with ids"
awk -F'\t' '$1 == "mod-w123" && $2 !~ /\\/ { print $2 }' "$oracles/nginx-hash-consistent.tsv" >keys
awk -F'\t' '$1 == "mod-w123" && $2 !~ /\\/ { print $2 "\t" $3 }' "$oracles/nginx-hash-consistent.tsv" >expected
printf '127.0.0.1:9001\n127.0.0.2:9001\t2\n127.0.0.3:9001\t3\n' >nodes
"$program" owner --nodes-file nodes --keys-file keys --placement nginx:method=modulo >answers
cmp -s answers expected || fail "nginx modulo: $(diff answers expected | head -3)"
tac nodes >turned
"$program" owner --nodes-file turned --keys-file keys --placement nginx:method=modulo >answers
cmp -s answers expected && fail "the order of a nodes file should decide under modulo"
says "123456789${tab}12739"$'\n'"{user}1${tab}5474"$'\n'"${tab}0" slot 123456789 '{user}1' ""
says "313233${tab}5970" slot --hex 313233
printf '313233\r\n' >keys
says "313233${tab}5970" slot --hex --keys-file keys
says "313233${tab}5970" slot --hex 313233 --placement redis_slots:tags=off
says "key-16${tab}9" slot --placement kafka:partitions=12,hash=consistent key-16
says "key-16${tab}9" owner --placement kafka:partitions=12,hash=consistent key-16
says "key-16${tab}b" owner --nodes a,b --placement kafka:partitions=12,hash=consistent key-16
refuses 'placement haproxy has no slots; use redis_slots, kafka:partitions=N or maglev' slot --placement haproxy k
refuses 'no keys are given; name some, or use --keys-file FILE' slot
refuses 'kafka: partitions is 0; use 1 to 1000000' owner --placement kafka k
refuses 'haproxy: hash is "md5"; use sdbm, djb2, wt6, crc32 or none' owner --nodes a --placement haproxy:hash=md5 k
refuses 'vnodes, label, segments, cap and hash are for classic, mixed and slots; nginx has options of its own, so leave them as they are' \
  owner --nodes a --placement nginx --vnodes 5 k
refuses 'haproxy: "10.0.0.1:1" and "10.0.0.1:2" are both "10.0.0.1:0" there and would share all points; name or number them apart' \
  owner --nodes 10.0.0.1:1,10.0.0.1:2 --placement haproxy:key=addr k
"$program" owner --nodes 12.0.0.1:80,2.0.0.1:80 --label '{i}{node}' k 2>err >/dev/null
grep -q '^lifering-ring: warning: label is "{i}{node}"' err || fail "no warning of an ambiguous label: $(cat err)"
printf 'b:1\t2\na:1\t1\t\t7\r\n' >nodes
for placement in nginx nginx:method=modulo haproxy haproxy:number=name ketama 'ketama:client=twemproxy,hash_tag="<' \
  envoy_ring:min=1024,max=4096 maglev:size=5003 redis_slots kafka:partitions=40; do
  "$program" owner --nodes-file nodes --placement "$placement" k >answers 2>err || fail "owner $placement: $(cat err)"
  [[ $(cat answers) == "k${tab}"[ab]:1 && ! -s err ]] || fail "owner $placement: $(cat answers err)"
  "$program" report --placement "$placement" --nodes 20 --plot picture.svg >report 2>err || fail "report $placement: $(cat err)"
  grep -q '"moved_others":' report || fail "report $placement: $(cat report)"
  ! grep -q '"<' picture.svg || fail "a picture of $placement isn't XML"
done

help=$("$program" --help)
[[ $help == *'lifering-ring owner'* ]] || fail "--help"
for command in help 'owner --help' 'slot --help' 'report --nodes 5 --help' 'bench --help'; do
  # shellcheck disable=SC2086
  says "$help" $command
done
says "--help${tab}x" owner --nodes x -- --help
"$program" --version | grep -qE '^lifering-ring [0-9]+\.[0-9]+\.[0-9]+$' || fail "--version"
"$program" bench --nodes 10 | grep -q 'lookups per second' || fail "bench"

[[ $failures == 0 ]] && echo "all as expected, $rows recorded rows among them"
exit $((failures > 0))
