# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For guest tests (lib.sh first): what can go wrong with memory, staged.
#
#	stage NAME	begins it, and returns when it lasts: $pid is its process, if it has one.
#			1: it cannot be staged here, $why_not
#	relief		ends it
#	all_back	what was taken before is free again
#	scene COMMAND	a workload of one's own, until relief; it says when it is ready
#	group MIB	the next scene is in the cgroup /staged, with this limit ('': none)
#	stages		the list of all, for incidents.t: name and title
#
# What the stage knows, as regular expressions for incidents.t:
#	$at		triage says it afterwards; !: it is not to
#	$over		of so many seconds (--between), for what is too slow for one sample
#	$said		an array: the conclusions of diagnose have each; empty: not asked, for it
#			is over.  $first: the first conclusion has it.  $options: of diagnose
#	$killed		an array: memtap oom has each; empty: nobody is killed
#	$healthy	nobody is to be accused

export LC_ALL=C
root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes v2=''
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2> /dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max v2=1
	echo +memory > $root/cgroup.subtree_control
fi
in_group='' staged='' pid='' why_not=''

stages='quiet|nothing
saw|a program takes 8 MiB and frees it, again and again
leak|a program keeps what it allocates
limit|a program grows in a cgroup with a limit
module|a kernel module keeps objects of slab
tmpfs|files in a tmpfs grow
bomb|more and more processes
cache|a cgroup reads files that do not fit into its limit
high|a cgroup over memory.high
swap|a cgroup swaps: twice its limit is in use
fragment|no large blocks are free
huge|most memory is reserved for huge pages, unused
tables|a program touches a page of each 2 MiB
cgroups|removed cgroups, which memory is charged to
names|names of files that do not exist
ramfs|files in a ramfs grow
commit|promises near the commit limit
dead|dead children whose parent does not wait
pin|memory pinned by io_uring, little is left
lock|memory locked by mlock(), little is left
unread|messages in UNIX sockets that are not read
kill|a program is killed at the limit of its cgroup
oom|a program takes all memory, and is killed'

group() {
	in_group=$root/staged
	mkdir -p $in_group
	[ -z "$1" ] || echo $(($1 << 20)) > $in_group/$limit
}
# where memory does not do, it is the workload that is killed
inside() {
	echo 1000 > "/proc/$BASHPID/oom_score_adj"
	[ -z "$in_group" ] || echo "$BASHPID" > "$in_group/cgroup.procs"
	exec "$@"
}
scene() {
	start_until "$T/ready" ready inside "$@"
	pid=$started
}
relief() {
	if [ -n "$pid" ]; then
		kill $pid 2> /dev/null
		wait $pid 2> /dev/null
	fi
	[ -z "$staged" ] || ! declare -F "end_$staged" > /dev/null || "end_$staged" 2> /dev/null
	[ -z "$in_group" ] || wait_for 20 rmdir $in_group
	in_group='' staged='' pid=''
}
all_back() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
	wait_for 60 awk '/^MemTotal/ { all = $2 } /^MemFree/ { exit $2 < all / 2 }' /proc/meminfo
}
stage() {
	at='' over='' first='' said=() killed=() options=() healthy='' why_not='' pid=''
	staged=$1
	"begin_$1"
}
cannot() {
	why_not=$*
	return 1
}

