/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_SHM_H
#define _RENDER_SHM_H

#include <stdio.h>

#include "target/shm.h"

void render_shm(const struct shm *s, FILE *out);
void render_shm_json(const struct shm *s, FILE *out);

#endif
