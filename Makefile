# SPDX-License-Identifier: GPL-2.0-or-later
#
# make                  the module for the running kernel, and the tool
# make KERNELDIR=DIR    ... for the kernel whose headers or build are in DIR
# make help             the rest
#
# V=1 shows commands, W=1 more warnings, C=1 runs sparse on the module.

# `make try SHELL=1` means a shell in the guest, not the shell of recipes.
ifeq ($(origin SHELL),command line)
want_shell := 1
endif
override SHELL := /bin/sh

VERSION := $(shell cat VERSION)
PREFIX ?= /usr/local
DESTDIR ?=
SYSCONFDIR ?= /etc
LIBEXECDIR ?= $(PREFIX)/libexec/memtap
UNITDIR ?= $(PREFIX)/lib/systemd/system
UDEVDIR ?= $(PREFIX)/lib/udev
# git's tree that `make dist` packs, and where to
TREE ?= HEAD
DIST ?= build

ifdef KERNELDIR
KVER ?= $(shell cat '$(KERNELDIR)/include/config/kernel.release' 2>/dev/null)
else
KVER ?= $(shell uname -r)
KERNELDIR := /lib/modules/$(KVER)/build
endif

MODDIR = $(DESTDIR)/lib/modules/$(KVER)/updates
DKMSDIR = $(DESTDIR)/usr/src/memtap-$(VERSION)