begin_quiet() {
	scene ./wl_diagnose quiet
	at='othing grows fast, waits or fails in' over=10 healthy=1
	first='othing grows fast, waits or fails in [0-9.]+ s'
}
begin_saw() {
	scene ./wl_diagnose saw 400 20
	# what is said of it by two samples has what those between them say
	at='!wl_diagnose \([0-9]+\) grew by [^;]*$' over=12 healthy=1
	first='rises and falls|does not go on growing|othing grows fast'
}
begin_leak() {
	scene ./wl_diagnose leak 300
	at="rocess wl_diagnose \($pid\) grew by"
	first="rocess wl_diagnose \(pid $pid\) (grows steadily|grew).*of the [0-9.]+ MiB that it \
allocated in [0-9.]+ s and did not free was allocated at parse_row \(wl_diagnose.c:[0-9]+\)"
}
begin_busy() {
	scene ./wl_diagnose busy 100
}
begin_limit() {
	group 150
	scene ./wl_diagnose leak 200
	at="rocess wl_diagnose \($pid\) grew by" options=(--cgroup /staged)
	first="rocess wl_diagnose \(pid $pid\) gr.*allocated at parse_row"
}
begin_kill() {
	group 16
	[ ! -e $in_group/memory.swap.max ] || echo 0 > $in_group/memory.swap.max
	(inside ./wl_oom eat 40) > /dev/null 2>&1
	at='rocess wl_oom \([0-9]+\) was killed .*lack of memory in cgroup /staged'
	killed=('wl_oom \([0-9]+\) was OOM-killed' /staged)
}
begin_oom() {
	(inside ./wl_oom eat 4000 1000) > /dev/null 2>&1
	at='rocess wl_oom \([0-9]+\) was killed .*for lack of memory'
	killed=('wl_oom \([0-9]+\) was OOM-killed' 'process wl_oom \([0-9]+\) alone held')
}
begin_module() {
	for_this_kernel kleak/kleak.ko && insmod kleak/kleak.ko ||
		cannot "kleak.ko was not built for this kernel" || return
	(for ((i = 0; i < 42; i++)); do
		echo grow > /sys/module/kleak/parameters/run
		sleep 1
	done) &
	pid=$!
	at='slab cache kmalloc[a-z0-9-]*-8k grew by [0-9.]+ MiB' over=8
	said=('kl_grow' '[^a-z]kleak')
}
end_module() {
	echo free > /sys/module/kleak/parameters/run
	rmmod kleak
}
begin_tmpfs() {
	mkdir -p "$T/tmpfs"
	mount -t tmpfs -o size=300m tmpfs "$T/tmpfs"
	scene ./wl_scenes file "$T/tmpfs/file"
	at="iles in $T/tmpfs grew by"
	first="he tmpfs $T/tmpfs gr.*from wl_scenes \(pid $pid\) at .*write_file"
}
end_tmpfs() { umount "$T/tmpfs"; }
begin_bomb() {
	scene ./wl_scenes bomb
	at='here are [0-9]+ more processes wl_scenes'
	first='(more processes wl_scenes|emory of all processes wl_scenes gr).*bomb_child'
}
end_bomb() { pkill -KILL wl_scenes; }
begin_cache() {
	[ -e $root/cgroup.procs ] || cannot "no memory cgroup here" || return
	home=$(mktemp -d ./staged.XXXXXX)
	head -c 60M /dev/zero > "$home/file"
	# (its pages are to be charged to who reads them)
	sync
	echo 1 > /proc/sys/vm/drop_caches
	group 30
	scene ./wl_scenes read "$home/file" 60
	at='/staged met its limit|cgroups, most often in /staged|of files are read again'
	said=('page cache|pages a second of files are read again' /staged)
}
end_cache() { rm -r "$home"; }
begin_high() {
	[ $v2 ] || cannot "no memory.high in version 1" || return
	group ''
	echo $((20 << 20)) > $in_group/memory.high
	scene ./wl_scenes grow 100
	at='cgroup /staged was over memory.high [0-9]+ times'
	first=$at
}
begin_swap() {
	dd if=/dev/zero of=/swap bs=1M count=128 status=none
	chmod 600 /swap
	mkswap /swap > /dev/null && swapon /swap || cannot "no swap file here" || return
	group 40
	scene ./wl_triage cycle 80 300
	at="pages a second are swapped in, [0-9]+ out; process wl_triage \($pid\) has most"
	first='pages a second are swapped in'
}
end_swap() {
	swapoff /swap
	rm -f /swap
}
begin_fragment() {
	all_back
	min_free=$(cat /proc/sys/vm/min_free_kbytes)
	echo 4096 > /proc/sys/vm/min_free_kbytes
	scene ./wl_triage fragment 200
	at='had to wait for compaction|free memory is in blocks of less than|of order [0-9]+ failed'
	first=$at
}
end_fragment() { echo "$min_free" > /proc/sys/vm/min_free_kbytes; }
begin_huge() {
	all_back
	echo 1 > /proc/sys/vm/compact_memory
	echo 170 > /proc/sys/vm/nr_hugepages
	[ "$(cat /proc/sys/vm/nr_hugepages)" -ge 80 ] ||
		cannot "memory is in fragments" || return
	scene ./wl_scenes fill
	at='[0-9.]+ MiB are reserved for huge pages and not used'
	first=$at
}
end_huge() { echo 0 > /proc/sys/vm/nr_hugepages; }
begin_tables() {
	scene ./wl_diagnose tables 60
	at="age tables grew by [0-9.]+ MiB( of that)?, most of them of wl_diagnose \($pid\)" over=8
	said=("memory of page tables gr.*came from it at touch_sparse"
		"page tables, most of them of wl_diagnose \($pid\)")
}
# Files of a tmpfs are charged to those who wrote them, as long as they are there.
begin_cgroups() {
	local i text

	mkdir -p "$T/charged"
	mount -t tmpfs tmpfs "$T/charged"
	group ''
	if [ $v2 ]; then
		echo +memory > $in_group/cgroup.subtree_control
	else
		echo 1 > $in_group/memory.use_hierarchy
	fi
	text=$(head -c 400000 /dev/zero | tr '\0' x)
	(for ((i = 0; i < 80; i++)); do
		mkdir "$in_group/$i"
		echo "$BASHPID" > "$in_group/$i/cgroup.procs"
		printf '%s' "$text" > "$T/charged/$i"
		echo "$BASHPID" > $root/cgroup.procs
		rmdir "$in_group/$i"
	done)
	if [ $v2 ]; then
		i=$(awk '/^nr_dying_descendants/ { print $2 }' $in_group/cgroup.stat)
	else
		i=$(($(awk '$1 == "memory" { print $3 }' /proc/cgroups) -
			$(find $root -type d | wc -l)))
	fi
	[ "$i" -ge 60 ] || cannot "this kernel frees removed cgroups" || return
	at='[0-9]+ cgroups were removed.*[0-9.]+ MiB are charged to cgroups that are gone'
	first=$at
}
end_cgroups() { umount "$T/charged"; }
begin_names() {
	scene ./wl_scenes names "$T"
	at='slab cache dentry grew by [0-9.]+ MiB.*reclaims its unused objects'
	# (objects of the kernel have the stacks of the kernel: the program is not named)
	first='slab cache dentry grew by .*names that were looked up and not found.*d_alloc'
}
begin_ramfs() {
	mkdir -p "$T/ram"
	mount -t ramfs ram "$T/ram"
	scene ./wl_scenes file "$T/ram/file"
	at='ile pages that the kernel cannot drop.* grew by [0-9.]+ MiB'
	first='nevictable memory gr.*write_file'
}
end_ramfs() { umount "$T/ram"; }
begin_commit() {
	local now most

	commit_was=$(cat /proc/sys/vm/overcommit_memory)
	ratio_was=$(cat /proc/sys/vm/overcommit_ratio)
	echo 90 > /proc/sys/vm/overcommit_ratio
	most=$(awk '/^CommitLimit/ { print int($2 / 1024) }' /proc/meminfo)
	now=$(awk '/^Committed_AS/ { print int($2 / 1024) }' /proc/meminfo)
	# (just above two thirds: what a test itself forks needs the rest)
	scene ./wl_scenes promise $((most * 69 / 100 - now))
	echo 2 > /proc/sys/vm/overcommit_memory
	at="[0-9.]+ MiB of the commit limit of [0-9.]+ MiB.*wl_scenes \($pid\) has most"
	first=$at
}
end_commit() {
	echo "$commit_was" > /proc/sys/vm/overcommit_memory
	echo "$ratio_was" > /proc/sys/vm/overcommit_ratio
}
begin_dead() {
	scene ./wl_scenes dead 150
	at="processes are dead, and their parent wl_scenes \($pid\) does not wait"
	first="$at.*leave_dead"
}
begin_pin() {
	kver_ge 5.10 || cannot "before Linux 5.10 they are locked, too" || return
	all_back
	scene ./wl_scenes pin
	! grep -q refused "$T/ready" || cannot "no io_uring here" || return
	at='ittle memory is left.* wl_scenes .*pages that are pinned'
	first='pages that are pinned \(io_uring, RDMA\) by wl_scenes'
}
begin_lock() {
	all_back
	scene ./wl_scenes lock
	at="ittle memory is left.*\(mlock\), most by wl_scenes \($pid\) [0-9.]+ MiB"
	first=$at
}
begin_unread() {
	all_back
	scene ./wl_scenes unread
	at="kernel's own memory grew by .*; (the slab cache|unreclaimable slab|memory without)"
	over=8
	said=('unix_dgram_sendmsg|send_unread')
}
