#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where the tool cannot be built, its Makefile says in one sentence what is missing.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/unit/check.sh
. tests/unit/check.sh
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT

# without PATTERN: what make says where the compiler knows nothing of that
without() {
	printf '#!/bin/sh\ncase "$*" in *%s*) exit 1 ;; esac\nexec gcc "$@"\n' "$1" > "$T/cc"
	chmod +x "$T/cc"
	said=$(make -n -C ctl BUILD="$T/build" CC="$T/cc" 2>&1)
	status=$?
}
without no-such-word
check $status "all is there"
without libkmod.h
check $((status == 0)) "a header is missing: exit status"
grep -q 'cannot be built here without libkmod.h and -lkmod, that is, ' <<< "$said"
check $? "and which one, and no other"
is=$(grep -c 'cannot be built' <<< "$said")
check $((is != 1)) "in one sentence"
without -lstdc++
grep -q 'without stddef.h and -lstdc++, that is, .* g++' <<< "$said"
check $? "a library that is missing"
checked
