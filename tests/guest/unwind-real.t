#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs as they are shipped, with libraries as they are shipped: how many of their
# stacks are whole, by rows, by frame pointers, and for perf, which has those only.
# timeout: 1500
# check: once
. "$(dirname "$0")/lib.sh"

here=$PWD
export HOME=$T XDG_CACHE_HOME=$T/cache GIT_CONFIG_NOSYSTEM=1
cd "$T" || exit 1

percent() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f %%", b ? 100 * a / b : 0 }'; }
of() { awk -v key="$1" '$1 == key { print $2 }' shares; }
session() {
	run memtap record -o f.memtap -U "$@"
	[ "$status" = 0 ] || diag "exit status $status: $(tail -n 5 run.err)"
	sums=0
	"$here/unwind_share" f.memtap > shares || sums=1
}
# a share by where stacks begin, which is seen in the same way for all three
began() {
	local all whole
	read -r all whole < <("$here/$1" "$2")
	echo "$(percent "$whole" "$all") of $all"
}

# real NAME [OPTION...] -- COMMAND...
real() {
	local name=$1 rows pointers all whole
	local -a options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	# the first time its files become known
	session fault mmap brk "${options[@]}" -- "$@"
	all=$(of all) whole=$(of whole)
	diag "$name: complete the first time: $(percent "$whole" "$all") of $all"
	session fault mmap brk "${options[@]}" -- "$@"
	all=$(of all) whole=$(of whole)
	diag "$name: complete: $(percent "$whole" "$all") of $all;" \
		"the rest: $(sed '/^\(all\|whole\|none\|ok\)/d' shares | tr '\n' ' ')"
	cmp_ok "$all" -ge 100 "$name: it has stacks"
	cmp_ok $((whole * 1000)) -ge $((all * 995)) "$name: 99.5 % of the stacks are complete"
	is "$sums" 0 "$name: the accounts add up"
	[ "$sums" = 0 ] || diag "$(cat shares)"
	# what others say is told, and nothing compared with it
	thorough || return 0
	rows=$(began unwind_began f.memtap)
	session fault "${options[@]}" --unwind fp -- "$@"
	pointers=$(began unwind_began f.memtap)
	diag "$name: faults whose stacks begin where a program does: memtap by rows $rows;" \
		"by frame pointers $pointers; perf record -g $(perf_share "$@")"
}
perf_share() {
	perf record -q -o perf.data -g -e page-faults -c 1 -- "$@" > perf.out 2>&1 < /dev/null &&
		perf script -i perf.data --show-mmap-events -F comm,pid,event,ip,dso \
			> perf.txt 2> perf.err
	began perf-began perf.txt
}

cat > program.py <<'PY'
# the small ones first: an import within an import is deep
import keyword, operator, reprlib, types, warnings, functools, enum, math, os, bisect
import hashlib, collections, itertools, re, json, random
random.seed(1)
words = ["%x" % random.getrandbits(40) for i in range(3000)]
count = collections.Counter(w[:2] for w in words)
text = json.dumps({"words": words, "count": count})
back = json.loads(text)
found = re.findall(r"[a-f]{3,}", text)
back["words"].sort(key=lambda w: w[::-1])
print(len(found), len(back["words"]), bytearray(1 << 20).count(0))
PY
real python3 -- python3 program.py

cat > program.pl <<'PL'
my %seen;
$seen{($_ * 7919) % 10007} .= "value $_ " for 1 .. 8000;
my $text = join ',', map { "$_=$seen{$_}" } sort { $seen{$a} cmp $seen{$b} } keys %seen;
my $n = () = $text =~ /(\d+)=/g;
eval { die { code => $n } };
print "$n $@->{code}\n", length(sprintf('%s', 'x' x (1 << 20))), "\n";
PL
real perl -- perl program.pl

cat > program.sql <<'SQL'
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
	INSERT INTO t SELECT i, hex(i * 7919) || 'text' FROM n;
CREATE INDEX u ON t (b);
SELECT count(*), max(b) FROM t WHERE b LIKE '3%';
SELECT group_concat(b) FROM (SELECT b FROM t ORDER BY b DESC LIMIT 5);
SQL
real sqlite3 -- sqlite3 -init program.sql :memory: .quit

cat > program.sh <<'SH'
declare -A seen
for ((i = 0; i < 2000; i++)); do
	seen[$((i * 7919 % 997))]+="value $i "
done
words=(${!seen[@]})
text=$(printf '%s\n' "${words[@]}" | sort -n)
[[ $text =~ [0-9]+ ]] && echo "${#words[@]} ${#text} ${BASH_REMATCH[0]}"
SH
real bash --children -- bash program.sh

mkdir repository
for i in $(seq 40); do
	seq "$i" $((i + 200)) > "repository/file$i"
done
git -C repository init -q 2> /dev/null
real "git add" --children -- git -C repository add .
git -C repository -c user.name=n -c user.email=e@example.org commit -qm one
real "git log" --children -- git -C repository log --stat

cat > program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct list { struct list *next; int n; };
static int compare(const void *a, const void *b)
{
	return (*(struct list *const *)a)->n - (*(struct list *const *)b)->n;
}
int main(int argc, char **argv)
{
	struct list *all[100];
	for (int i = 0; i < 100; i++) {
		all[i] = malloc(sizeof(**all));
		all[i]->n = i * argc % 17;
	}
	qsort(all, 100, sizeof(*all), compare);
	return printf("%s %d\n", argv[0], all[50]->n) < 0;
}
C
real gcc --children -- gcc -O2 -o program program.c

cd "$here" || exit 1
probes_clean "nothing is left attached"
done_testing
