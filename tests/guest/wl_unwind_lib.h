/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WL_UNWIND_LIB_H
#define _WL_UNWIND_LIB_H

/* wl_unwind_pick.so */
int wl_pick(int n);

/* wl_unwind_one.so and wl_unwind_two.so: the same code with frames of other sizes */
void wl_enter(const char *name);
void wl_relay(void (*fn)(void));

#endif
