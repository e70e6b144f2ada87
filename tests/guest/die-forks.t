#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The target forks, loads and unloads a library meanwhile.
exec ./t_die forks
