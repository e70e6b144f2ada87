#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Allocators in libraries that are loaded while the program runs: their constructors'
# blocks are there.  With jemalloc and tcmalloc, too, which have a lot to do at first.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

own=(--alloc wl_leak_lib.so:lib_take'(size=arg1,ptr=ret)'
	--free wl_leak_lib.so:lib_give'(ptr=arg1)')
# what libc remembers of libraries
leak_skip=';wl_load\t'
leaks "dlopen" "${own[@]}" -- ./wl_leak_dl -n 3 -f ./wl_leak_lib.so -e "$T/truth"
leak_truth "from its start: the constructor's blocks, and all others"
no_mismatch "nothing wrong"

# A program that runs is not held; but what it loads is found, the sooner the better.
target ./wl_leak_dl -n 3 -f ./wl_leak_lib.so
attach "attached" "${own[@]}" -p "$pid"
window
detach
finish
leak_truth "attached: the constructor's blocks, and all others"

probes_clean "nothing is left attached"
done_testing
