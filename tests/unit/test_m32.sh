#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The contract promises that a 32-bit tool works on a 64-bit kernel: what talks
# to the module compiles so, without a warning, and the options' tests pass.
set -u
cd "$(dirname "$0")/../.." || exit 1
cc=${CC:-cc}
out=build/tests/m32
mkdir -p $out

if ! echo 'int main(void) { return 0; }' |
	$cc -m32 -x c -o $out/empty - 2> /dev/null || ! $out/empty; then
	echo "1..0 # SKIP no 32-bit compiler, or no 32-bit programs"
	exit 0
fi
. tests/unit/check.sh

flags="-m32 -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64"
flags+=" -Ictl -Iinclude -Ikmod -Itests/port -Itests/unit"
compile() {
	local object=${1#ctl/}
	object=$out/${object//\//-}
	# shellcheck disable=SC2086
	$cc $flags -c -o "${object%.c}.o" "$1"
}
for file in ctl/base/{arena,csv,err,ids,opt,opt_help,opt_table,opt_value,out,out_name}.c \
	ctl/base/{openreg,text}.c \
	ctl/target/{target,targets,cgroup,maps,ldcache}.c \
	ctl/session/{dev,event,load,plan,plan_add,session,tracefs}.c \
	ctl/render/stat.c ctl/watch/{watch,config}.c ctl/cmd/run.c; do
	compile "$file"
	check $? "$file compiles for 32 bits"
done
# shellcheck disable=SC2086
$cc $flags -o $out/test_opt tests/unit/test_opt.c \
	$out/base-{opt,opt_help,opt_table,opt_value,out_name,err,text}.o $out/session-event.o
check $? "the options' tests link"
$out/test_opt > $out/test_opt.log
check $? "and pass in 32 bits"

# the structures' sizes, as the 64-bit kernel has them
size() {
	printf '#include "include/uapi/memtap.h"\nchar size[sizeof(struct %s)];\n' "$2" |
		$cc "$1" -I. -x c -c -o $out/size.o - && nm -S $out/size.o | awk '{ print $2 }' |
		sed 's/^0*//'
}
for struct in memtap_info memtap_event_info memtap_hook_state memtap_filter_item \
	memtap_config memtap_attach memtap_run memtap_stats; do
	want=$(size -m64 $struct)
	[ -n "$want" ] && [ "$want" = "$(size -m32 $struct)" ]
	check $? "struct $struct has the same size in 32 and 64 bits"
done
checked
