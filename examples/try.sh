#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# try.sh OUTDIR: what memtap says of a program that grows.  Runs where the
# module is loaded (`make try` runs it in a guest): a file encryptor with two
# classic bugs, then its repaired twin; reports here, flame graphs in OUTDIR.
set -euo pipefail

out=${1:?usage: try.sh OUTDIR}
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$here/encryptor:$PATH
MIB=16
KEY=$(printf '%064d' 7)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$out"
[ -x "$here/encryptor/encryptor" ] || make -s -C "$here/encryptor"
head -c ${MIB}M /dev/urandom > "$work/input"

# show COMMAND...: as if it were typed
show() {
	printf '\n$ %s\n' "$*" | sed "s|$KEY|KEY|; s|$work/||g; s|$out/||g"
	"$@"
}

# total EVENT PROGRAM: how often it happens
total() {
	memtap stacks "$1" -q --folded --calls -o "$work/folded" \
		-- "$2" "$KEY" "$work/input" "$work/output" 2>> "$work/log"
	awk '{ n += $NF } END { print n + 0 }' "$work/folded"
}

echo "An encryptor that grows: $MIB MiB of input, in chunks of 256 KiB."
show memtap brk --top 3 -- encryptor "$KEY" "$work/input" "$work/output"
show memtap mmap --top 5 -- encryptor "$KEY" "$work/input" "$work/output"
show memtap faults --top 5 --flame "$out/faults-broken.html" \
	-- encryptor "$KEY" "$work/input" "$work/output"

echo
echo "The same, repaired: chunks are released, the buffer has a constant size."
show memtap faults --top 5 --flame "$out/faults-repaired.html" \
	-- encryptor-repaired "$KEY" "$work/input" "$work/output"
show memtap mmap --top 3 -- encryptor-repaired "$KEY" "$work/input" "$work/output"

printf '\n%-14s %10s %10s\n' "$MIB MiB of input" broken repaired
for event in brk mmap fault; do
	printf '%-14s %10d %10d\n' "$event calls" "$(total $event encryptor)" \
		"$(total $event encryptor-repaired)"
done | sed 's/fault calls/page faults/'
