/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_DOCTOR_H
#define _RENDER_DOCTOR_H

#include <stdio.h>

#include "doctor/doctor.h"

struct doctor_opts {
	FILE *out;
	bool color, json;
	bool quiet;		/* what is well is left out */
};

void render_doctor(const struct doctor *d, const struct doctor_opts *o);

#endif
