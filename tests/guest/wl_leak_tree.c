// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many paths: every way down a tree of wl_opts.rounds levels is one, by wl_left() or
 * wl_right() at each.  -f says what happens at the end of each path:
 *
 *	one	one block is leaked
 *	mixed	64 blocks of 64 to 4096 bytes are, and as many are not
 *	live	100 000 blocks live at one time, in all
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"
#include "wl_leak.h"

#define MAX_LEVELS	15
#define LIVE		100000

struct wl_line wl_lines[1 << MAX_LEVELS];
const size_t wl_nr_lines = 1 << MAX_LEVELS;

static void *keep[LIVE];

WL_FN void *wl_leaf(size_t n)
{
	void *p = malloc(n);

	if (!p)
		wl_die("malloc");
	wl_frame();
	return p;
}

static void one(unsigned int path)
{
	wl_leaf(24);
	wl_add(path, 1, 24);
}

static void mixed(unsigned int path)
{
	size_t i, n;

	for (i = 0; i < 64; i++) {
		n = 64UL << i % 7;
		wl_leaf(n);
		wl_add(path, 1, n);
		free(wl_leaf(n));
	}
}

static void live(unsigned int path)
{
	const unsigned int share = LIVE >> wl_opts.rounds;
	unsigned int i;

	for (i = 0; i < share; i++) {
		keep[path * share + i] = wl_leaf(32);
		wl_add(path, 1, 32);
	}
}

static void (*at_end)(unsigned int path);

WL_FN void wl_left(unsigned int levels, unsigned int path);
WL_FN void wl_right(unsigned int levels, unsigned int path);

static inline __attribute__((always_inline)) void further(unsigned int levels, unsigned int path)
{
	if (levels) {
		wl_left(levels - 1, 2 * path);
		wl_right(levels - 1, 2 * path + 1);
	} else {
		at_end(path);
	}
	__asm__ volatile("");
}

WL_FN void wl_left(unsigned int levels, unsigned int path)
{
	further(levels, path);
}

WL_FN void wl_right(unsigned int levels, unsigned int path)
{
	further(levels, path);
}

static void name(unsigned int path)
{
	char text[32 + 16 * MAX_LEVELS] = "wl_worker;wl_work";
	unsigned long level;

	for (level = wl_opts.rounds; level--; )
		strcat(text, path >> level & 1 ? ";wl_right" : ";wl_left");
	wl_lines[path].event = "leak";
	wl_lines[path].stack = strdup(strcat(text, ";wl_leaf"));
}

int wl_prepare(void)
{
	unsigned int path;

	if (!wl_opts.file || wl_opts.rounds > MAX_LEVELS)
		return -1;
	at_end = !strcmp(wl_opts.file, "one") ? one :
		 !strcmp(wl_opts.file, "mixed") ? mixed : live;
	for (path = 0; path < 1U << wl_opts.rounds; path++)
		name(path);
	return 0;
}

void wl_work(unsigned int thread)
{
	(void)thread;
	further(wl_opts.rounds, 0);
}
