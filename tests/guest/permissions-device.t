#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Who may use the device, and who may not, in whatever way he came to it.
exec ./t_permissions
