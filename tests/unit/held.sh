# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests of what blocks are and what holds them: what a program says of itself, in $work/said,
# against JSON in $work/json.  To be sourced after check.sh.

# shellcheck disable=SC2154
# begin PROGRAM ARG...: $case is its process
begin() {
	start_until "$work/said" '^ready' "$@"
	case=$started
}
end() {
	kill "$case" 2> /dev/null
	wait "$case" 2> /dev/null
	case=''
}

# shellcheck disable=SC2154
# held: each line that the program said, against kinds and holders in JSON
held() {
	python3 - "$work/json" "$work/said" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		for line in open(sys.argv[2]):
		    word = line.rstrip('\n').split('\t')
		    part = word[1] if len(word) > 1 else ''
		    if word[0] == 'kind':
		        got = sum(k['blocks'] for k in d['kinds'] if part in k['kind'] and
		                  (k['what'] == 'pointers') == part.startswith('pointers'))
		    elif word[0] == 'size':
		        got = sum(s['used_blocks'] for s in d['sizes'] if s['from'] == s['to'] ==
		                  int(part))
		    elif word[0] == 'holder':
		        got = sum(h['retained_blocks'] for h in d['holders'] if part in h['holder'])
		    elif word[0] == 'lost':
		        part = 'unreachable'
		        # (digits of text and what was left behind it may look like an address)
		        got = sum(k['retained_blocks'] for h in d['holders'] for k in h['keeps'] if
		                  h['what'] == 'nothing' or
		                  (h['what'] == 'text' and k['kind'] == '2.0 KiB - 4.0 KiB'))
		    else:
		        continue
		    want = int(word[-1])
		    good = 'ok' if got == want else 'not ok'
		    print('%s - %s %s: %d' % (good, word[0], part, want))
		    if got != want:
		        print('#', got)
		def below(n):
		    return sum(k['bytes'] + below(k) for k in n['keeps'])
		bad = [h for h in d['holders'] if below(h) != h['retained_bytes']]
		print('%s - each holder adds up' % ('not ok' if bad else 'ok'))
		used = sum(a['used_bytes'] for a in d['arenas']) + d['mapped_bytes']
		sums = [sum(h['retained_bytes'] for h in d['holders']),
		        sum(k['bytes'] for k in d['kinds']), d['known_bytes']]
		print('%s - kinds and holders have all bytes in use' % (
		    'ok' if sums == [used] * 3 else 'not ok'))
		if sums != [used] * 3:
		    print('#', sums, used)
	PY
}
# heard: what held() says, as checks
heard() {
	held > "$work/held"
	while read -r line; do
		case $line in
			'ok - '*) check 0 "${line#ok - }" ;;
			'not ok - '*) check 1 "${line#not ok - }" ;;
			*) echo "$line" ;;
		esac
	done < "$work/held"
}
