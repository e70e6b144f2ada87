#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The example program that grows, and what memtap says of it: broken, repaired.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

dir=../../examples/encryptor
key=$(printf '%064d' 7)
MIB=8
CHUNKS=$((MIB * 4))
head -c ${MIB}M /dev/urandom > "$T/in"

# It encrypts, or the rest would be about nothing.
"$dir/encryptor" "$key" "$T/in" "$T/out" 2> /dev/null
"$dir/encryptor-repaired" -d "$key" "$T/out" "$T/back" 2> /dev/null
same_file "$T/back" "$T/in" "what the broken one encrypts the repaired one decrypts"
"$dir/encryptor-repaired" "$key" "$T/in" "$T/out" 2> /dev/null
openssl enc -chacha20 -K "$key" \
	-iv "01000000$(head -c 12 "$T/out" | od -An -tx1 | tr -d ' \n')" \
	-in "$T/in" -out "$T/openssl"
tail -c +13 "$T/out" | cmp -s - "$T/openssl"
is $? 0 "openssl encrypts to the same bytes"

# of PROGRAM EVENT [OPTIONS]: folded calls, into $T/got
of() {
	local program=$1
	shift
	watch "$@" -- -- "$dir/$program" "$key" "$T/in" "$T/out"
}
calls() { awk -v re="${1:-.}" '$0 ~ re { n += $NF } END { print n + 0 }' "$T/got"; }

of encryptor mmap
broken=$(calls)
cmp_ok "$(calls 'encrypt_file.*;read_in_chunks.*;secure_alloc.*;.*mmap')" -ge $CHUNKS \
	"mmap: the broken one maps each chunk, in read_in_chunks, through libc"
of encryptor-repaired mmap
repaired=$(calls)
cmp_ok "$(calls read_in_chunks)" -eq 0 "mmap: the repaired one does not"
cmp_ok $((broken - repaired)) -ge $((CHUNKS - 2)) \
	"mmap: the calls that are gone are those of the chunks"
cmp_ok "$repaired" -lt 40 "mmap: what is left does not grow with the input"

of encryptor fault
broken=$(calls)
cmp_ok "$(calls 'encrypt_file.*;process_chunk')" -ge $((MIB * 256)) \
	"faults: the buffer as large as the input, in process_chunk"
cmp_ok "$(calls 'encrypt_file.*;read_in_chunks')" -ge $((MIB * 256)) \
	"faults: the chunks, below read_in_chunks"
of encryptor-repaired fault
within "$(calls)" $((broken / 2)) 15 "faults: the repaired one has about half of them"
cmp_ok "$(calls 'encrypt_file.*;process_chunk')" -le 64 "faults: its buffer is one chunk"

of encryptor brk
broken=$(calls)
of encryptor-repaired brk
cmp_ok "$(calls)" -lt "$broken" "brk: the tags of chunks that are kept make the heap grow"
# a recording with an interval has parts of the time: together they are what was counted
exits 0 "record with an interval" memtap record -o "$T/parts.memtap" -U mmap 0.1 -- \
	"$dir/encryptor" "$key" "$T/in" "$T/out"
exits 0 "its flame graph" memtap report "$T/parts.memtap" -q --flame "$T/parts.html" -o "$T/report"
python3 - "$T/parts.html" > "$T/parts" << 'END'
import json, re, sys
page = open(sys.argv[1]).read()
text = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)[1]
data = json.loads(text)
sums, parts = [0, 0], set()
def walk(node):
    for line in node.get("t", []):
        parts.add(line[0])
        for i in 0, 1:
            sums[i] += line[1 + i]
    for child in node.get("c", []):
        walk(child)
walk(data["tree"])
times = data["spans"]
print(sums == [data["tree"]["v"], data["tree"]["m"][0]] and times == sorted(times))
print(len(times) - 1, len(parts))
END
is "$(head -n 1 "$T/parts")" True "parts of the time are in their order, and have all"
cmp_ok "$(sed -n '2s/ .*//p' "$T/parts")" -ge 2 "there are several"
done_testing
