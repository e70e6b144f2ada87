# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# Forks nobody.
declare -A seen
for ((i = 0; i < 100; i++)); do
	seen[$((i * 7919 % 97))]+="value $i "
done
words=("${!seen[@]}")
f() { local x=${1//a/b}; [[ $x =~ [0-9]+ ]] && REPLY=${BASH_REMATCH[0]}; }
f "${words[*]}"
trap 'REPLY=end' EXIT
printf -v line '%s-%s' "$REPLY" "${#words[@]}"