# what `make dkms-install` takes to build the module, and nothing else
DKMS_FILES = Makefile VERSION COPYING dkms.conf kmod/Kbuild \
	include/uapi/memtap.h include/uapi/memtap_names.h \
	$(filter-out %.mod.c,$(wildcard kmod/*.[ch] kmod/*/*.[ch])) $(wildcard kmod/compat/*.sh) \
	$(wildcard kmod/compat/Kbuild kmod/compat/Makefile kmod/compat/probe/*)

.PHONY: all
all: ctl modules

.PHONY: modules
modules: headers
	+$(MAKE) -C '$(KERNELDIR)' M='$(CURDIR)/kmod' modules

.PHONY: headers
headers:
	@test -e '$(KERNELDIR)/Makefile' || { \
	echo "No kernel headers in $(KERNELDIR): install linux-headers-$(KVER), or say" >&2; \
	echo "KERNELDIR=...; 'make ctl' builds the tool alone, without headers." >&2; exit 1; }

.PHONY: ctl
ctl:
	+$(MAKE) -C ctl

# build/static/memtap: the tool in one file, for machines that lack its libraries
.PHONY: static
static:
	+$(MAKE) -C ctl STATIC=1 BUILD=../build/static

.PHONY: install install-modules install-ctl install-system
install: install-modules install-ctl install-system
install-modules: headers
	@test -e kmod/memtap.ko || { echo "Run 'make' before 'make install'." >&2; exit 1; }
	install -d '$(MODDIR)'
	install -m 644 kmod/memtap.ko '$(MODDIR)/memtap.ko'
	strip --strip-debug '$(MODDIR)/memtap.ko'
	$(if $(DESTDIR),,depmod -a '$(KVER)')
install-ctl:
	+$(MAKE) -C ctl install PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)'

# What a distribution starts, or reads: units, a rule for the device, settings, and what
# collectors read.  Settings that are there already are somebody's.
SHARED = grafana/memtap.json pcp/memtap.url prometheus/memtap.yml
install-system:
	install -D -m 755 packaging/systemd/memtap-recorder \
		'$(DESTDIR)$(LIBEXECDIR)/memtap-recorder'
	install -d '$(DESTDIR)$(UNITDIR)'
	sed 's,@LIBEXECDIR@,$(LIBEXECDIR),' packaging/systemd/memtap-watch.service.in \
		> '$(DESTDIR)$(UNITDIR)/memtap-watch.service'
	for unit in history metrics push textfile; do \
		sed 's,@SBINDIR@,$(PREFIX)/sbin,' packaging/systemd/memtap-$$unit.service.in \
			> '$(DESTDIR)$(UNITDIR)'/memtap-$$unit.service || exit; done
	chmod 644 '$(DESTDIR)$(UNITDIR)'/memtap-*.service
	for f in $(SHARED); do \
		install -D -m 644 packaging/$$f "$(DESTDIR)$(PREFIX)/share/memtap/$$f" || exit; done
	install -D -m 644 packaging/udev/60-memtap.rules \
		'$(DESTDIR)$(UDEVDIR)/rules.d/60-memtap.rules'
	for f in memtap.conf modprobe.conf=modprobe.d/memtap.conf; do \
		to='$(DESTDIR)$(SYSCONFDIR)/'$${f#*=}; \
		test -e "$$to" || install -D -m 644 packaging/etc/$${f%=*} "$$to" || exit; done

# What `make install` put there, with the same PREFIX, DESTDIR and KVER; settings that were
# changed stay.
.PHONY: uninstall uninstall-modules uninstall-ctl uninstall-system
uninstall: uninstall-modules uninstall-ctl uninstall-system
uninstall-modules:
	rm -f '$(MODDIR)/memtap.ko'
	$(if $(DESTDIR),,depmod -a '$(KVER)')
uninstall-ctl:
	+$(MAKE) -C ctl uninstall PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)'
uninstall-system:
	rm -f '$(DESTDIR)$(LIBEXECDIR)/memtap-recorder' \
		'$(DESTDIR)$(UNITDIR)/memtap-watch.service' \
		'$(DESTDIR)$(UNITDIR)/memtap-history.service' \
		'$(DESTDIR)$(UNITDIR)/memtap-push.service' \
		'$(DESTDIR)$(UNITDIR)/memtap-metrics.service' \
		'$(DESTDIR)$(UNITDIR)/memtap-textfile.service' \
		'$(DESTDIR)$(UDEVDIR)/rules.d/60-memtap.rules'
	rm -f $(SHARED:%='$(DESTDIR)$(PREFIX)/share/memtap/%')
	for d in $(dir $(SHARED)) ''; do \
		test ! -d "$(DESTDIR)$(PREFIX)/share/memtap/$$d" || \
			rmdir --ignore-fail-on-non-empty \
				"$(DESTDIR)$(PREFIX)/share/memtap/$$d"; done
	test ! -d '$(DESTDIR)$(LIBEXECDIR)' || \
		rmdir --ignore-fail-on-non-empty '$(DESTDIR)$(LIBEXECDIR)'
	for f in memtap.conf modprobe.conf=modprobe.d/memtap.conf; do \
		to='$(DESTDIR)$(SYSCONFDIR)/'$${f#*=}; \
		if cmp -s packaging/etc/$${f%=*} "$$to"; then rm -f "$$to"; \
		elif test -e "$$to"; then echo "$$to was changed: it stays"; fi; done

# dkms keeps what it was given before; the same version is replaced.
.PHONY: dkms-install
dkms-install:
	$(if $(DESTDIR),,-dkms remove -m memtap -v $(VERSION) --all > /dev/null 2>&1)
	rm -rf '$(DKMSDIR)'
	for f in $(DKMS_FILES); do install -D -m 644 $$f "$(DKMSDIR)/$$f" || exit; done
	chmod +x '$(DKMSDIR)'/kmod/compat/*.sh 2>/dev/null || true
	sed -i 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="$(VERSION)"/' '$(DKMSDIR)/dkms.conf'
ifeq ($(DESTDIR),)
	dkms add -m memtap -v $(VERSION)
	MAKEFLAGS= dkms build -m memtap -v $(VERSION) -k '$(KVER)'
	dkms install --force -m memtap -v $(VERSION) -k '$(KVER)'
endif

# check: what a change must pass.  check-long: what a release must pass, two and a half hours
.PHONY: check check-long check-unit check-style check-fuzz check-guest check-static
.PHONY: fuzz golden
check check-long check-unit check-style check-fuzz:
	@scripts/check $(@:check-%=%)
# with the analysers that take minutes
check-static:
	@scripts/check static-all
# KERNEL=6.1 TEST=faults: one of them; without: all, everywhere.  TIMES=1000 LIMIT=3600: so
# often what is tried often, and so many seconds for each test
check-guest:
	@TIMES='$(TIMES)' LIMIT='$(LIMIT)' scripts/check guest '$(KERNEL)' '$(TEST)'
# each target of tests/fuzz, or TARGET=wire, for so many SECONDS of a processor
fuzz: setup
	+@$(MAKE) -s -k -C tests fuzz TEST='$(or $(TARGET),*)' SECONDS='$(or $(SECONDS),60)'
golden:
	+$(MAKE) ctl
	tests/golden/run --update

# Everything from nothing: a guest, two programs, three reports; SHELL=1: a shell
.PHONY: try
try:
	@scripts/try $(if $(want_shell),--shell) $(KERNEL)

# Workloads and tools side by side: KERNEL=6.1 BENCH=faults TOOLS=memtap,perf ROUNDS=5
.PHONY: bench
bench:
	@BENCH='$(BENCH)' TOOLS='$(TOOLS)' ROUNDS='$(ROUNDS)' scripts/bench $(KERNEL)

# Has an event become dearer than docs/cost.json says?  UPDATE=1 writes it
.PHONY: bench-check
bench-check:
	@scripts/bench-check $(if $(UPDATE),--update)

.PHONY: setup
setup:
	@scripts/setup

# guests' roots, debug kernels, builds: up to 32 GiB (MEMTAP_CACHE_MAX)
.PHONY: clean-cache
clean-cache:
	@scripts/cache clean

.PHONY: dist
dist:
	mkdir -p '$(DIST)'
	git archive --prefix=memtap-$(VERSION)/ -o '$(DIST)/memtap-$(VERSION).tar.gz' '$(TREE)'

# Debian's packages memtap and memtap-dkms, from the tarball, in build/deb.  TOOL=FILE: with
# a tool that was built before
.PHONY: deb
deb: dist
	@packaging/make-deb '$(DIST)/memtap-$(VERSION).tar.gz' '$(DIST)/deb' '$(TOOL)'

# Packages for Enterprise Linux, in build/rpm/rpm.  RPM_KVER=RELEASE: with kmod-memtap for
# that kernel, whose headers are in RPM_KDIR or where its packages put them
.PHONY: rpm
rpm: dist
	@packaging/make-rpm '$(DIST)/memtap-$(VERSION).tar.gz' '$(DIST)/rpm' \
		'kver=$(RPM_KVER)' 'kdir=$(RPM_KDIR)' 'tool=$(TOOL)'

.PHONY: clean
clean:
	rm -rf build out kmod/compat/generated
	@test ! -e '$(KERNELDIR)/Makefile' || \
		$(MAKE) -C '$(KERNELDIR)' M='$(CURDIR)/kmod' clean
	@test ! -e tests/Makefile || $(MAKE) -C tests clean
	@test ! -e tests/guest/Makefile || $(MAKE) -C tests/guest clean

.PHONY: help
help:
	@sed -n 's/^# \{0,1\}//;2,/^$$/p' Makefile | grep '^make\|^V='
	@echo 'make install          module, tool, manual, unit, settings (DESTDIR, PREFIX)'
	@echo 'make uninstall        remove them; changed settings stay'
	@echo 'make static           build/static/memtap: the tool, which needs no shared library'
	@echo 'make dkms-install     the module by dkms, for every kernel to come'
	@echo 'make deb              memtap and memtap-dkms for this Debian, in build/deb'
	@echo 'make rpm              for Enterprise Linux; RPM_KVER=RELEASE: kmod-memtap, too'
	@echo 'make try              a guest, two programs, three reports; SHELL=1: a shell'
	@echo 'make check            style, static, unit, golden, fuzz, guests: half an hour'
	@echo 'make check-long       debug kernels, deaths by the hundred, fuzzing, load: 2.5 hours'
	@echo 'make check-guest KERNEL=6.1 TEST=truth-faults      without: all, on all kernels'
	@echo 'make check-static     checkpatch, coccinelle, gcc and clang as analysers'
	@echo 'make fuzz TARGET=wire SECONDS=600'
	@echo 'make bench BENCH=faults TOOLS=memtap,perf   what it costs, beside its peers'
	@echo 'make bench-check              has an event become dearer than docs/cost.json says?'
	@echo 'make clean-cache      remove the guests below ~/.cache/memtap'
	@echo 'make check-unit | check-style | check-fuzz | golden | setup | dist | clean'
