#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap heap` of Python: objects by type are what gc and sys say, live, saved and in core files.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=$PWD/build/memtap
work=$(mktemp -d)
case=''
trap 'kill $case 2> /dev/null; rm -r "$work"' EXIT
roots=${XDG_CACHE_HOME:-$HOME/.cache}/memtap/roots

# begin COMMAND ARG...: $case is its process
begin() {
	start_until "$work/said" '^ready' "$@"
	case=$started
	disown "$case"
}
end() {
	kill "$case" 2> /dev/null
	case=''
}
# ask NAME ARG...: all that is known, as JSON in NAME
ask() {
	local name=$1

	shift
	"$tool" heap "$@" --retained --json -q --top 0 > "$work/$name" 2> "$work/err"
}
# compared WHAT: what the process said, against what was found in it
compared() {
	tests/unit/python_equal.py "$work/said" "$work/live" > "$work/lines" &&
		tests/json-check "$work/live"
	check $? "$1: JSON as it is described"
	lines "$1"
}
# lines WHAT: each line of what was compared is a test
lines() {
	while read -r line; do
		case $line in
			'ok - '*) check 0 "$1: ${line#ok - }" ;;
			'not ok - '*) check 1 "$1: ${line#not ok - }" ;;
			*) echo "$line" ;;
		esac
	done < "$work/lines"
}

if ! command -v python3 > "$work/page"; then
	check 0 "there is no python3 # SKIP"
	checked
	exit
fi
begin python3 -B tests/unit/python_cases.py
if ! "$tool" heap "$case" -o "$work/page" 2> "$work/err" &&
	grep -q 'ptrace() is not allowed' "$work/err"; then
	check 0 "nobody can be stopped here # SKIP no ptrace()"
	checked
	exit
fi

# ---- live, saved, from gdb ----

ask live "$case" --max-pause 20000 --save "$work/saved"
compared live
ask json "$work/saved" && tests/unit/heap_equal.py "$work/live" "$work/json"
check $? "saved: as it was while it ran"
if command -v gcore > "$work/page" && gcore -o "$work/gdb" "$case" > "$work/page" 2>&1; then
	ask json --core "$work/gdb.$case" && tests/unit/heap_equal.py "$work/live" "$work/json"
	check $? "in gdb's core file: as it was while it ran"
	rm "$work/gdb.$case"
fi
# (of one in the middle: a stale word may lead to another)
at=$(printf '0x%x' "$(sed -n 's/^at\t.*\t//p' "$work/said")")
"$tool" heap "$case" -q --path "$at" > "$work/page" &&
	grep -q '^module __main__, attribute `session_table`$' "$work/page" &&
	grep -q "^  \['session 42'\] -> .*  list," "$work/page" &&
	grep -q '^  \[0\] -> .*  __main__.Session,' "$work/page"
rc=$?
[ $rc = 0 ] || sed 's/^/# /' "$work/page"
check $rc "a path goes by the keys of a dict, and by items"
"$tool" heap "$case" -q --retained > "$work/page" &&
	grep -q 'attribute `user`: str$' "$work/page" &&
	grep -q '^gc tracks [0-9,]* objects$' "$work/page"
check $? "what an object holds is named by its attribute"
end

# ---- from the kernel ----

read -r pattern < /proc/sys/kernel/core_pattern
if [[ $pattern != */* && $pattern != '|'* ]] && ulimit -c unlimited 2> "$work/err"; then
	begin env -C "$work" python3 -B "$PWD/tests/unit/python_cases.py"
	ask live "$case" --max-pause 20000
	kill -ABRT "$case"
	while grep -qs '^State:.*[RSDtT] (' "/proc/$case"/task/*/status; do
		sleep 0.05
	done
	for core in "$work"/core*; do
		ask json --core "$core"
	done
	tests/unit/heap_equal.py "$work/live" "$work/json"
	check $? "in the kernel's core file: as it was while it ran"
fi

# ---- other ways to allocate; other builds ----

PYTHONMALLOC=malloc begin python3 -B tests/unit/python_cases.py
ask live "$case" --max-pause 20000
tests/unit/python_equal.py "$work/said" "$work/live" > "$work/lines"
grep -q '^ok - tracked' "$work/lines" && grep -q '^ok - [0-9]* kinds' "$work/lines" &&
	grep -q '^ok - nearly all blocks have a holder' "$work/lines"
rc=$?
[ $rc = 0 ] || sed 's/^/# /' "$work/lines"
check $rc "without pymalloc the same objects are found, and are held"
end
PYTHONMALLOC=debug begin python3 -B tests/unit/python_cases.py
ask live "$case" --max-pause 20000
tests/unit/python_equal.py "$work/said" "$work/live" > "$work/lines"
grep -q '^ok - [0-9]* kinds' "$work/lines"
check $? "with debug hooks the same objects are found"
end
# held PYTHON...: what python_holders.py says, and what is found
held() {
	local version

	version=$("$@" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	case $version in
		2.* | 3.[0-6]) return ;;
	esac
	begin "$@" -B - < tests/unit/python_holders.py
	ask live "$case" --max-pause 20000
	tests/unit/python_held.py "$work/said" "$work/live" > "$work/lines"
	lines "holders in Python $version"
	if [ "$1" = python3 ]; then
		"$tool" heap "$case" -q --path '__main__.Blob' > "$work/page" &&
			"$tool" heap "$case" -q --retained --top 0 > "$work/page" &&
			grep -q '^ .* variable `mine`: list$' "$work/page" &&
			grep -q '^ .* variable `in_failed`: list$' "$work/page" &&
			grep -q '  function worker (.*:[0-9]*), variable `local_work`$' "$work/page"
		check $? "variables of functions and generators are named"
	fi
	end
}
held python3
PYTHONMALLOC=debug held python3
for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python; do
	if [ ! -x "$python" ]; then
		continue
	fi
	begin "$python" -B tests/unit/python_cases.py
	ask live "$case" --max-pause 20000
	compared "Python $(sed -n 's/^version\t\(.*\)\t.*/\1/p' "$work/said") of pyenv"
	end
	held "$python"
done
for root in "$roots"/*/root; do
	if [ "$(id -u)" != 0 ] || [ ! -x "$root/usr/bin/python3" ]; then
		continue
	fi
	begin chroot "$root" python3 -B - < tests/unit/python_cases.py
	ask live "$case" --max-pause 20000
	compared "Python $(sed -n 's/^version\t\(.*\)\t.*/\1/p' "$work/said")"
	end
	held chroot "$root" python3
done
checked
