#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files that look like programs (tests/guest/hostile-elf), asked about by unwind and list:
# a report or a sentence, before long.  What maps them, and probes in them, has a guest
# (hostile-files), where a tool takes a hundred times as long.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

# (BUILD is that of the tests)
make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/f"
# what a file claims to have is not to be believed: 2 GiB will do for all
ulimit -v $((2 << 20))
${CC:-cc} -g -O2 -shared -fPIC -o "$work/lib.so" tests/guest/wl_load_lib.c &&
	tests/guest/hostile-elf "$work/lib.so" "$work/f" small > "$work/names"
check $? "the files are made"
for ask in unwind list; do
	wrong=''
	while read -r name; do
		file=$work/f/$name
		options=()
		[ $ask = list ] || options=(--no-cache)
		timeout 60 build/memtap $ask "$file" "${options[@]}" > "$work/out" 2> "$work/err"
		case $? in
			0) ;;
			1) [ -s "$work/err" ] || wrong+="$name: no sentence; " ;;
			*) wrong+="$name: neither; " ;;
		esac
	done < "$work/names"
	echo "# ${wrong:-all is well}"
	[ -z "$wrong" ]
	check $? "$ask: of each a report or a sentence"
done
checked
