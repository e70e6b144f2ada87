#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Commands that a verdict suggests are typed as they are: the tool takes each of them. Without
# the module it fails (1), but not for its usage (2).
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

# What is put in for a placeholder: numbers are numbers.
commands() {
	python3 -c '
import glob, re
found = set()
for f in glob.glob("ctl/triage/*.c"):
    joined = re.sub("\"\\s*\n\\s*\"", "", open(f).read())
    found.update(re.findall("\"(memtap [a-z][^\"]*)\"", joined))
for c in sorted(found):
    print(re.sub("%s|{name}", "x", c.replace("{pid}", "1").replace("--cgroup %s", "--cgroup /x")
                 .replace("--cache {name}", "--cache kmalloc-64")))'
}
nr_commands=0
while read -r tool command; do
	[ "$tool" = memtap ]
	check $? "$command: a command of memtap"
	nr_commands=$((nr_commands + 1))
	# (what needs no module goes on)
	# shellcheck disable=SC2086
	said=$(timeout 2 build/memtap $command 2>&1 > /dev/null < /dev/null)
	status=$?
	[ $status != 2 ]
	check $? "$command: is taken${said:+ ($said)}"
done < <(commands)
[ $nr_commands -ge 20 ]
check $? "all of them were found"
checked
