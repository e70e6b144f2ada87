#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The contract has the same layout for every compiler, language and word size
# that may meet it, and no holes.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
cc=${CC:-cc}
cxx=${CXX:-c++}
clang=${CLANG:-clang}
headers=$("$cc" -print-multiarch 2>/dev/null || true)
nr=0
failed=0

# try WANT NAME COMPILER OPTION...: WANT 0, it compiles without a warning
try()
{
	want=$1
	name=$2
	shift 2
	# the second directory is where asm/ is when -m32 looks elsewhere
	if out=$("$@" -fsyntax-only -Wall -Wextra -Werror -I"$top/include" \
		-idirafter "/usr/include/$headers" 2>&1); then
		got=0
	else
		got=1
	fi
	nr=$((nr + 1))
	if [ "$got" -eq "$want" ]; then
		echo "ok $nr - $name"
		return
	fi
	failed=1
	echo "not ok $nr - $name"
	echo "$out" | sed 's/^/# /' >&2
}

header=$top/include/uapi/memtap.h
layout=$top/tests/unit/uapi_layout.c

for m in -m64 -m32; do
	try 0 "C99: the layout is as written down, $m" \
		"$cc" -std=c99 -pedantic $m "$layout"
	try 0 "C++11: so it is, $m" "$cxx" -x c++ -std=c++11 $m "$layout"
	try 0 "clang: so it is, $m" "$clang" -std=c99 -pedantic $m "$layout"
	try 0 "no structure has a hole, $m" \
		"$cc" -std=c99 -Wpadded $m "$layout"
	try 0 "the header needs no other before it, $m" \
		"$cc" -x c -std=c99 -pedantic -Wno-unused $m "$header"
	try 0 "nor does it in C++, $m" \
		"$cxx" -x c++ -std=c++11 $m "$header"
	try 1 "a wrong size would be noticed, $m" \
		"$cc" -std=c99 -DCONTROL $m "$layout"
done

echo "1..$nr"
exit $failed
