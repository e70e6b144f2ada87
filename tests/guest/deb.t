#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The packages of `make deb`, on a root that never saw the source: dkms built the module,
# the tool finds what there is to be found, the flight recorder's unit does what it says,
# and whoever purges them has nothing left.
# guest: --deb
# kernels: 6.1
# check: long
. "$(dirname "$0")/lib.sh"

# (the layer brings no examples, no `make install`)
is "$(command -v memtap)" /usr/sbin/memtap "the tool is the package's"
like "$(modinfo -n memtap)" '/updates/dkms/memtap\.ko' "the module is the one that dkms built"
like "$(dkms status -m memtap -k "$(uname -r)")" 'memtap.*: installed' "dkms calls it installed"
for package in memtap memtap-dkms; do
	is "$(dpkg-query -W -f '${db:Status-Status}' $package)" installed "$package is installed"
done
exits 0 "nothing of the packages was changed" dpkg -V memtap memtap-dkms
# (guests' roots leave out what is for reading)
is "$(grep -Ev ' /usr/share/(doc|man)/' <<< "$out")" "" "dpkg -V"
exits 0 "tool and module understand each other" memtap status
is "$(modinfo -F version memtap)" "$(memtap --version | sed -n 's/^memtap //p')" "one version"
run rmmod memtap
exits 0 "memtap selftest" memtap selftest
diag "$(tail -n 5 <<< "$out")"

# what memtap-watch.service runs
watching() { cat /sys/module/memtap/parameters/watch; }
recorder=/usr/libexec/memtap/memtap-recorder
# shellcheck source=/dev/null
set -a && . /etc/memtap.conf && set +a
exits 0 "the flight recorder starts, and loads the module for it" $recorder start
is "$(watching)" "reclaim,compact,swap" "it watches what /etc/memtap.conf says"
ok "it can be read" grep -q . /sys/kernel/debug/memtap/summary
run env WATCH=nonsense $recorder start
is "$status" 1 "an event that there is not is refused"
like "$err" '^memtap-recorder: the module does not take watch=nonsense' "with a sentence"
exits 0 "it stops" $recorder stop
is "$(watching)" "" "nothing is watched then"

exits 0 "the module can be unloaded" memtap unload
exits 0 "both are purged" dpkg -P memtap memtap-dkms
not_ok "no module is left" modinfo -n memtap
left=$(find /etc /usr/src /var/lib/dkms /lib/systemd /lib/udev /usr/sbin /usr/libexec /usr/share \
	-path /usr/src/memtap-work -prune -o -name '*memtap*' -print)
is "$left" "" "no file is left"
done_testing
