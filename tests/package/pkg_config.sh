#!/usr/bin/env bash
# Builds and runs the consumer with nothing but what pkg-config says of an installed lifering.
#
#   pkg_config.sh <prefix> <compiler> <source> <scratch folder>
set -euo pipefail
prefix=$1 compiler=$2 source=$3 scratch=$4

description=$(find "$prefix" -name lifering.pc)
export PKG_CONFIG_PATH=${description%/*}
program=$(mktemp "$scratch/consumer.XXXXXX")
trap 'rm -f "$program"' EXIT

read -ra flags <<<"$(pkg-config --cflags --libs lifering)"
"$compiler" -std=c++20 "$source" "${flags[@]}" -o "$program"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir lifering) "$program"
