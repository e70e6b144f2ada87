#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Processors go and come while somebody attaches, runs, reads, detaches.
# timeout: 300
exec ./t_die hotplug
