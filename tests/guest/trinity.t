#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# trinity, which calls with whatever comes to its mind, pointed at the device: as root,
# as nobody, and as nobody whom the device's mode would let in.  $TRINITY: where it is,
# see tests/vm/trinity, which brings it.  TIMES=N: calls of each, by each ABI.
# timeout: 1200
. "$(dirname "$0")/lib.sh"

trinity=${TRINITY:-$(command -v trinity)}
[ -x "$trinity" ] || skip_all "there is no trinity here; tests/vm/trinity brings Debian's package"
"$trinity" --help > "$T/help" 2>&1
grep -q -- '--victims' "$T/help" ||
	skip_all "this trinity does not run here: $(head -n 1 "$T/help")"

calls=${TIMES:-20000}
# (it does not call as root unless told that it may: this is a guest)
aim=(-V /dev/memtap -q -l off -C 4 --dangerous)
for group in sockets pipes perf epoll eventfd pseudo timerfd testfile memfd drm; do
	aim+=("--disable-fds=$group")
done
for call in ioctl read readv pread64 preadv write lseek poll ppoll select pselect6 mmap \
	splice sendfile fcntl flock dup dup2 dup3 epoll_ctl newfstat ftruncate fsync; do
	aim+=(-c "$call")
done
# how many calls it says that it made
made() { grep -oE '[0-9]+ syscalls' "$1" | tail -n 1 | cut -d' ' -f1; }

# trinity NAME COMMAND...: COMMAND runs it
point() {
	local name=$1 n
	shift
	mkdir -m 0777 "$T/$name"
	chmod 0755 "$T"
	(cd "$T/$name" && timeout 1000 "$@" "$trinity" "${aim[@]}" -N "$calls" \
		> "$T/$name.log" 2>&1)
	n=$(made "$T/$name.log")
	cmp_ok "${n:-0}" -ge $((calls / 2)) "$name: ${n:-no} calls"
	[ "${n:-0}" -ge $((calls / 2)) ] || diag "$(tail -n 20 "$T/$name.log")"
}
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

point root env
point nobody "${as_nobody[@]}"
chmod 0666 /dev/memtap
point nobody-with-the-mode "${as_nobody[@]}"
chmod 0600 /dev/memtap
ok "the device works as before" memtap stat -d 0.5
probes_clean "nothing is left attached"
done_testing
