#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The module is unloaded at any moment: refused, or done, and loaded again.
exec ./t_die rmmod
