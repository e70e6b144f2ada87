#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Who uses the device is killed, or closes it, after any call.
exec ./t_die device
