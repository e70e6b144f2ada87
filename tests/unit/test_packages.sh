#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What `make install` and the packages install, and that each part of it works.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/unit/check.sh

T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
version=$(< VERSION)
# (flags of the make that runs us are not for those that we run)
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES
make -s ctl > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=$PWD/build/memtap

grep -qx "PACKAGE_VERSION=\"$version\"" dkms.conf
check $? "dkms.conf: has the version of VERSION"
grep -qx "## $version" CHANGES.md
check $? "CHANGES.md: has a section of this version"

# ---- make install

make -s install-ctl install-system PREFIX=/usr DESTDIR="$T/root" > "$T/log" 2>&1
check $? "make install: into another directory"
missing=''
for f in usr/sbin/memtap usr/share/man/man8/memtap.8 usr/share/man/man8/memtap-leaks.8 \
	usr/share/man/man5/memtap.5 usr/share/man/man5/memtap.conf.5 \
	etc/memtap.conf etc/modprobe.d/memtap.conf \
	usr/share/bash-completion/completions/memtap usr/share/zsh/vendor-completions/_memtap \
	usr/lib/systemd/system/memtap-watch.service \
	usr/lib/systemd/system/memtap-push.service \
	usr/lib/systemd/system/memtap-history.service usr/lib/udev/rules.d/60-memtap.rules \
	usr/lib/systemd/system/memtap-metrics.service \
	usr/lib/systemd/system/memtap-textfile.service usr/share/memtap/grafana/memtap.json \
	usr/share/memtap/pcp/memtap.url usr/share/memtap/prometheus/memtap.yml \
	usr/libexec/memtap/memtap-recorder; do
	[ -s "$T/root/$f" ] || missing+=" $f"
done
[ -z "$missing" ]
check $? "make install: all is there$missing"
echo mine > "$T/root/etc/memtap.conf"
make -s install-system PREFIX=/usr DESTDIR="$T/root" && [ "$(< "$T/root/etc/memtap.conf")" = mine ]
check $? "make install: settings that are there stay as they are"

# what was there before stays, and nothing else
for prefix in /usr /usr/local; do
	rm -rf "$T/away"
	mkdir -p "$T/away$prefix/share/man/man8" "$T/away$prefix/sbin" "$T/away/etc/modprobe.d" \
		"$T/away/lib/modules/1.2.3/updates"
	touch "$T/away$prefix/share/man/man8/memtapx.8" "$T/away$prefix/sbin/other" \
		"$T/away/lib/modules/1.2.3/updates/other.ko" "$T/away/etc/modprobe.d/other.conf"
	(cd "$T/away" && find . ! -type d | sort) > "$T/before"
	make -s install-ctl install-system PREFIX=$prefix DESTDIR="$T/away" > "$T/log" 2>&1 &&
		touch "$T/away/lib/modules/1.2.3/updates/memtap.ko" &&
		[ "$(find "$T/away" -name '*memtap*' ! -type d | wc -l)" -gt 40 ]
	check $? "make uninstall: PREFIX=$prefix: all is there before"
	make -s uninstall PREFIX=$prefix DESTDIR="$T/away" KVER=1.2.3 > "$T/log" 2>&1 &&
		[ ! -s "$T/log" ]
	check $? "make uninstall: PREFIX=$prefix: says nothing"
	(cd "$T/away" && find . ! -type d | sort) > "$T/after"
	diff "$T/before" "$T/after" | sed 's/^/# /'
	cmp -s "$T/before" "$T/after"
	check $? "make uninstall: PREFIX=$prefix: removes what make install put there"
	[ ! -e "$T/away$prefix/libexec/memtap" ]
	check $? "make uninstall: PREFIX=$prefix: with its directory"
done
make -s uninstall PREFIX=/usr DESTDIR="$T/away" KVER=1.2.3 > "$T/log" 2>&1
check $? "make uninstall: nothing to remove is no failure"
make -s install-system PREFIX=/usr DESTDIR="$T/away" && echo mine > "$T/away/etc/memtap.conf" &&
	make -s uninstall PREFIX=/usr DESTDIR="$T/away" KVER=1.2.3 > "$T/log" 2>&1 &&
	[ "$(< "$T/away/etc/memtap.conf")" = mine ] &&
	[ ! -e "$T/away/etc/modprobe.d/memtap.conf" ] &&
	grep -q 'memtap.conf was changed' "$T/log"
check $? "make uninstall: changed settings stay, and it says so"

