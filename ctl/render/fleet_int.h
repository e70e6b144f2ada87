/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_FLEET_INT_H
#define _RENDER_FLEET_INT_H

/* Shared by fleet.c and fleet_json.c only. */
#include "render/fleet.h"

#define AMOUNT_LEN	64

int render_fleet_diff_json(const struct fleet_view *v, FILE *out);
int render_fleet_outliers_json(const struct fleet_view *v, FILE *out);

#endif
