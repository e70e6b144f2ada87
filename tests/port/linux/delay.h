/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of compat/removal.c: what it uses of the kernel, made by the test. */
#ifndef _PORT_DELAY_H
#define _PORT_DELAY_H

#include <stdbool.h>

#include "port.h"

enum module_state { MODULE_STATE_LIVE, MODULE_STATE_COMING, MODULE_STATE_GOING };

struct module {
	enum module_state state;
};

extern struct module this_module;
#define THIS_MODULE	(&this_module)

void msleep(unsigned int ms);
bool try_module_get(struct module *mod);
int pr_err(const char *text, ...) __attribute__((format(printf, 1, 2)));

#endif
