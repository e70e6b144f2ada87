#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two memtaps attach to one target and detach, and are killed.
exec ./t_die two
