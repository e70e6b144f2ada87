#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The target ends or calls execve() while somebody attaches or detaches.
exec ./t_die exits
