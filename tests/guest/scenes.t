#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Scenes after public reports: memory is short or grows in ways that no process shows. In each,
# `memtap triage` or the census says what it is, and the command that it suggests shows the cause
# when it is run as it is typed, for a shorter time.
# guest: -m 640
# dmesg: allow Call Trace
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/guest/past.sh
. "$(dirname "$0")/past.sh"

# shellcheck source=tests/guest/stages.sh
. "$(dirname "$0")/stages.sh"

# says NAME WHO SENTENCE COMMAND [LATER]: one of what is said; $next is its command.  LATER: what
# the history says of it, if that has less
says() {
	local name=$1 sentence=$3 command=$4
	if [ "$2" = census ]; then
		run memtap leaks -k --census 2 1
	else
		run memtap triage 2 1
		# (a sample or two more of it; and the sentence may have | in it)
		sleep 2
		[[ $sentence = *\|* ]] || past_mark "$name" "${5:-$sentence}"
	fi
	like "$out" "$sentence" "$name: $2 says it"
	next=$(grep -oE "^(Next|  then): $command\$" <<< "$out" | head -1)
	next=${next#*: }
	isnt "$next" '' "$name: $2 has a command" || diag "$out"
}
# shows NAME PATTERN: and that shows it
shows() {
	run bash -c "${next/-d 10/-d 4}"
	is "$status" 0 "$1: $next" || diag "$err"
	like "$out" "$2" "$1: shows the cause"
}

past_begin
# --- names that are not there: reclaimable
stage names
says names triage 'slab cache dentry grew by [0-9.]+ MiB.*reclaims its unused objects' \
	'memtap leaks -k --cache dentry -d 10'
unlike "$out" 'dentry grew.*at this pace' "names: no end of memory is forecast"
shows names 'd_alloc'
relief

# --- files of a ramfs
stage ramfs
says ramfs triage 'ile pages that the kernel cannot drop.* grew by [0-9.]+ MiB' \
	'memtap stacks (t:filemap:mm_filemap_add_to_page_cache|k:add_to_page_cache_lru) -d 10'
shows ramfs 'write_file'
relief

# --- pages of tables
scene ./wl_scenes tables
says tables census "age tables, most of them of wl_scenes \($pid\) grew" \
	"memtap faults -p $pid -d 10"
shows tables 'touch_sparse'
relief

# --- a file that is deleted, and open
mkdir "$T/tmpfs"
mount -t tmpfs tmpfs "$T/tmpfs"
scene ./wl_scenes deleted "$T/tmpfs/x" 40
like "$(memtap triage 0.1 1)" "deleted +.*/x \(deleted\) of wl_scenes \($pid\) +40.0 MiB" \
	"deleted: who has it open"
ok "deleted: JSON" python3 -c '
import json, sys
d = json.loads(sys.argv[1])["deleted_files"]
assert d[0]["pid"] == int(sys.argv[2]) and d[0]["bytes"] == 40 << 20, d' \
	"$(memtap triage 0.1 1 --json)" $pid
relief
umount "$T/tmpfs"

if [ "${SMOKE:-}" ]; then
	past_check
	done_testing
	exit
fi

# --- a tmpfs that only others have mounted
cat > "$T/away" << 'END'
mount -t tmpfs tmpfs "$1" && head -c 20971520 /dev/zero > "$1/file" && echo ready && exec sleep 300
END
scene unshare -m --propagation private bash "$T/away" "$T/tmpfs"
like "$(memtap triage 0.1 1)" "mounts of sleep \($pid\) +20.0 MiB" \
	"a tmpfs of another mount namespace"
relief

# --- promises
stage commit
says commit triage '[0-9.]+ MiB of the commit limit of [0-9.]+ MiB' \
	"memtap mmap --snoop -p $pid -d 10"
shows commit 'ENOMEM'
relief

# --- the dead
stage dead
says zombies triage "processes are dead, and their parent wl_scenes \($pid\) does not wait" \
	"memtap stacks t:sched:sched_process_fork -p $pid -d 10"
shows zombies 'leave_dead'
relief

# --- more and more processes
stage bomb
says bomb triage 'here are [0-9]+ more processes wl_scenes' \
	'memtap faults --comm wl_scenes --by program -d 10'
shows bomb 'bomb_child'
relief

# --- pinned, and nothing grows
if stage pin; then
	says pinned triage "ittle memory is left.*pinned \(io_uring, RDMA\) by wl_scenes" \
		"memtap heap $pid" \
		'ittle memory is left.* wl_scenes .*pages that are pinned'
else
	skip "pinned: triage says it" "$why_not"
fi
relief

# --- locked, and nothing grows
stage lock
says locked triage "ittle memory is left.*\(mlock\), most by wl_scenes \($pid\) [0-9.]+ MiB" \
	'memtap .*'
relief

# --- sockets that nobody reads
stage unread
says unread census 'grew by [0-9.]+ MiB' 'memtap leaks -k( --cache [^ ]*)? -d 10'
shows unread 'unix_dgram_sendmsg'
relief
scene ./wl_scenes tcp
says tcp census 'emory of sockets grew by [0-9.]+ MiB' 'memtap leaks -k -d 10'
shows tcp 'tcp_sendmsg'
relief

# --- threads
scene ./wl_scenes threads
says threads census 'ernel stacks of threads grew by [0-9.]+ MiB' \
	'memtap stacks t:sched:sched_process_fork --by program -d 10'
shows threads 'start_threads'
relief

# --- files that do not fit into a limit
if stage cache; then
	says thrash triage '/staged' 'memtap reclaim --stacks --cgroup /staged -d 10'
	shows thrash 'read_again'
fi
relief
# --- slowed down
if stage high; then
	sleep 2
	says high triage 'cgroup /staged was over memory.high [0-9]+ times' \
		'memtap reclaim --stacks --cgroup /staged -d 10'
	shows high 'over_high'
else
	skip "high: triage says it" "$why_not"
fi
relief

past_check
done_testing
