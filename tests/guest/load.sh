# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A load on all processors, and everything that memtap can count of it, in eight
# sessions at once and the flight recorder; for load.t and tests/bench/load:
# . load.sh  after lib.sh and truth.sh, in this directory.
#
#	load_begin SLICE	starts the load, and holds it; wl_load_tail has slices of
#				SLICE seconds
#	load_go			lets it run
#	load_end		ends it; each part of it checks what it computed
#	watch_begin SECONDS	starts all sessions; those that report do it so often
#	watch_end		ends them
#	look WHEN		what they take now
#	looked WHEN...		all of that, in lines: WHEN, WHAT, BYTES
#	grew WHAT FROM TO	what that changed, in bytes
#	books NAME		the sessions' accounts add up, into $T/books

debug=/sys/kernel/debug/memtap
params=/sys/module/memtap/parameters
group=
declare -A part=()		# of the load, by process
declare -A session=()		# name -> process
declare -a load_pids=()

# Both generations of control groups: the one that has the memory controller.
make_group() {
	local root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
	if [ ! -d $root ]; then
		root=/sys/fs/cgroup/unified limit=memory.max
		echo +memory > $root/cgroup.subtree_control
	fi
	group=$root/memtap-load
	mkdir -p "$group"
	echo 24M > "$group/$limit"
}
make_swap() {
	dd if=/dev/zero of=/swap bs=1M count=64 status=none && chmod 600 /swap &&
		mkswap /swap > /dev/null && swapon /swap
}

start() {	# in the group or out of it; behind those who watch
	local where=$1
	shift
	if [ "$where" = in ]; then
		sh -c 'echo $$ > "$0/cgroup.procs" && exec nice "$@"' "$group" "$@" &
	else
		nice "$@" &
	fi
	part[$!]="${*:2}"
	load_pids+=($!)
}
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }
load_begin() {
	make_group
	make_swap
	start out ./wl_load faults
	start out ./wl_load heap
	heap=$!
	start out ./wl_load maps
	start out ./wl_load pipes
	start out ./wl_load forks
	start in ./wl_load forks
	start in ./wl_load files /load-file 40
	start in ./wl_load grow 20
	start out ./wl_load_tail "$1" "$T/tail"
	tail=$!
	# it stops itself, once: whoever lets it go before that, never
	wait_for 300 is_stopped $tail || fail "wl_load_tail stops itself"
	sleep 1
	kill -STOP "${load_pids[@]}"
}
# Its threads' and children's states, and functions of the kernel.
where_it_is() {
	local task
	for task in /proc/"$1"/task/* $(sed 's|[0-9]*|/proc/&|g' "/proc/$1/task/$1/children"); do
		awk '/^State/ { printf "%s ", $2 }' "$task/status"
		sed 's/.* //; s/+.*//' "$task/stack" | head -n 6 | tr '\n' ' '
	done
}
load_go() { kill -CONT "${load_pids[@]}"; }
load_end() {
	local pid bad='' rc
	kill "${load_pids[@]}"
	for pid in "${load_pids[@]}"; do
		rc=0
		# what does not end says so itself, wherever only names of tests are seen
		if ! wait_gone 200 "$pid"; then
			bad+="${part[$pid]}: does not end, in $(where_it_is "$pid"); "
			kill -KILL "$pid"
			continue
		fi
		wait "$pid" || rc=$?
		[ $rc = 0 ] || bad+="${part[$pid]}: exit status $rc; "
	done
	if [ -z "$bad" ]; then
		pass "the load computed what it should, to its end"
	else
		fail "the load computed what it should, to its end: $bad"
	fi
	load_pids=()
	swapoff /swap
	rm -f /load-file /swap
	rmdir "$group"
}

# Every built-in event, and what else there is to see of memory.
builtin=(minor-fault major-fault brk mmap mremap munmap)
generic() {
	local name
	for name in kmem:mm_page_alloc kmem:kmalloc kmem:kfree oom:mark_victim \
		vmscan:mm_vmscan_direct_reclaim_begin \
		vmscan:mm_vmscan_memcg_reclaim_begin exceptions:page_fault_user \
		exceptions:page_fault_kernel sched:sched_process_fork task:task_rename; do
		[ ! -d "/sys/kernel/tracing/events/${name/://}" ] || echo "t:$name"
	done
	for name in do_wp_page swap_readpage swap_read_folio handle_mm_fault; do
		! grep -q " [tT] $name\$" /proc/kallsyms || echo "k:$name"
	done
	for name in do_swap_page shmem_fault wp_page_copy; do
		! grep -q " [tT] $name\$" /proc/kallsyms || echo "kr:$name"
	done
}

