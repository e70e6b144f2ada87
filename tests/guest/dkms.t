#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The module as `make dkms-install` builds it from its copied sources.
# guest: --dkms
# check: newest
. "$(dirname "$0")/lib.sh"

like "$(modinfo -n memtap)" '/updates/dkms/memtap\.ko' \
	"the module in use is the one of dkms"
like "$(dkms status -m memtap -k "$(uname -r)")" 'memtap.*: installed' "dkms calls it installed"
ok "it is loaded" grep -q '^memtap ' /proc/modules
ok "its device is there" test -c /dev/memtap
exits 0 "the tool and it understand each other" memtap status
exits 0 "dkms removes it" dkms remove memtap/"$(modinfo -F version memtap)" -k "$(uname -r)"
not_ok "nothing of it is left in the module tree" modinfo -n memtap
done_testing
