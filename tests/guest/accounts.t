#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tool reports adds up: seen = counted + filtered + lost, with filters
# and without, and every reason is told at the foot.
# check: oldest
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

getppid=$(awk '$3 ~ /^(__x64_)?(sys|SyS)_getppid$/ { print $3; exit }' /proc/kallsyms)
events=(fault brk mmap mremap munmap "k:$getppid" "kr:$getppid" t:task:task_rename
	"u:$PWD/wl_call:wl_deep" "ur:$PWD/wl_call:wl_inner" "usdt:$PWD/wl_call:memtap_wl:plain")

# adds_up NAME OPTIONS... -- COMMAND...: leaves the accounts in $T/accounts
adds_up() {
	local name=$1
	shift
	run memtap stacks "${events[@]}" --json --top 0 -o "$T/json" "$@"
	is "$status" 0 "$name: the report is made"
	[ "$status" = 0 ] || diag "$err"
	if ./accounts-of "$T/json" > "$T/accounts" 2> "$T/wrong"; then
		pass "$name: it adds up"
	else
		fail "$name: it adds up"
		diag "$(head -n 20 "$T/wrong")"
	fi
}
# column EVENT N: 2 seen, 3 counted, 4 filtered, 5 lost, 6 partial, 7 memtap's own
column() { awk -F '\t' -v e="$1" -v n="$2" '$1 == e { print $n }' "$T/accounts"; }

noise 2
adds_up "one process" -- ./wl_call -t 2 -n 5 -e "$T/truth"
is "$(awk -F '\t' 'NR > 11 { n++ } $3 > 0 { k++ }
	END { print (k >= 9), n + 0 }' "$T/accounts")" "1 1" \
	"all twelve events are in it, nearly all with counts"
cmp_ok "$(column brk 4)" -gt 0 "the noise is filtered"
adds_up "everything" -a -- ./wl_call -t 2 -n 5 -e "$T/truth"
is "$(cut -f 1,4 "$T/accounts")" "$(cut -f 1,7 "$T/accounts")" \
	"nothing is filtered without a filter, but what memtap does itself"
adds_up "everything, memtap too" -a --self -- ./wl_call -t 2 -n 5 -e "$T/truth"
is "$(awk -F '\t' '{ n += $4 + $7 } END { print n + 0 }' "$T/accounts")" 0 \
	"and with --self nothing at all"
adds_up "children" --children -- sh -c './wl_call > /dev/null; ./wl_heap > /dev/null'
thorough && adds_up "user mode only" --only-user -- ./wl_call -e "$T/truth"
adds_up "large ones only" --min-size 64K -- ./wl_heap -e "$T/truth"
adds_up "shallow" --depth 3 -- ./wl_call -e "$T/truth"
cmp_ok "$(column brk 6)" -ge 0 "what was cut is told"
adds_up "threads, histograms, addresses" --hist --addresses --by thread \
	-- ./wl_call -t 4 -e "$T/truth"
adds_up "little memory" --max-mem 2M -a -- ./wl_call -n 20 -e "$T/truth"
quiet

# One saved session, in each form: nothing is left out unless it is asked for.
run memtap record -o "$T/all.memtap" minor-fault -- ./wl_fault -e "$T/truth"
is "$status" 0 "a session is saved"
memtap report "$T/all.memtap" --json > "$T/json"
counted=$(./accounts-of "$T/json" | cut -f 3)
rows=$(memtap report "$T/all.memtap" --folded --calls --by none 2> /dev/null |
	tee "$T/folded" | wc -l)
is "$(awk '{ n += $NF } END { print n + 0 }' "$T/folded")" "$counted" \
	"the folded stacks add up to what was counted"
cmp_ok "$rows" -gt 20 "although there are more than a table shows"
cmp_ok "$(memtap report "$T/all.memtap" --folded --top 5 2> /dev/null | wc -l)" -le 5 \
	"and fewer when fewer are asked for"

run memtap stacks brk -U -- ./wl_heap -e "$T/truth"
n='[0-9,]+'
like "$out" "^$n events?: $n counted, ($n filtered, )?nothing lost; $n of $n stacks? complete" \
	"where nothing is lost, one line at the foot says so"
unlike "$out" '^seen = counted' "and no table"
run memtap stacks brk -U --depth 2 -- ./wl_heap -e "$T/truth"
like "$out" '^seen = counted' "the table comes where stacks are cut"
run memtap stacks brk -v -- ./wl_heap -e "$T/truth"
for reason in recursion nmi table missed return; do
	like "$out$err" "$reason" "the foot of the table tells of '$reason', also when it is zero"
done
probes_clean "nothing is left attached"
done_testing
