#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The same as ioctl.t, from a 32-bit program.
exec ./t_ioctl32
