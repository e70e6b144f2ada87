#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# perf, ftrace and bpftrace probe the same functions, and come and go.
# On newer ones the kernel's own tracers, switched on and off with a busy loop on each
# emulated processor, take minutes without us.
# kernels: 5.10 6.1
# check: once
exec ./t_die others
