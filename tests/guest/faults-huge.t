#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Huge pages: those that faults map, by whom; what becomes of them; what this kernel lacks.
. "$(dirname "$0")/lib.sh"

thp=/sys/kernel/mm/transparent_hugepage
[ -e $thp/enabled ] || skip_all "no transparent huge pages here"
echo madvise > $thp/enabled
echo always > $thp/defrag
echo 3 > /proc/sys/vm/drop_caches

run memtap faults --huge -- ./wl_calls huge 5
is "$status" 0 "huge pages: exit status"
like "$(head -n 1 <<< "$out")" '^TIME +COMM +PID WHAT +KIND +PAGES +LAT\(ms\) RESULT +CGROUP$' \
	"its columns"
is "$(grep -Ec '^ +[0-9.]+ wl_calls +[0-9]+ fault +THP +512 +[0-9.]+ +- ' <<< "$out")" 5 \
	"each that is mapped" || diag "$out"
cmp_ok "$(grep -Ec ' unmap +' <<< "$out")" -ge 1 "a mapping that is split"
cmp_ok "$(grep -Ec ' split .* done +' <<< "$out")" -ge 1 "a page that is split"
like "$out" ' 2,560 +wl_calls \[[0-9]+\]$' "and the sum of pages"
like "$err" "machine's faults of anonymous memory \\(/proc/vmstat\\): huge pages [0-9,]+, small" \
	"beside what the kernel counts"
failed=', failed [0-9,]+'
grep -q ^thp_split_page_failed /proc/vmstat || failed=	# (3.10)
like "$err" "splitting \\(/proc/vmstat\\): pages [0-9,]+$failed" "of all that happens to them"

if echo 4 > /proc/sys/vm/nr_hugepages && [ "$(cat /proc/sys/vm/nr_hugepages)" -ge 3 ]; then
	run memtap faults --huge --json -- ./wl_calls hugetlb 3
	is "$(grep -c '"what": *"fault".*"kind": *"hugetlb".*"pages": *512' <<< "$out")" 3 \
		"those of hugetlbfs, as JSON" || diag "$out"
	echo 0 > /proc/sys/vm/nr_hugepages
fi
run memtap faults --huge --folded
is "$status" 2 "no stacks: exit status"
one_sentence "a sentence"
run memtap faults --huge --major
is "$status" 2 "two questions at once: exit status"
probes_clean "nothing is left"
done_testing
