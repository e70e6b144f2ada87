/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRIAGE_RENDER_INT_H
#define _TRIAGE_RENDER_INT_H

#include "base/json.h"
#include "render/triage.h"

/* What both pages have: the head, who grows, what was not read, what to do next. */
void page_head(const struct triage *t, const struct triage_opts *o, const char *what);
void page_footer(const struct triage *t, const struct triage_opts *o);

enum page_color { COLOR_NONE, COLOR_GOOD, COLOR_WATCH, COLOR_BAD, COLOR_STRONG };

/* @text, between what turns the color on and off. */
void page_paint(const struct triage_opts *o, enum page_color color, const char *text);
enum page_color page_level(enum triage_level level);

/* How holders of a kind are shown. */
struct page_holders {
	const char *kind;
	const struct machine_growth *at;
	size_t nr;
	size_t top;		/* rows, if so many are worth it */
	const char *unit;	/* behind the number of objects, or NULL */
	bool limits;		/* "of 2.0 GiB" */
	bool no_root;		/* the root of all cgroups says nothing that is not above */
	bool only_growing;
	bool pss;		/* of processes: it was asked for */
};

size_t page_holders(const struct triage *t, const struct triage_opts *o,
		    const struct page_holders *p);

void json_head(struct json *j, const struct triage *t, const struct triage_opts *o,
	       const char *document);
void json_holders(struct json *j, const char *key, const struct machine_growth *at, size_t nr);
void json_footer(struct json *j, const struct triage *t);
void json_account(struct json *j, const struct triage *t);

/* "free", "slab, unreclaimable" ... */
extern const char *const kind_words[NR_MACHINE_KIND];

void render_triage_json(const struct triage *t, const struct triage_opts *o);
void render_census_json(const struct triage *t, const struct triage_opts *o);

#endif
