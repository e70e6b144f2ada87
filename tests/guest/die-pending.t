#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sessions end while threads sleep in functions whose returns are probed.
exec ./t_die pending