unit=$T/root/usr/lib/systemd/system/memtap-watch.service
grep -qx 'ExecStart=/usr/libexec/memtap/memtap-recorder start' "$unit"
check $? "unit: starts the program that was installed"
history=$T/root/usr/lib/systemd/system/memtap-history.service
grep -qx 'ExecStart=/usr/sbin/memtap history start' "$history"
check $? "unit: starts the history"
push=$T/root/usr/lib/systemd/system/memtap-push.service
grep -qx 'ExecStart=/usr/sbin/memtap push --spool /var/lib/memtap/push/service $PUSH' "$push"
check $? "unit: starts memtap push"
if command -v systemd-analyze > /dev/null; then
	# (the programs are not at their place here)
	sed "s,=/usr/libexec,=$T/root/usr/libexec," "$unit" > "$T/memtap-watch.service"
	for unit in history metrics push textfile; do
		sed "s,=\(-*\)/usr/sbin,=\1$T/root/usr/sbin," "${history/history/$unit}" \
			> "$T/memtap-$unit.service"
	done
	systemd-analyze verify --man=no "$T"/memtap-{watch,history,metrics,push,textfile}.service \
		> "$T/log" 2>&1 && [ ! -s "$T/log" ]
	rc=$?
	sed 's/^/# /' "$T/log"
	check $rc "unit: systemd-analyze has nothing to say"
else
	check 0 "unit: systemd-analyze has nothing to say # SKIP no systemd-analyze"
fi

# ---- the flight recorder's program

mkdir "$T/parameters"
recorder() {
	env MEMTAP_PARAMETERS="$T/parameters" "$@" 2> "$T/err"
}
program=packaging/systemd/memtap-recorder
parameters() { echo "$(< "$T/parameters/watch") $(< "$T/parameters/pid")"; }
(
	set -a
	# shellcheck source=/dev/null
	. packaging/etc/memtap.conf
	recorder $program start
) && [ "$(parameters)" = "reclaim,compact,swap 0" ]
check $? "recorder: watches what memtap.conf says"
recorder WATCH=brk PID=7 $program start && [ "$(parameters)" = "brk 7" ]
check $? "recorder: takes events and a process"
recorder $program stop && [ "$(parameters)" = " 7" ]
check $? "recorder: stops"
rm "$T/parameters/watch"
ln -s /dev/full "$T/parameters/watch"
recorder WATCH=nonsense $program start
[ $? = 1 ] && grep -q '^memtap-recorder: the module does not take watch=' "$T/err"
check $? "recorder: what the module refuses is an error"
recorder $program nonsense
[ $? = 2 ] && grep -q '^usage: ' "$T/err"
check $? "recorder: a wrong argument is refused"

# ---- zsh

complete_zsh() {
	zsh -fc 'compadd() { shift; print -rl -- $@; }
		_files() { print FILES; }
		_pids() { print PIDS; }
		words=("$@") CURRENT=$#
		source ctl/completion/_memtap' zsh "$tool" "$@"
}
if command -v zsh > /dev/null; then
	[ "$(complete_zsh "")" = "$($tool help --words)" ]
	check $? "zsh: offers all commands"
	[ "$(complete_zsh leaks --)" = "$($tool help --words leaks | grep -v ' ')" ]
	check $? "zsh: offers the options of a command"
	words="process thread comm cgroup container program file mapping none"
	[ "$(complete_zsh stacks --by "" | paste -sd' ')" = "$words" ]
	check $? "zsh: offers the words of --by"
	[ "$(complete_zsh faults -p "")" = PIDS ] && [ "$(complete_zsh report "")" = FILES ]
	check $? "zsh: offers processes and files"
	complete_zsh stacks "" | grep -qx usdt:
	check $? "zsh: offers the kinds of events"
else
	check 0 "zsh: completion # SKIP no zsh"
fi

make -s dkms-install DESTDIR="$T/dkms"

# ---- Debian, Enterprise Linux: this tree with what is not committed; the tool as it was
# built above

tree=$(git stash create 2> /dev/null)
if ! type -P dpkg-buildpackage dh_dkms lintian > /dev/null; then
	check 0 "make deb # SKIP no dpkg-dev, debhelper, dh-dkms, lintian"
elif ! git rev-parse -q --verify HEAD > /dev/null; then
	check 0 "make deb # SKIP no git repository"
