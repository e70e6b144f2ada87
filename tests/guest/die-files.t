#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Program and library are replaced on disk, or removed, meanwhile.
# timeout: 300
exec ./t_die files
