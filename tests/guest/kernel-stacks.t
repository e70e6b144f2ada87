#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Kernel stacks reach the system call, or say why not: probes on returns stand
# in their way on kernels before 5.15.
# check: all
. "$(dirname "$0")/lib.sh"

# where system calls enter, by the names that has had
entry='do_syscall_64|entry_SYSCALL_64|system_call_fastpath|tracesys|stub_execve'

# the first run teaches the module what a return trampoline looks like
run memtap stacks mmap -q -U --folded -- /bin/true
run memtap stacks mmap k:do_mmap -q -K --calls --folded -o "$T/folded" -- /bin/true
is "$status" 0 "a function below one whose return is probed"
grep do_mmap "$T/folded" > "$T/stacks"
ok "it was met" test -s "$T/stacks"
grep -Ev "$entry|hidden by a return probe" "$T/stacks" > "$T/cut"
diag "$(head -n 3 "$T/cut")"
not_ok "no stack ends before the system call without saying so" test -s "$T/cut"

# A stack that reaches the system call hides nobody: the mark stands where one ends before.
# With frame pointers it goes on behind the trampoline, which stands for whom it hides.
grep -E "$entry" "$T/stacks" | grep 'hidden by a return probe' |
	grep -v 'kretprobe_trampoline' > "$T/false"
diag "$(head -n 3 "$T/false")"
not_ok "no whole stack says that a caller is hidden" test -s "$T/false"

# It is named after itself, and not after the function that lies in front of it.
grep 'hidden by a return probe' "$T/stacks" > "$T/hidden"
if [ -s "$T/hidden" ]; then
	grep -v 'kretprobe_trampoline_\[k\];' "$T/hidden" > "$T/false"
	diag "$(head -n 3 "$T/false")"
	not_ok "the trampoline has its own name" test -s "$T/false"
else
	skip "the trampoline has its own name" "this kernel's unwinder hides nobody"
fi

run memtap stacks k:do_mmap -q -K --folded -o "$T/folded" -- /bin/true
grep -Ev "$entry" "$T/folded" > "$T/cut"
not_ok "without the other probe every stack is whole" test -s "$T/cut"
not_ok "and none says that a caller is hidden" grep -q 'hidden by a return probe' "$T/folded"
# Probes on returns fired before: what the module learned from them must be true.
run memtap brk -q --folded -o "$T/folded" -- /bin/true
run memtap stacks k:do_mmap t:sched:sched_process_exec -q -K --folded -o "$T/folded" -- /bin/true
ok "stacks after memtap brk" grep -Eq "$entry" "$T/folded"
not_ok "say of no caller that it is hidden" grep -q 'hidden by a return probe' "$T/folded"
unlike "$(cat "$T/folded")" 'memtap|kprobe_ftrace|ftrace_trampoline|trampoline_handler' \
	"neither our functions nor the probe's are in it"

run memtap stacks t:syscalls:sys_enter_brk -q -K --folded -o "$T/folded" -- /bin/true
like "$(cat "$T/folded")" "$entry" "a tracepoint that perf counts"
run memtap stacks t:sched:sched_process_exec -q -K --folded -o "$T/folded" -- /bin/true
like "$(cat "$T/folded")" "($entry).*exec" "a tracepoint of our own"

# kernels with lockdep: what memtap itself does to record an event is such an event
if memtap list tracepoints lock:lock_acquire 2> /dev/null | grep -q lock_acquire; then
	run memtap stacks t:lock:lock_acquire t:lock:lock_release -q -K --top 1 -- /bin/true
	is "$status" 0 "events of locks, which are taken to count them"
	like "$out" 'lock_acquire' "are counted"
else
	skip "events of locks, which are taken to count them" "this kernel has none"
fi

# What is found again without a walk is walked all the same here, by our way and by
# stack_trace_save(), and compared frame by frame; likewise the user stacks of page faults.
verify=/sys/module/memtap/parameters/verify_stacks
cat > "$T/many" << 'EOF'
import os, socket, sys
for n in range(int(sys.argv[1])):
    for fd in os.pipe():
        os.close(fd)
    a, b = socket.socketpair()
    a.send(b"x" * (100 + n % 7 * 200))
    a.close()
    b.close()
    with open("%s/%d" % (sys.argv[2], n % 3), "w") as f:
        f.write("x" * 5000)
    os.unlink(f.name)
    try:
        os.stat("/nowhere/%d" % n)
    except OSError:
        pass
    if n % 50 == 0:
        pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)
EOF
many() {
	local i pids=()

	for i in 0 1; do
		mkdir -p "$T/many-$i"
		python3 "$T/many" "$1" "$T/many-$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
}
times=$(rounds 150 40000)
least=$((times * 3))	# (more, where nobody else has a processor)
echo 1 > "$verify"
memtap leaks -k --top 1 > "$T/out" 2> "$T/err" &
pid=$!
wait_for 60 sh -c "memtap hooks | grep vunmap | grep -q attached"
many "$times"
kill -INT $pid
wait $pid
run memtap faults -a -q --top 1 -- python3 -c pass
read -r _ _ kernel _ wrong _ user _ user_wrong \
	_ tails _ tails_wrong _ walks _ walks_wrong < "$verify"
echo 0 > "$verify"
diag "$kernel kernel stacks were found again, $wrong were others; of users $user and $user_wrong," \
	"in part $tails and $tails_wrong; $walks walked and $walks_wrong"
is "$wrong" 0 "kernel stacks that are found again are what a walk says"
is "$user_wrong" 0 "and user stacks are"
is "$tails_wrong" 0 "frames that are taken over from the stack before are, too"
cmp_ok "$tails" -gt 0 "and there are such frames"
is "$walks_wrong" 0 "a walk by what is remembered of code says what any walk says"
if grep -q '^CONFIG_UNWINDER_GUESS=y' "/boot/config-$(uname -r)" 2> /dev/null; then
	skip "many are found again" "this kernel guesses"
elif ! kver_ge 4.13; then
	skip "many are found again" "its unwinder does not say which words it reads: all are walked"
else
	ok "many are found again" test "$kernel" -ge "$least"
fi
done_testing
