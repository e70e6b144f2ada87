#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tables that lie.
exec ./t_unwind_bad_tables