record() {	# NAME ARGS...
	local name=$1
	shift
	memtap record -q -o "$T/$name.memtap" "$@" 2> "$T/$name.err" &
	session[$name]=$!
}
watch_begin() {
	local -a more
	mapfile -t more < <(generic)
	diag "events beside those built in: ${more[*]}"
	record all "${builtin[@]}" "${more[@]}" -a -U -K
	record live --leaks -p "$heap,$tail" --max-mem 32M
	record group --leaks --cgroup "$group" --sample-bytes 4K
	record frames fault brk --comm wl_load --unwind fp --hist --depth 40 -U
	record pages mmap munmap mremap fault --cgroup "$group" --addresses -U -K
	record probes "u:$PWD/wl_load:wl_bottom" "ur:$PWD/wl_load:wl_deep" \
		"u:$PWD/wl_load:wl_change" "ur:c:getpid" -a -U
	record tiny "${builtin[@]}" -a -U -K --max-mem 2M
	memtap stat "${builtin[@]}" "$1" > "$T/stat.out" 2> "$T/stat.err" &
	session[stat]=$!
	for name in "${!session[@]}"; do
		ready "${session[$name]}" 300 || fail "session $name counts: $(cat "$T/$name.err")"
	done
	echo fault,brk,mmap > $params/watch
}
watch_end() {
	local name rc bad=''
	cat $debug/summary > "$T/summary"
	echo > $params/watch
	for name in "${!session[@]}"; do
		kill -INT "${session[$name]}"
	done
	for name in "${!session[@]}"; do
		rc=0
		wait "${session[$name]}" || rc=$?
		[ $rc = 0 ] || bad+="$name: exit status $rc, $(head -c 300 "$T/$name.err"); "
	done
	is "$bad" '' "each session ends with a report"
}

# What there is, with one process: on a machine so busy each takes its time.
look() {
	local name
	local -a status=()
	for name in "${!session[@]}"; do
		status+=("/proc/${session[$name]}/status")
	done
	tail -n +1 /proc/vmallocinfo /proc/meminfo $debug/sessions "${status[@]}" > "$T/look.$1"
	cat $debug/summary $debug/stacks/* $debug/hooks > /dev/null
}
# A line for each of it to $T/memory, when there is time: WHEN, WHAT, BYTES.
looked() {
	local when name names=''
	for name in "${!session[@]}"; do
		names+="${session[$name]} $name "
	done
	for when in "$@"; do
		awk -v when="$when" -v names="$names" '
			function put(what, bytes) { print when, what, bytes }
			BEGIN {
				n = split(names, w, " ")
				for (i = 1; i < n; i += 2)
					of[w[i]] = w[i + 1]
			}
			/^==> / { pid = $2; gsub(/[^0-9]/, "", pid) }
			/\[memtap\]/ { module += $2 }
			/ KiB counted / { sub(/ KiB .*/, ""); announced += $NF * 1024 }
			/^(SUnreclaim|Percpu):/ { sub(/:/, "", $1); put($1, $2 * 1024) }
			/^VmRSS:/ { put("rss-" of[pid], $2 * 1024) }
			END { put("module", module + 0); put("announced", announced + 0) }
		' "$T/look.$when"
	done > "$T/memory"
}
at() { awk -v when="$1" -v what="$2" '$1 == when && $2 == what { print $3 }' "$T/memory"; }
grew() { echo $(($(at "$3" "$1") - $(at "$2" "$1"))); }

books() {
	if ./wl_load_books "$T"/*.memtap > "$T/books" 2> "$T/wrong"; then
		pass "$1"
	else
		fail "$1"
		diag "$(head -n 20 "$T/wrong")"
	fi
	diag "session event seen counted filtered lost not-whole"
	diag "$(grep -v ' memory ' "$T/books")"
	diag "$(grep ' memory ' "$T/books")"
}
