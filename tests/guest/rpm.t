#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The packages of `make rpm`, on a root that never saw the source: the module is the one that
# was built for this kernel before, the tool finds what there is to be found, and whoever
# erases them has nothing left.
# guest: --rpm
# kernels: 6.1
# check: long
. "$(dirname "$0")/lib.sh"

# (the layer brings no examples, no `make install`)
is "$(command -v memtap)" /usr/sbin/memtap "the tool is the package's"
kernel=$(uname -r)
is "$(modinfo -n memtap)" "/lib/modules/$kernel/updates/memtap.ko" "and so is the module"
packages=$(rpm -qa --qf '%{NAME} ' 'memtap*' 'kmod-memtap*')
like "$packages" '^(kmod-memtap memtap|memtap kmod-memtap) $' "both are installed, and no other"
run rpm -V --nodeps memtap kmod-memtap
# (guests' roots leave out what is for reading)
is "$(grep -Ev ' /usr/share/(doc|man|licenses)/' <<< "$out")" "" "rpm -V: nothing was changed"
exits 0 "tool and module understand each other" memtap status
is "$(modinfo -F version memtap)" "$(memtap --version | sed -n 's/^memtap //p')" "one version"
run rmmod memtap
exits 0 "memtap selftest" memtap selftest
diag "$(tail -n 5 <<< "$out")"
# what memtap-watch.service runs
exits 0 "the flight recorder starts" /usr/libexec/memtap/memtap-recorder start
exits 0 "and stops" /usr/libexec/memtap/memtap-recorder stop

exits 0 "the module can be unloaded" memtap unload
exits 0 "both are erased" rpm -e --nodeps --force-debian memtap kmod-memtap
not_ok "no module is left" modinfo -n memtap
left=$(find /etc /lib/modules /usr/src /usr/lib/systemd /usr/lib/udev /usr/sbin /usr/libexec \
	/usr/share -path /usr/src/memtap-work -prune -o -name '*memtap*' -print)
is "$left" "" "no file is left"
done_testing
