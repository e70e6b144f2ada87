#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Memory that is missing, and, where the kernel can inject faults, each allocation and
# each copy that fails once.  vmalloc() says so in the kernel's log, with a trace, and so does
# the loading of modules.  Kprobes are disabled with a warning, and a second time; after that the
# kernel's own count of probes is wrong, and single ones may stay silent.
# needs: last
# timeout: 1800
# dmesg: allow Call Trace|jump_label_(module_notify|del_module)|arm_kprobe_ftrace|RIP: 0010
# The kernel ends who cannot be told the CPU (rseq), for want of a page.
export GLIBC_TUNABLES=glibc.pthread.rseq=0
# who has a bound for each test has a larger one for this: its scenes are forty
[ -z "${WITHIN:-}" ] || export WITHIN=$((WITHIN * 4))
panic=/proc/sys/kernel/panic_on_warn
was=$(cat $panic)
max=$(cat /sys/module/memtap/parameters/max_mem)
status=0
echo 0 > $panic
./t_inject || status=$?
echo "$was" > $panic
echo "$max" > /sys/module/memtap/parameters/max_mem
exit $status
