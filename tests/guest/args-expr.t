#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What memtap computes of arguments, compared with what Python computes of the workload's account;
# patterns, and several keys.
. "$(dirname "$0")/lib.sh"

# expected EXPRESSION...: of each call of the account, as a line "x0=... x1=...", with C's / and %
expected() {
	python3 - "$T/truth" "$@" << 'END'
import re, sys
def div(x, y):
    q = abs(x) // abs(y)
    return -q if (x < 0) != (y < 0) else q
for line in open(sys.argv[1]):
    m = re.search(r":args_call a=(-?\d+) b=(-?\d+) s=.* c=(\d+)$", line)
    if m:
        a, b, c = map(int, m.groups())
        print(*["x%d=%d" % (i, eval(e)) for i, e in enumerate(sys.argv[2:])])
END
}

run memtap trace -o "$T/got" 'u:./wl_args:args_call(x0=arg1:s64 * 3 - arg2:s32, x1=arg1:s64 / 7,
	x2=arg1:s64 % 7, x3=(arg5:u8 ^ 3) << 2 | 1, x4=arg1:s64 < 0 ? -arg2:s32 : arg5:u8,
	x5=~arg1:s64 >> 1, x6=arg2:s32 > 0 && arg5:u8 != 0)' -- ./wl_args "$T/truth" 4
is "$status" 0 "expressions: exit status"
sed -E -e 1d -e 's/.*:args_call //' "$T/got" > "$T/lines"
expected 'a * 3 - b' 'div(a, 7)' 'a - div(a, 7) * 7' '(c ^ 3) << 2 | 1' '-b if a < 0 else c' \
	'~a >> 1' 'b > 0 and c != 0' > "$T/want"
same_file "$T/lines" "$T/want" "expressions: each line, in order"

# the entry's arguments, the return's value, and memory, which is not always there
run memtap trace -o "$T/got" 'ur:./wl_args:args_call(x0=arg1:s64 - ret,
	x1=ret * 2 + arg5:u8, v=*(arg4 + 4 + 4):s32 / 7)' --filter 'ret + 1 == arg1:s64' \
	-- ./wl_args "$T/truth" 2
expected 1 '(a - 1) * 2 + c' > "$T/want"
sed -E -e 1d -e 's/.* \(return\) //' -e 's/ v=.*//' "$T/got" > "$T/lines"
same_file "$T/lines" "$T/want" "of entry and return together"
like "$(cat "$T/got")" ' v=-11$' "of what lies in memory"
like "$(cat "$T/got")" ' v=\?$' "and what is not there is not known"

# a / (b + 1) is not known where b is -1, and such a call does not pass
run memtap stat 'u:./wl_args:args_call(b=arg2:s32)' --filter 'arg1:s64 / (b + 1) > -5000000000' \
	--json -- ./wl_args "$T/truth" 3
