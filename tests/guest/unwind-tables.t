#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tables of rows, as a program of this machine hands them in.
exec ./t_unwind
