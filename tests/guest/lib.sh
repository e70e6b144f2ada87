# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For guest tests in bash:  . "$(dirname "$0")/lib.sh"
#
# A guest test is an executable tests/guest/NAME.t that prints TAP.  It runs
# as root in a guest, in its own directory, with the module loaded; it has a
# private empty directory in $T, removed at its end.  Comments that the
# runner (tests/vm/run) reads, in the first 20 lines:
#
#	# guest: -c 4		options of scripts/guest; those with the same share a boot
#	# needs: last		nothing can be tested in its guest after it
#	# needs: unloaded	it begins without the module
#	# timeout: 1200		seconds, default 900: for what hangs, not for what is slow
#	# kernels: 6.1 7.2	only there
#	# check: WORD		where make check has it, of those kernels, unless that is
#				the oldest and the newest (ends): all; oldest; newest;
#				once, for what tests the tool more than the kernel: the
#				second kernel of scripts/kernels; long, in make check-long
#				alone.  make check-guest has all everywhere.  Between the
#				ends make check sets $SMOKE: a look will do
#	# dmesg: allow REGEXP	kernel messages that this test causes on purpose
#
# After each test the runner looks for BUG, WARNING and their like in dmesg,
# for probes left behind, and for leaked memory where the kernel can tell.
#
#	ok NAME COMMAND...	NAME holds when COMMAND exits 0
#	not_ok NAME COMMAND...	NAME holds when it does not
#	is GOT WANTED NAME	both strings are the same
#	isnt GOT OTHER NAME	they are not
#	like TEXT REGEXP NAME	TEXT matches an extended regular expression
#	unlike TEXT REGEXP NAME
#	cmp_ok A OP B NAME	integers; OP is -eq -ne -lt -le -gt -ge
#	within A B PERCENT NAME	A differs from B by no more than that
#	same_file GOT WANTED NAME	the files are equal; shows the difference
#	pass NAME, fail NAME
#	skip NAME WHY		counts as passed, and is seen
#	skip_all WHY		instead of any test
#	rounds FEW ALL		how often to try what is tried often, or how large what is
#				large: FEW in make check, ALL in make check-long and make
#				check-guest
#	also WORD...		these, but none in make check
#	thorough		not in make check: for what shows once more, in another
#				form, what is shown without it
#	not_twice		in make check not on the newest kernel, in a test that is on
#				the oldest, too: for what is about the tool more than the
#				kernel
#	plan N			before the tests; or
#	done_testing		after them, as the last line
#	diag TEXT...		a comment in the output
#	bail_out WHY		nothing more makes sense, in any test
#
#	run COMMAND...		runs it; leaves its $status, $out and $err
#	exits N NAME COMMAND...	run, and its exit status is N
#	one_sentence NAME	$err of the last run is one line that ends like a
#				sentence or a reason, and says memtap:
#	wait_for SECONDS COMMAND...	until COMMAND succeeds; 1 when it never did (SLOW
#				times as long in a slow guest)
#				A file that is waited for is emptied first (: > FILE): > of
#				a command in the background does so at some later time
#	wait_gone SECONDS PID
#	ready PID [SECONDS]	until memtap, which is PID, runs a session
#	kver_ge 6.12		the running kernel is this one or newer
#	real_time		it is a PREEMPT_RT kernel
#	probes_clean NAME [PID...]	no probe is attached by anybody, and the text
#				of each PID equals the files that it maps
#	text_clean PID		the second half of it, as a command
#	probes_left		prints the first half's, but those that the module always has

# And what start.sh has: start_until, in_cgroup.

# shellcheck source=tests/guest/start.sh
. "${BASH_SOURCE[0]%/*}/start.sh"

T=$(mktemp -d "/tmp/${0##*/}.XXXXXX")
tap_nr=0
tap_failed=0
tap_plan=
status=0
out='' err=''

tap_exit() {
	local rc=$?
	# who answers for leak.sh
	[ ! -e "$T/j.pid" ] || kill "$(< "$T/j.pid")"
	rm -rf "$T"
	if [ -z "$tap_plan" ]; then
		echo "# ${0##*/}: ended without a plan (exit $rc)"
		exit 1
	fi
	[ $rc = 0 ] || exit $rc
	[ "$tap_failed" = 0 ] || exit 1
}
trap tap_exit EXIT

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }
plan() { tap_plan=$1; echo "1..$1"; }
done_testing() { plan $tap_nr; }
skip_all() { tap_plan=0; echo "1..0 # SKIP $*"; exit 0; }
bail_out() { echo "Bail out! $*"; exit 1; }
# whether a module of the tests was built for the kernel that runs: debug kernels, and those
# that somebody brought, share the tests of a root, and so what its own kernel takes
for_this_kernel() { [ "$(modinfo -F vermagic "$1" | cut -d' ' -f1)" = "$(uname -r)" ]; }