else
	DEB_BUILD_OPTIONS=noautodbgsym make -s deb TREE="${tree:-HEAD}" TOOL="$tool" \
		DIST="$T/dist" > "$T/log" 2>&1
	rc=$?
	sed 's/^/# /' "$T/log"
	check $rc "make deb"
	deb=$T/dist/deb/memtap_$version-1_$(dpkg --print-architecture).deb
	dkms=$T/dist/deb/memtap-dkms_$version-1_all.deb
	dpkg-deb -c "$deb" | awk '{ print $6 }' > "$T/files"
	missing=''
	for f in usr/sbin/memtap usr/share/man/man8/memtap.8.gz \
		usr/share/man/man8/memtap-leaks.8.gz \
		usr/share/man/man5/memtap.5.gz usr/share/man/man5/memtap.conf.5.gz etc/memtap.conf \
		etc/modprobe.d/memtap.conf lib/systemd/system/memtap-watch.service \
		lib/systemd/system/memtap-push.service \
		lib/systemd/system/memtap-history.service \
		lib/systemd/system/memtap-metrics.service usr/share/memtap/grafana/memtap.json \
		lib/udev/rules.d/60-memtap.rules usr/libexec/memtap/memtap-recorder \
		usr/share/bash-completion/completions/memtap \
		usr/share/zsh/vendor-completions/_memtap usr/share/doc/memtap/copyright; do
		grep -qx "./$f" "$T/files" || missing+=" $f"
	done
	[ -z "$missing" ]
	check $? "deb: all is there$missing"
	[ "$(dpkg-deb --info "$deb" conffiles | sort | paste -sd' ')" = \
		"/etc/memtap.conf /etc/modprobe.d/memtap.conf" ]
	check $? "deb: settings are conffiles"
	dpkg-deb -f "$deb" Depends | grep -q libdw1
	check $? "deb: depends on the libraries of the tool"
	# the sources that make dkms-install takes, and no others
	mkdir "$T/unpacked"
	dpkg-deb -x "$dkms" "$T/unpacked"
	diff -r "$T/dkms/usr/src" "$T/unpacked/usr/src" > "$T/log"
	rc=$?
	sed 's/^/# /' "$T/log"
	check $rc "deb: memtap-dkms has the module's sources"
	lintian --no-cfg --allow-root --fail-on error,warning \
		--suppress-tags initial-upload-closes-no-bugs "$deb" "$dkms" > "$T/log" 2>&1
	rc=$?
	sed 's/^/# /' "$T/log"
	check $rc "deb: lintian"
fi

if ! type -P rpmbuild rpm rpmlint > /dev/null; then
	check 0 "make rpm # SKIP no rpm, rpmlint"
elif ! git rev-parse -q --verify HEAD > /dev/null; then
	check 0 "make rpm # SKIP no git repository"
else
	make -s rpm TREE="${tree:-HEAD}" TOOL="$tool" DIST="$T/dist" > "$T/log" 2>&1
	rc=$?
	sed 's/^/# /' "$T/log"
	check $rc "make rpm"
	rpms=$T/dist/rpm/rpm
	rpm=$rpms/memtap-$version-1.$(uname -m).rpm
	rpm -qlp "$rpm" > "$T/files" 2> /dev/null
	missing=''
	for f in usr/sbin/memtap usr/share/man/man8/memtap.8.gz \
		usr/share/man/man8/memtap-leaks.8.gz \
		usr/share/man/man5/memtap.5.gz usr/share/man/man5/memtap.conf.5.gz etc/memtap.conf \
		etc/modprobe.d/memtap.conf usr/lib/systemd/system/memtap-watch.service \
		usr/lib/systemd/system/memtap-history.service \
		usr/lib/systemd/system/memtap-push.service \
		usr/lib/systemd/system/memtap-metrics.service usr/share/memtap/pcp/memtap.url \
		usr/lib/udev/rules.d/60-memtap.rules usr/libexec/memtap/memtap-recorder \
		usr/share/bash-completion/completions/memtap \
		usr/share/zsh/site-functions/_memtap; do
		grep -qx "/$f" "$T/files" || missing+=" $f"
	done
	[ -z "$missing" ]
	check $? "rpm: all is there$missing"
	[ "$(rpm -qcp "$rpm" 2> /dev/null | paste -sd' ')" = \
		"/etc/memtap.conf /etc/modprobe.d/memtap.conf" ]
	check $? "rpm: settings are configuration"
	(cd "$T/dkms" && find usr/src -type f | sed 's,^,/,' | sort) > "$T/sources"
	rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' \
		"$rpms/memtap-dkms-$version-1.noarch.rpm" 2> /dev/null |
		sed -n 's/^-[^ ]* //p' | sort | diff "$T/sources" - > "$T/log"
	rc=$?
	sed 's/^/# /' "$T/log"
	check $rc "rpm: memtap-dkms has the module's sources"
	# (whoever publishes them signs them; udev reads its rules below /usr/lib everywhere)
	rpmlint "$rpms"/*.rpm "$T/dist/rpm/SPECS/memtap.spec" 2>&1 | grep ': E: ' |
		grep -v -e ': E: no-signature' -e 'hardcoded-library-path.*/udev/' > "$T/log"
	sed 's/^/# /' "$T/log"
	[ ! -s "$T/log" ]
	check $? "rpm: rpmlint has no error"
fi
checked
