#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What sessions charge for short processes, and the slots that these take, come back: each budget,
# table and slot has a claim.  100 000 of them in make check-long (soak).
# timeout: 1800
. "$(dirname "$0")/lib.sh"
trap - EXIT
rm -rf "$T"
exec ./t_budgets "${TIMES:-$(rounds 2000 10000)}"
