/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_TRIAGE_RECORDED_H
#define _RENDER_TRIAGE_RECORDED_H

#include <stdio.h>

#include "base/json.h"
#include "history/recorded.h"

/*
 * What the module recorded in @seconds of a history; where there is nothing, nothing is printed.
 * Waits: how often, how long, and which processes.
 */
void render_recorded_waits(const struct recorded *all, double seconds, FILE *out);
/* The flight recorder's events and objects, but for those that are waits. */
void render_recorded_sums(const struct recorded *all, double seconds, FILE *out);
/* The longest kind of waits, and the process that waited longest: part of a line. */
void render_recorded_line(const struct recorded *all, FILE *out);
/* "recorded": {...} */
void render_recorded_json(struct json *j, const struct recorded *all);

#endif
