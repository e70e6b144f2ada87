#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Containers and pods: their cgroups are found by ID and by name, and rows have their names.
. "$(dirname "$0")/lib.sh"

id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
id2=0123ffff89abcdef0123456789abcdef0123456789abcdef0123456789abcdef
uid=11111111-2222-3333-4444-555555555555
root=
for dir in /sys/fs/cgroup/memory /sys/fs/cgroup/unified /sys/fs/cgroup; do
	[ -e $dir/cgroup.procs ] && grep -q " $dir cgroup" /proc/mounts && root=$dir && break
done
[ -n "$root" ] || skip_all "no hierarchy of cgroups"
docker=$root/docker/$id
pod=$root/kubepods/burstable/pod$uid
mkdir -p "$docker" "$pod/$id2" "/var/lib/docker/containers/$id" "/var/log/pods/shop_cart_$uid"
echo '{"ID":"'$id'","Name":"/web"}' > /var/lib/docker/containers/$id/config.v2.json
away() {
	rm -rf /var/lib/docker "/var/log/pods/shop_cart_$uid"
	rmdir "$docker" "$root/docker" "$pod/$id2" "$pod" "$root/kubepods/burstable" \
		"$root/kubepods" \
		2> /dev/null
	[ ! -e "$root/docker" ] && [ ! -e "$root/kubepods" ]
}

disk=$(mktemp -d /var/tmp/container.XXXXXX)
# inside CGROUP: page faults of the workload, which says how many there were
inside=(sh -c 'echo $$ > $0/cgroup.procs; exec ./wl_calls fault "$1" "$2"')

run memtap record -o "$T/all" fault -a -- "${inside[@]}" "$docker" "$disk" "$T/truth"
is "$status" 0 "a recording of everything"
truth=$(awk '{ n += $1 } END { print n }' "$T/truth")
sums() {
	python3 -c '
import json, sys
for r in json.load(sys.stdin)["rows"]:
    print(r.get("container", "-")[:12], r.get("container_name", "-"), r["sum"])'
}
memtap report "$T/all" --by container --json | sums > "$T/rows"
sed 's/^/# /' "$T/rows"
is "$(awk -v least="$truth" '$1 == "0123456789ab" && $2 == "web" { n += $3 }
	END { print (n >= least && least > 0) }' "$T/rows")" 1 "rows by container: its faults"
is "$(awk '$1 == "-" { n += $3 } END { print (n > 0) }' "$T/rows")" 1 "and those outside"
run memtap report "$T/all" --by container --no-stacks
like "$out" 'web \(docker 0123456789ab\)' "its name in the table"
like "$out" '\[no container\]' "what is in none"
memtap report "$T/all" --container 01234 --by container --json | sums > "$T/some"
is "$(sort "$T/some")" "$(grep ^0123 "$T/rows" | sort)" "the recording's rows of one container"
run memtap report "$T/all" --container 99999
is "$status" 1 "a container that is not in the recording: exit status"

# --- live: a process of it is recorded, others are not
start_until "$T/said" ready sh -c 'echo $$ > '"$docker"'/cgroup.procs; echo ready
	while :; do /bin/true; done'
run memtap faults --container web --by container --json -d 1
kill "$started"
is "$status" 0 "--container NAME: exit status"
is "$(sums <<< "$out" | cut -d' ' -f1,2 | sort -u)" "0123456789ab web" \
	"--container NAME records it alone"

start_until "$T/said" ready sh -c 'echo $$ > '"$pod/$id2"'/cgroup.procs; echo ready
	while :; do /bin/true; done'
run memtap faults --pod shop/cart --by container --json -d 1
is "$(sums <<< "$out" | cut -d' ' -f1 | sort -u)" "0123ffff89ab" \
	"--pod records the processes of its containers"
run memtap ps --by container
like "$out" ' container 0123ffff89ab$' "ps --by container"
run memtap ps --pod cart
like "$out" "^ *$started " "ps --pod"
kill "$started"

run memtap faults --container 0123 -d 1
is "$status" 2 "an ID of two containers: exit status"
run memtap faults --container nosuch -d 1
is "$status" 1 "no such container: exit status"
like "$err" "no such container" "and the sentence"
# --- in a namespace of its own, as in a privileged container with the host's /proc
start_until "$T/said" ready sh -c 'echo $$ > '"$docker"'/cgroup.procs; echo ready
	while :; do /bin/true; done'
run unshare --mount --uts --ipc memtap faults --container web --by container --json -d 1
is "$(sums <<< "$out" | cut -d' ' -f1,2 | sort -u)" "0123456789ab web" "in another namespace"
kill "$started"

rm -r "$disk"
wait_for 20 away
done_testing
