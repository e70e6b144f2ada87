/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WL_UNWIND_SIGNAL_H
#define _WL_UNWIND_SIGNAL_H

/* Ways to wl_here() through signal handlers. */
void wl_signal(const char *name);
void wl_signal_altstack(const char *name);
void wl_signal_nested(const char *name);
/* A fault within a function, and at the first instruction of one. */
void wl_signal_fault(const char *name);
void wl_signal_first(const char *name);

#endif
