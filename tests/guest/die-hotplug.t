#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Processors go and come while somebody attaches, runs, reads, detaches.
exec ./t_die hotplug
