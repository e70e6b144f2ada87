#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# memtap is killed while it attaches, runs, detaches, reads.
exec ./t_die tool
