#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap heap` of musl's mallocng: blocks, their sizes, kinds and holders are those that a program
# says, while it runs and in files; also of a static program without symbols.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh
# shellcheck source=tests/unit/held.sh
. tests/unit/held.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=$PWD/build/memtap
work=$(mktemp -d)
case=''
trap 'kill $case 2> /dev/null; rm -r "$work"' EXIT

if ! command -v musl-gcc > "$work/out"; then
	check 0 "there is no musl here # SKIP no musl-gcc"
	checked
	exit
fi
# look NAME SOURCE...: all of it, as JSON that is described
look() {
	local name=$1

	shift
	"$tool" heap "$@" --retained --json -q --top 0 > "$work/json" 2> "$work/err" &&
		tests/json-check "$work/json" &&
		grep -q '"allocator":"mallocng"' "$work/json"
	check $? "$name"
}

begin bash -c 'echo ready; sleep 1000'
if ! "$tool" heap "$case" -q > "$work/page" 2> "$work/err" &&
	grep -q 'ptrace() is not allowed' "$work/err"; then
	check 0 "nobody can be stopped here # SKIP no ptrace()"
	checked
	exit
fi
end

musl-gcc -O1 -g -pthread -o "$work/cases" tests/unit/musl_cases.c
check $? "a program of musl is made"
begin "$work/cases"
look "of a process" "$case" --max-pause 20000 --save "$work/saved"
heard
"$tool" heap "$case" -q > "$work/page" 2> "$work/err" &&
	grep -q "^cases\[$case\]: musl's mallocng" "$work/page" &&
	! grep -q 'not walked\|malloc_trim' "$work/page"
check $? "the page says whose malloc it is"
mv "$work/json" "$work/live"
end
look "of what was saved" "$work/saved"
tests/unit/heap_equal.py "$work/live" "$work/json"
check $? "the same as while it ran"

musl-gcc -static -O1 -pthread -s -o "$work/static" tests/unit/musl_cases.c
check $? "a static program without symbols is made"
begin "$work/static"
look "of its process" "$case" --max-pause 20000
grep -v '^holder\|^kind' "$work/said" > "$work/some"
mv "$work/some" "$work/said"
heard
python3 -c "import json; d = json.load(open('$work/json'))
h = [x for x in d['holders'] if 'without a name' in x['holder']]
assert sum(x['retained_blocks'] for x in h) == 1065, d['holders']"
check $? "variables without names hold what they held"
end

# malloc() of a static program without free() hands out memory, and keeps no account
cat > "$work/simple.c" << 'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	puts(malloc(100) ? "ready" : "");
	fflush(stdout);
	return pause();
}
C
musl-gcc -static -o "$work/simple" "$work/simple.c"
begin "$work/simple"
! "$tool" heap "$case" > "$work/page" 2> "$work/err" &&
	grep -q 'no malloc that memtap heap reads .* was found.*use memtap leaks' "$work/err"
check $? "a program whose malloc keeps no account is told what to use"
end
checked