got=$(python3 -c 'import json, sys; e = json.loads(sys.stdin.read().strip().splitlines()[-1])
print(e["count"], e["filtered"] >= 3)' <<< "$out" 2>&1)
is "$got" "18 True" "a division by 0 does not pass, and is no event that is lost"

run memtap count 'u:./wl_args:args_call(s=arg3:str, c=arg5:u8)' --by s \
	--filter 's =~ "a *\"*" || s =~ "y*y" && comm !~ "wl_0*" || s =~ "?"' \
	-- ./wl_args "$T/truth" 3
like "$out" '^ +3 +60\.0% +60\.0%  "a \\"name\\"\\x0a"$' "patterns: a string that matches"
like "$out" '^ +2 +40\.0% 100\.0%  "yyy' "with another condition"
is "$(grep -c '^ ' <<< "$out")" 3 "patterns: and no other"

run memtap count 'u:./wl_args:args_call(c=arg5:u8)' --by 'c % 2,comm,arg3:str' --value 'c * 10' \
	--json -- ./wl_args "$T/truth" 2
like "$out" '"keys":\{"c % 2":"1","comm":"\\"wl_0\\"","arg3":"\\"\\""\},"count":2,"sum":80,' \
	"several keys, and a value that is computed"
XX "a row for each of them"
like "$out" '"keys":\{"c % 2":"0","comm":"\\"wl_1\\"","arg3":"\?"\},"count":2,' \
	"and strings that are not there are one"
run memtap count 'kmem:kmalloc' --by 'process,bytes_req >> 8,gfp_flags' --value bytes_req \
	-- find /proc/self -name nothing
like "$out" ' by bytes_req >> 8, gfp_flags$' "keys of a tracepoint"
like "$out" '^ +[0-9,]+ .*  find \[[0-9]+\]  [0-9]+, ([A-Z_]+\|)*_*GFP_' "by process, too"

# powers of two: of numbers with a sign, and of one value for each of another
run memtap hist 'ur:./wl_args:args_call(ret)' --value ret -- ./wl_args "$T/truth" 1
like "$out" '^    7 values, average 153,391,547\.9, p50 <= 7, .*, from -1,001 to 1,073,741,823$' \
	"a histogram of numbers with a sign"
like "$out" '^ +-1,023 -> -512 : 1 ' "has steps below 0"
run memtap hist 'u:./wl_args:args_call(c=arg5:u8)' --value c --by 'log2(arg2:s32)' \
	-- ./wl_args "$T/truth" 2
is "$(grep -c '^  log2(arg2:s32)=' <<< "$out")" 6 \
	"a histogram for each power of two of another value"
like "$out" '^  log2\(arg2:s32\)=4 -> 7$' "which is told"

# names: of addresses, flags and errors
run memtap trace -M 3 'k:vfs_read(ip=rip:sym, f=7:prot, e=(-12):err, g=GFP_KERNEL:gfp)' -- \
	cat /proc/self/status /proc/self/maps /proc/self/stat /proc/version
is "$(grep -c ' k*:*vfs_read ' <<< "$out")" 3 "-M: so many events are printed"
flags='f=PROT_READ\|PROT_WRITE\|PROT_EXEC e=-ENOMEM g=GFP_KERNEL$'
like "$out" " ip=vfs_read(\\+0x[0-9a-f]+)? $flags" \
	"numbers by their names"
run memtap trace 'u:./wl_args:args_call(ip=rip:usym, c=arg5:u8)' -- ./wl_args "$T/truth" 1
like "$out" ' ip=args_call(\+0x[0-9a-f]+)? c=255$' "a function of the program"

# members by name
if [ -e /sys/kernel/btf/vmlinux ]; then
	run memtap count 'kr:vfs_read(count, size=file->f_inode->i_size, n=ret)' \
		--by count,size,n --filter 'count == 1234 && ret > 0' \
		-- dd if=wl_args of=/dev/null bs=1234 count=2
	like "$out" "^ +2 .*  1234, $(stat -c %s wl_args), 1234\$" "parameters and members by name"
	run memtap trace 'k:vfs_read(file->no_such)' -- true
	is "$status" 2 "a member that is not there: exit status"
	like "$err" 'has no member no_such, at character 7 of' "is said"
else
	skip "members by name" "this kernel has no BTF"
fi

run memtap count 'u:./wl_args:args_call' --by arg3:str --string-size 150 -- ./wl_args "$T/truth" 1
like "$out" '  "x{150}"\.\.\.$' "longer strings"
run memtap count 'u:./wl_args:args_call' --by arg3:str,arg5:u8 --string-size 1023 \
	-- ./wl_args "$T/truth" 1
like "$out" '  "x{200}", 0$' "and whole ones, among several keys"

run memtap trace 'u:./wl_args:args_call(x=arg1 / (2 - 2))' -- true
is "$status" 2 "a division by 0: exit status"
one_sentence "is a sentence"
like "$err" 'this divides by 0, at character 10 of' "which tells where"
done_testing
