#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the module costs while the machine is healthy and nobody asks anything: instructions for
# a page fault, and for a call that allocates, without it, with it, and with the flight recorder
# on what waits for memory. The clock of this guest counts instructions.
# guest: --icount
# needs: unloaded
# check: long
. "$(dirname "$0")/lib.sh"

cost() { ./wl_cost > "$T/$1" && read -r _ fault _ alloc < "$T/$1"; }
# (the first run brings all that is needed into memory)
cost first
cost without
diag "without the module:  a fault takes $fault instructions, open() and close() $alloc"
then_fault=$fault then_alloc=$alloc
modprobe memtap
cost with
diag "with it:             $fault and $alloc"
within "$fault" "$then_fault" 0.2 "the module is loaded: nothing per fault"
within "$alloc" "$then_alloc" 0.2 "the module is loaded: nothing per allocation"
echo oom,reclaim,compact,swap > /sys/module/memtap/parameters/watch
cost watched
diag "watch=...,swap:      $fault and $alloc"
within "$fault" "$then_fault" 0.2 "watch=oom,reclaim,compact,swap: nothing per fault"
within "$alloc" "$then_alloc" 0.2 "watch=oom,reclaim,compact,swap: nothing per allocation"
echo > /sys/module/memtap/parameters/watch
rmmod memtap
cost after
diag "without it again:    $fault and $alloc"
within "$fault" "$then_fault" 0.2 "(the measure itself is that exact)"
done_testing
