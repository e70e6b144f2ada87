#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# perf, ftrace and bpftrace probe the same functions, and come and go.
# timeout: 300
exec ./t_die others