# what asks is true where it passed: is ... || diag "what it looks like"
pass() { tap_nr=$((tap_nr + 1)); echo "ok $tap_nr - $*"; }
fail() {
	tap_nr=$((tap_nr + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_nr - $*"
	diag "at ${BASH_SOURCE[-1]##*/} line ${BASH_LINENO[-2]}"
	# (mostly it is the last command that went wrong)
	[ -z "$err" ] || diag "standard error of the last run:"$'\n'"$(tail -n 5 <<< "$err")"
	return 0
}
skip() { tap_nr=$((tap_nr + 1)); echo "ok $tap_nr - $1 # SKIP ${2:-}"; }

ok() {
	local name=$1
	shift
	if "$@"; then pass "$name"; else fail "$name"; diag "failed: $*"; false; fi
}
not_ok() {
	local name=$1
	shift
	if "$@"; then fail "$name"; diag "succeeded: $*"; false; else pass "$name"; fi
}
is() {
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3"
		diag "   got: $1"
		diag "wanted: $2"
		false
	fi
}
isnt() {
	if [ "$1" != "$2" ]; then pass "$3"; else fail "$3"; diag "got just that: $1"; false; fi
}
like() {
	if grep -Eq -- "$2" <<< "$1"; then
		pass "$3"
	else
		fail "$3"
		diag "$1"
		diag "does not match: $2"
		false
	fi
}
unlike() {
	if grep -Eq -- "$2" <<< "$1"; then
		fail "$3"
		diag "$1"
		diag "matches: $2"
		false
	else
		pass "$3"
	fi
}
cmp_ok() {
	# an empty operand, or one that is no number, is a failure and no accident
	if test "$1" "$2" "$3" 2>/dev/null; then
		pass "$4"
	else
		fail "$4"
		diag "$1 $2 $3 is not so"
		false
	fi
}
within() {
	if awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN {
		d = a - b
		if (d < 0)
			d = -d
		exit !(a ~ /^[0-9.]+$/ && b ~ /^[0-9.]+$/ && d * 100 <= b * p) }'; then
		pass "$4"
	else
		fail "$4"
		diag "$1 is not within $3 % of $2"
		false
	fi
}
same_file() {
	if cmp -s "$1" "$2"; then
		pass "$3"
	else
		fail "$3"
		diag "$(diff -u "$2" "$1" 2>&1 | head -n 40)"
		false
	fi
}

thorough() { [ -z "${IN_CHECK:-}" ]; }
not_twice() { [ -z "${AGAIN:-}" ]; }
also() { ! thorough || echo "$@"; }
rounds() { if thorough; then echo "$2"; else echo "$1"; fi; }

run() {
	status=0
	"$@" > "$T/run.out" 2> "$T/run.err" < /dev/null || status=$?
	out=$(< "$T/run.out")
	err=$(< "$T/run.err")
}
exits() {
	local want=$1 name=$2
	shift 2
	run "$@"
	if [ "$status" = "$want" ]; then
		pass "$name"
	else
		fail "$name"
		diag "exit status $status, wanted $want: $*"
		diag "$(head -n 20 "$T/run.err")"
		false
	fi
}
one_sentence() {
	if [ "$(wc -l < "$T/run.err")" = 1 ] && grep -Eq '^memtap: .+' "$T/run.err"; then
		pass "$1"
	else
		fail "$1"
		diag "standard error:"
		diag "$(head -n 20 "$T/run.err")"
	fi
}

# (Who waits must not take the processor from those it waits for: nothing is started.  But
# before bash 5.2 read's time limit is a signal: one that comes in front of the system call
# is lost, and read waits for ever.)
nap() {
	if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 502)); then
		sleep 0.1
		return
	fi
	[ -p "$T/nap" ] || mkfifo "$T/nap"
	read -r -t 0.1 _ <> "$T/nap" || true
}
wait_for() {
	local end=$((SECONDS + $1 * ${SLOW:-1}))
	shift
	while ! "$@" > /dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		nap
	done
}
gone() { ! kill -0 "$1" 2>/dev/null; }
wait_gone() { wait_for "$1" gone "$2"; }
# memtap runs a session: what it attaches is attached.  Not the one by which it finds out
# what a seccomp filter lets pass.
has_session() {
	local line
	local -a told
	mapfile -t told < /sys/kernel/debug/memtap/sessions
	for line in "${told[@]}"; do
		[[ $line != *seccomp-experiment* ]] || continue
		[[ ! $line =~ ^\ *[0-9]+\ +$1\ .*\ running\  ]] || return 0
	done
	return 1
}
ready() { wait_for "${2:-300}" has_session "$1"; }
real_time() { [[ $(uname -v) = *PREEMPT?RT* ]]; }
kver_ge() {
	[ "$(printf '%s\n' "$1" "$(uname -r | cut -d- -f1)" | sort -V | head -n 1)" = "$1" ]
}

text_clean() {
	local said rc=0
	said=$("${BASH_SOURCE[0]%/*}/t_text" "$@") || rc=$?
	[ -z "$said" ] || diag "$said"
	return $rc
}

# Those that stand from insmod to rmmod are nobody's.
probes_left() { grep -Ev ' (__)?oom_kill_process\+0x0 ' /sys/kernel/debug/kprobes/list; }
probes_clean() {
	local name=$1 left pid bad=0
	shift
	left=$(probes_left)
	if [ -n "$left" ]; then
		bad=1
		diag "kprobes left:"
		diag "$left"
	fi
	for pid in "$@"; do
		text_clean "$pid" || bad=1
	done
	if [ $bad = 0 ]; then pass "$name"; else fail "$name"; fi
}
