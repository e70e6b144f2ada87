#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The contract of the device, as a program of this machine sees it.
# check: all
exec ./t_ioctl
