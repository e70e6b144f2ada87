#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Probes by source line, and variables there: each line in order, with the values that the program
# itself prints.
. "$(dirname "$0")/lib.sh"

rest='s/^ *[0-9.:]+ +[0-9]+ +[^ ]+ +[0-9]+ //'
forms='wl_source_0 wl_source_2 wl_source_0_fixed wl_source_2_fixed'
memtap status | grep -q '^features:.*32-bit' && forms+=' wl_source_0_32 wl_source_2_32'

line() { sed -n "/\/\* LINE_$1 \*\//=" wl_source.c; }

# names NAME...: sed's words for "wl_source.c:NUMBER" as the program has it
names() {
	for name; do
		printf 's/:wl_source\\.c:%s /:LINE_%s /;' "$(line "$name")" "$name"
	done
}
words=$(names INLINE LOOP STRINGS MEMBERS GLOBALS)

traced() {
	local of=u:./$1:wl_source.c:
	run memtap trace "$of$(line LOOP)(i,sum)" "$of$(line STRINGS)(name,text,color)" \
		"$of$(line GLOBALS)(total,shared)" "$of$(line INLINE)(v,w)" \
		"$of$(line MEMBERS)(pair.first,node->next->name,last=node[1].high,low=node->low)" \
		"u:./$1:take(item->pairs[1].second,high=item->high,n)" \
		-o "$T/got" -- "./$1" "$T/truth" 4
	is "$status" 0 "$1: exit status"
	unlike "$err" 'missing' "$1: nothing is lost"
	# code of a line may begin in several places: what is printed there is the same
	sed -E -e 1d -e "$rest" -e "$words" "$T/got" | uniq > "$T/lines"
	same_file "$T/lines" "$T/truth" "$1: each line, in order"
}
for form in $forms; do
	traced "$form"
done

at=u:./wl_source_0:wl_source.c
run memtap count "$at:$(line LOOP)(i)" --by i --filter 'sum >= 0 || sum < -990' --json \
	-- ./wl_source_0 "$T/truth" 4
is "$(grep -o '"count":[0-9]*' <<< "$out" | awk -F: '{ n += $2 } END { print n }')" \
	"$(awk -F= '/LINE_LOOP/ && ($3 >= 0 || $3 < -990)' "$T/truth" | wc -l)" \
	"--filter and --by have variables"
run memtap count 'u:./wl_source_2:take' --by 'arg1->pairs[1].second' --filter 'item->low == 5' \
	-- ./wl_source_2 "$T/truth" 4
is "$(grep -cE '^ +1 .* -[2-5]$' <<< "$out")" 4 "and members, of functions' arguments"
run memtap stat "$at:$(line INLINE)" --json -- ./wl_source_0 "$T/truth" 4
is "$(grep -o '"count":[0-9]*' <<< "$out" | tail -1)" "\"count\":8" \
	"code that was inlined twice is one event"

# what is not there
run memtap list "u:./wl_source_2:wl_source.c:$(line LOOP)"
like "$out" '^  i +s32 +int, in r' "list says where a variable is"
run memtap trace "$at:$(line LOOP)(pair)" -- true
is "$status" 2 "a structure: exit status"
one_sentence "one sentence"
like "$err" 'this is a structure: name a member of it' "which says so"
run memtap trace "u:./wl_source_0:take(item->third)" -- true
is "$status" 2 "a member that is not there: exit status"
like "$err" 'the structure has no member third, at character 7 of' "which says so"
run memtap trace "$at:$(line LOOP)(nothing)" -- true
like "$err" 'nothing is no variable that is visible here' "no such variable"
run memtap trace "$at:1" -- true
is "$status" 1 "a line without code: exit status"
like "$err" 'line 1 of .*wl_source.c has no code of its own' "which is said"
done_testing
