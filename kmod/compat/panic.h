/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_PANIC_H
#define _COMPAT_PANIC_H

#include <linux/kernel.h>
#include <linux/notifier.h>

#ifdef HAVE_PANIC_NOTIFIER_HEADER		/* since v5.14 */
#include <linux/panic_notifier.h>
#endif

#endif
