#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Memory that is missing, and, where the kernel can inject faults, each allocation and
# each copy that fails once.  vmalloc() says so in the kernel's log, with a trace, and so does
# the loading of modules.
# timeout: 1800
# dmesg: allow Call Trace|jump_label_module_notify
exec ./t_inject
