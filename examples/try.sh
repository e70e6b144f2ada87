#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# try.sh OUTDIR: three pictures of what memtap shows, each under a screen: who leaks, who
# grows, and from where, as a flame graph.  Runs where the module is loaded (`make try`
# runs it in a guest).  Whole reports, and the flame graph, are left in OUTDIR.
set -euo pipefail

out=${1:?usage: try.sh OUTDIR}
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$here/encryptor:$here/library:$PATH
MIB=16
KEY=$(printf '%064d' 7)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$out"
for program in encryptor library; do
	command -v $program > /dev/null || make -s -C "$here/$program"
done
head -c ${MIB}M /dev/urandom > "$work/input"
input=("$KEY" "$work/input" "$work/output")

# picture TITLE, with what is below it
picture() { printf '\n== %s\n\n' "$*"; }
# show COMMAND...: as if it were typed; all that it prints goes to the report $report
show() {
	printf '$ %s\n' "$*" | sed "s|$KEY|KEY|; s|$work/||g; s|$out/||g"
	"$@" > "$report" 2>&1 || { cat "$report"; exit 1; }
}

picture "Who leaks? A library lends 200 books, and forgets every fourth."
report=$out/leaks.txt
show memtap leaks -- library
# the stacks, the verdict, whether anything was missed
awk '/^\[.* stacks? with/, /^$/ { if (NF && !/\[libc\.so\.6\+|start_thread|clone3/) print }
	/^LEAK SUMMARY/, /^$/ { if (NF) print }
	/ calls: / { print }' "$report"

picture "Who grows? A program encrypts $MIB MiB, in chunks of 256 KiB."
report=$out/mmap.txt
show memtap mmap --top 2 -- encryptor "${input[@]}"
# of each stack what is the program's own
awk '/^m(unmap|remap|protect): / { other = 1 }
	/^mappings that/ { other = own = 0 }
	other { next }
	/^  [^ ]/ && !/^  not |^  shown/ { own = !/^  (\[|mmap|__libc_start|_start|run\(|__GI_)/ }
	/^  [^ ]|^    / && own
	/^    / && !own { print }
	/^mmap: / || /^mappings that can / || / events: / { print }' "$report"
counts() { memtap stat -- "$1" "${input[@]}" 2> "$work/log"; }
{ counts encryptor; echo repaired; counts encryptor-repaired; } > "$out/repaired.txt"
awk -v of="$MIB MiB of input" '
	BEGIN { name["brk"] = "brk calls"; name["mmap"] = "mmap calls"
		name["minor-fault"] = "page faults" }
	/^repaired/ { fixed = 1 }
	$NF in name { n[$NF, fixed + 0] = $2 }
	END {
		printf "\n%-18s %9s %9s\n", of, "broken", "repaired"
		for (e in name)
			printf "%-18s %9d %9d\n", name[e], n[e, 0], n[e, 1]
	}' "$out/repaired.txt"

picture "From where? The pages that it touches: the widest path of a flame graph."
report=$out/faults.txt
show memtap faults --flame "$out/faults.html" -- encryptor "${input[@]}"
memtap stacks minor-fault -q --folded -o "$work/folded" -- encryptor "${input[@]}" 2> "$work/log"
# its widest path, as far as the program's own code goes
awk '{
		n = $NF
		sub(/ [0-9]+$/, "")
		all += n
		depth = split($0, frame, ";")
		path = ""
		for (i = 1; i <= depth; i++) {
			path = path ";" frame[i]
			pages[path] += n
			name[path] = frame[i]
			level[path] = i
		}
	}
	END {
		at = ""
		for (l = 1; ; l++) {
			best = ""
			for (p in pages)
				if (level[p] == l && index(p, at ";") == 1 &&
				    (best == "" || pages[p] > pages[best]))
					best = p
			if (best == "" || pages[best] * 3 < all || name[best] ~ /_\[k\]$/)
				break
			printf "  %5.1f%%  %*s%s\n", 100 * pages[best] / all, l - 1, "",
				substr(name[best], 1, 70)
			at = best
		}
	}' "$work/folded"
grep -E 'events: ' "$report"
echo "The whole graph: ${out##*/}/faults.html, one file, for any browser."
