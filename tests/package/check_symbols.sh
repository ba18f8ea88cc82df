#!/usr/bin/env bash
# A shared lifering may export its public names and nothing else, but for two that it can't hold back: Asio marks its
# own symbols default, so that a program and its libraries share one set of services and error categories, and so does
# the standard library with the templates and type names that are instantiated here.
#
#   check_symbols.sh <shared library>
set -euo pipefail
library=$1

symbols=$(nm --dynamic --demangle --defined-only "$library" | sed -E 's/^[0-9a-f]* +[A-Za-z] //')

kind='((vtable|VTT|typeinfo|typeinfo name|guard variable) for )?'
internal="^${kind}lifering::(base|ring_detail|swim|wire|net)::"
public="^${kind}lifering::"
shared='(^|[ (])(asio|std|__gnu_cxx)::'

status=0
while IFS= read -r symbol; do
  if [[ $symbol =~ $internal || ! ($symbol =~ $public || $symbol =~ $shared) ]]; then
    echo "$library must not export $symbol"
    status=1
  fi
done <<<"$symbols"

if ! grep -qE "$public" <<<"$symbols"; then
  echo "$library exports nothing of lifering's public interface"
  status=1
fi
exit $status
