/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TOP_BATCH_H
#define _TOP_BATCH_H

#include <stdio.h>

#include "top/state.h"

/* Print one view without a terminal: as a page of any length, or as a line of JSON. */
int batch_print(struct top *t, FILE *out);	/* -ENOMEM */
void batch_json(const struct top *t, FILE *out);

#endif
