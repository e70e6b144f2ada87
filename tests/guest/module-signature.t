#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kernel that wants signatures takes none but those of keys that it knows.
# needs: last unloaded
. "$(dirname "$0")/lib.sh"

enforce=/sys/module/module/parameters/sig_enforce
# (as module.sig_enforce=1 at boot does; there is no way back)
echo 1 > $enforce || skip_all "this kernel does not check signatures"
is "$(cat $enforce)" Y "(the kernel wants signatures)"

refuses() {
	local name=$1
	shift
	exits 1 "$name: refused" memtap load "$@"
	one_sentence "$name: in one sentence"
	like "$err" 'signed with a trusted key.*mokutil' "$name: which says why, and what to do"
}

refuses "without a signature"
exits 1 "doctor: memtap cannot run here" memtap doctor
like "$out" '^problem +signing ' "doctor: because of the signature"
like "$out" 'mokutil --import' "doctor: which it says how to make"
ko=$(modinfo -n memtap)
cp "$ko" "$T/plain.ko"
refuses "without a signature, as a file" "$T/plain.ko"
sign=$(find /usr/lib/linux-kbuild-*/scripts/ /usr/src/linux-headers-*/scripts/ \
	-name sign-file 2>/dev/null | head -n 1)
openssl req -new -x509 -newkey rsa:2048 -keyout "$T/key" -outform DER -out "$T/cert" \
	-nodes -subj /CN=nobody 2> /dev/null
cp "$T/plain.ko" "$T/signed.ko"
ok "(signed with a key that nobody knows)" "$sign" sha256 "$T/key" "$T/cert" "$T/signed.ko"
refuses "with an unknown key" "$T/signed.ko"
cp "$T/signed.ko" "$T/cut.ko"
truncate -s -5 "$T/cut.ko"
refuses "with half a signature" "$T/cut.ko"
not_ok "nothing was loaded" grep -q '^memtap ' /proc/modules
done_testing
