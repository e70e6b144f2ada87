#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tables that are too small, stacks too deep: every event is accounted for.
# check: all
exec ./t_account
