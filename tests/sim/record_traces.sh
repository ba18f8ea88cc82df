#!/bin/sh
# Writes tests/sim/traces.txt anew: which trace each of these runs leaves. Whoever changes what the
# machine does runs it once; all compilers and build types must then agree.
#
#   tests/sim/record_traces.sh build/dev/bin/lifering-sim
set -eu
program=$1
folder=$(dirname "$0")
while read -r name seed; do
  trace=$("$program" run "$folder/scenarios/$name.scenario" --seed "$seed" --json |
    sed 's/.*"trace":"0*\([0-9a-f]*\)".*/\1/')
  echo "$name $seed $trace"
done > "$folder/traces.txt.new" << 'END'
form-5 1
crash 2
everything 3
leave 4
pause 5
random 6
random 7
restart-moved 8
END
mv "$folder/traces.txt.new" "$folder/traces.txt"
