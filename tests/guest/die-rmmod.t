#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The module is unloaded at any moment: refused, or done, and loaded again.
# timeout: 300
exec ./t_die rmmod
