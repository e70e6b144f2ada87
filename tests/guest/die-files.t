#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Program and library are replaced on disk, or removed, meanwhile.
exec ./t_die files
