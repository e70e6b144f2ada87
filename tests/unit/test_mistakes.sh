#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Mistakes that people make on the command line: each is answered with what was meant.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=build/memtap
work=$(mktemp -d)
trap 'kill $other; rm -r "$work"' EXIT
sleep 1000 &
other=$!

# says STATUS PATTERN ARGUMENT...: memtap ARGUMENT... prints one line like that
says() {
	local status=$1 pattern=$2 rc=0

	shift 2
	$tool "$@" > "$work/out" 2> "$work/err" || rc=$?
	[ $rc = "$status" ] && [ ! -s "$work/out" ] && [ "$(wc -l < "$work/err")" = 1 ] &&
		grep -q -- "$pattern" "$work/err"
	check $? "memtap $*: $(head -n 1 "$work/err")"
}

# --- a process without -p, a program without --
says 2 'memtap leaks -p 1234.*memtap leaks -k 1234' leaks 1234
says 2 'did you mean .memtap leaks -- \./build/memtap.' leaks ./build/memtap
says 2 'no program .\./none.; .* after --, as in memtap leaks -- PROGRAM' leaks ./none
says 2 'no program .\./none.; .* after --, as in memtap rss -- PROGRAM' rss ./none
says 2 'did you mean .memtap leaks -- \./build/memtap.' leaks -k ./build/memtap
says 2 'did you mean .memtap rss -- \./build/memtap.' rss ./build/memtap
says 2 'did you mean .memtap rss -- ls.' rss ls
if [ $other -gt 60 ]; then
	says 2 "did you mean .memtap faults -p $other." faults $other
fi
says 2 'takes no EVENT; .memtap stacks EVENT. does' faults no-program-of-this-name

# --- names that are wrong
says 2 'did you mean .memtap leaks.' leak
says 2 'did you mean .memtap triage.' help trigae
says 2 'there is no command nonsense; see' nonsense
says 2 'not processx (did you mean process?)' faults --by processx
says 2 'not callgrnd (did you mean callgrind?)' leaks -p 1 --format callgrnd
says 2 'not sizex (did you mean size?)' leaks -p 1 --sort sizex
says 2 'has no option --folder (did you mean --folded?)' rss --folder
says 2 'has no option --nonsense; see' rss --nonsense

# --- an option of another command
says 2 'has no option --unreachable; leaks and record have it' rss --unreachable
says 2 'has no option --snoop; mmap has it' rss --snoop
says 2 '--last takes N (a whole number from 1 on), not .0.' oom --last 0
says 2 '-k and --pid exclude each other: -k is about the whole kernel' leaks -k -p 1
says 2 'a PID is missing' heap
says 2 '--census needs -k' leaks --census
says 2 'has no option --tid; .* and others have it' leaks --tid 4
says 2 'has no option -p; .* have it' slab -p 1
says 2 '--by is one of process, thread, comm, cgroup, container, none, not file' vmscan --by file
says 2 '--by is one of .*, not cache' rss --by cache

# --- times
says 2 'takes TIME (seconds, or 500ms, 10s, 2m, 1h), not .10x.' rss -d 10x
for time in 10s 2m 1h 500ms 3; do
	says 1 'no process' rss -d $time -p 99999999
	says 1 'no process' rss -p 99999999 $time 2
done

# --- what is not there is said before that the module is not loaded
says 1 'no process 99999999' leaks -p 99999999
says 1 'no process 99999999' heap 99999999
says 1 'no thread 99999999' faults --tid 99999999
says 1 'no cgroup /nonesuch' rss --cgroup /nonesuch
says 1 'no program \./nonesuch' leaks -- ./nonesuch
if [ ! -e /dev/memtap ]; then
	says 1 'nonesuch: No such file' stacks ./nonesuch:main -d 1
	says 1 'no function no_such_function in' stacks c:no_such_function -d 1
	says 1 'the module is not loaded' stacks c:malloc -d 1
	if [ -s /proc/kallsyms ]; then
		says 1 'no .*function no_such_function' stacks k:no_such_function
	fi
fi

# --- without root
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
	cp $tool "$work/memtap"
	chmod 755 "$work" "$work/memtap"
	tool="setpriv --reuid=65534 --regid=65534 --clear-groups $work/memtap"
	says 1 "permission to inspect process $other; run as root" heap $other
fi
checked
