// SPDX-License-Identifier: GPL-2.0-or-later
/* Suppress known leaks: Valgrind's suppressions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "leaks/suppress_int.h"

#define MAX_LINES	256	/* Valgrind takes 24; a stack of ours has 127 frames */
#define ALL_KINDS	(1U << LEAK_DEFINITE | 1U << LEAK_INDIRECT | 1U << LEAK_POSSIBLE | \
			 1U << LEAK_REACHABLE)

static const char *const kind_words[NR_LEAK_KINDS] = {
	[LEAK_DEFINITE] = "definite", [LEAK_INDIRECT] = "indirect",
	[LEAK_POSSIBLE] = "possible", [LEAK_REACHABLE] = "reachable",
};

const char *suppress_kind(enum leak_kind kind)
{
	return kind_words[kind];
}

/* ---- reading ---- */

static bool begins(const char *at, size_t len, const char *word, const char **rest, size_t *left)
{
	const size_t n = strlen(word);

	if (len < n || memcmp(at, word, n))
		return false;
	*rest = at + n;
	*left = len - n;
	return true;
}

/* The next line of a block: false at its end; or *@ret is why not. */
static bool next_line(struct suppress_text *t, const char **at, size_t *len, int *ret)
{
	*ret = 0;
	if (!suppress_line(t, at, len))
		*ret = suppress_bad(t, "the text ends, and a suppression has no } yet");
	else if (memchr(*at, 0, *len))
		*ret = suppress_bad(t, "it has a zero byte: this is no text");
	return !*ret && !(*len == 1 && **at == '}');
}

/* Is it "Memcheck,Addrcheck:Leak", where @kind is ":Leak"? */
static bool is_kind(const char *at, size_t len, const char *kind)
{
	const char *colon = memchr(at, ':', len);
	char tools[256];

	if (!colon || (size_t)(at + len - colon) != strlen(kind) ||
	    memcmp(colon, kind, strlen(kind)) || colon - at >= (long)sizeof(tools))
		return false;
	snprintf(tools, sizeof(tools), "%.*s", (int)(colon - at), at);
	return has_word(tools, "Memcheck");
}

static int read_kinds(struct suppress_text *t, const char *at, size_t len, __u32 *kinds)
{
	const char *end = at + len;

	*kinds = 0;
	while (at < end) {
		const char *word = at;
		size_t n, i;

		while (at < end && !memchr(", \t", *at, 3))
			at++;
		n = at - word;
		while (at < end && memchr(", \t", *at, 3))
			at++;
		if (!n || (n == 4 && !memcmp(word, "none", 4)))
			continue;
		if (n == 3 && !memcmp(word, "all", 3)) {
			*kinds = ALL_KINDS;
			continue;
		}
		for (i = LEAK_DEFINITE; i < NR_LEAK_KINDS; i++)
			if (n == strlen(kind_words[i]) && !memcmp(word, kind_words[i], n))
				break;
		if (i == NR_LEAK_KINDS)
			return suppress_bad(t, "match-leak-kinds: has definite, indirect, "
					    "possible, reachable, all and none");
		*kinds |= 1U << i;
	}
	return 0;
}

static int add_frame(struct suppress_rule *r, struct suppress_text *t, const char *at, size_t len)
{
	static const char *const words[] = {
		[SUPPRESS_FUN] = "fun:", [SUPPRESS_OBJ] = "obj:", [SUPPRESS_SRC] = "src:",
	};
	enum suppress_by by = SUPPRESS_FUN;
	struct suppress_line *lines;

	if (len == 3 && !memcmp(at, "...", 3))
		by = SUPPRESS_ANY;
	while (by < SUPPRESS_ANY && !begins(at, len, words[by], &at, &len))
		by++;
	if (by == SUPPRESS_ANY && (len != 3 || memcmp(at, "...", 3)))
		return suppress_bad(t, "write fun:NAME, obj:PATH, src:FILE or ... for a frame");
	if (!len)
		return suppress_bad(t, "there is no pattern behind the colon");
	if (r->nr_lines == MAX_LINES)
		return suppress_bad(t, "a suppression has more than 256 frames");
	lines = reallocarray(r->lines, r->nr_lines + 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	r->lines = lines;
	lines[r->nr_lines] = (struct suppress_line){ by, strndup(at, len) };
	return lines[r->nr_lines++].text ? 0 : -ENOMEM;
}

/* @kinds: unless a line of its own says it. */
static int read_frames(struct suppress_rule *r, struct suppress_text *t, __u32 kinds)
{
	const char *at, *rest;
	bool first = true;
	size_t len, left;
	int ret;

	r->kinds = kinds;
	while (next_line(t, &at, &len, &ret)) {
		if (first && kinds == ALL_KINDS &&
		    begins(at, len, "match-leak-kinds:", &rest, &left))
			ret = read_kinds(t, rest, left, &r->kinds);
		else
			ret = add_frame(r, t, at, len);
		if (ret)
			return ret;
		first = false;
	}
	if (!ret && !r->nr_lines)
		ret = suppress_bad(t, "a suppression has no frame");
	return ret;
}

static void drop_last(struct suppress *s)
{
	struct suppress_rule *r = &s->at[--s->nr];

	for (size_t i = 0; i < r->nr_lines; i++)
		free(r->lines[i].text);
	free(r->lines);
	free(r->text);
}

int suppress_add_block(struct suppress *s, struct suppress_text *t)
{
	const char *name, *at;
	size_t name_len, len;
	struct suppress_rule *r;
	bool leak;
	int ret;

	if (!next_line(t, &name, &name_len, &ret))
		return ret ? ret : suppress_bad(t, "a suppression begins with a line for its name");
	if (!next_line(t, &at, &len, &ret))
		return ret ? ret : suppress_bad(t, "behind the name stands TOOL:KIND, as "
						"Memcheck:Leak");
	if (!memchr(at, ':', len))
		return suppress_bad(t, "write TOOL:KIND, as Memcheck:Leak");
	leak = is_kind(at, len, ":Leak");
	if (!leak && !is_kind(at, len, ":Free")) {
		if (!s->skipped++)
			snprintf(s->skipped_kind, sizeof(s->skipped_kind), "%.*s", (int)len, at);
		while (next_line(t, &at, &len, &ret))
			;
		return ret;
	}
	r = suppress_more(s);
	if (!r)
		return -ENOMEM;
	r->text = strndup(name, name_len);
	ret = r->text ? read_frames(r, t, leak ? ALL_KINDS : 1U << SUPPRESS_FREE) : -ENOMEM;
	if (ret)
		drop_last(s);
	return ret;
}

/* ---- matching ---- */

/* @len of @text; '*' is any text, '?' any character. */
static bool fits(const char *pattern, const char *text, size_t len)
{
	const char *star = NULL;
	size_t i = 0, again = 0;

	while (i < len) {
		if (*pattern == '*') {
			star = pattern++;
			again = i;
		} else if (*pattern && (*pattern == '?' || *pattern == text[i])) {
			pattern++;
			i++;
		} else if (star) {
			pattern = star + 1;
			i = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* A symbol's version, as @@GLIBC_2.2.5, may be written, and need not. */
static bool fits_name(const char *pattern, const char *name)
{
	const size_t len = strlen(name), bare = strcspn(name, "@");

	return fits(pattern, name, len) || (bare < len && fits(pattern, name, bare));
}

/* What Valgrind calls "(below main)". */
static bool is_below_main(const char *name)
{
	static const char *const names[] = {
		"__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl",
		"generic_start_main", "_start",
	};
	const size_t len = strcspn(name, "@.");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return true;
	return false;
}

static bool fits_function(const char *pattern, const struct suppress_frame *f)
{
	if (!f->name)
		return false;
	return fits_name(pattern, f->name) || (f->linkage && fits_name(pattern, f->linkage)) ||
	       (is_below_main(f->name) && fits_name(pattern, "(below main)"));
}

/* "FILE" or "FILE:LINE" */
static bool fits_source(const char *pattern, const struct suppress_frame *f)
{
	char *text;
	bool is;

	if (!f->file)
		return false;
	if (fits_name(pattern, f->file) || fits_name(pattern, basename(f->file)))
		return true;
	if (!strchr(pattern, ':') || asprintf(&text, "%s:%d", basename(f->file), f->line) < 0)
		return false;
	is = fits_name(pattern, text);
	free(text);
	return is;
}

bool suppress_is_new(const char *linkage)
{
	return linkage && (!strncmp(linkage, "_Znw", 4) || !strncmp(linkage, "_Zna", 4));
}

/* libstdc++'s new[] jumps to new, and is in no stack but Valgrind's, which has its own. */
static bool fits_new(const char *text, const struct suppress_frame *f)
{
	struct suppress_frame array = { .name = "operator new[]" };
	char linkage[64];

	if (!suppress_is_new(f->linkage) || f->linkage[3] != 'w')
		return false;
	snprintf(linkage, sizeof(linkage), "_Zna%s", f->linkage + 4);
	array.linkage = linkage;
	return fits_function(text, &array);
}

/*
 * @innermost: the function that allocates.  Under Valgrind it lies in a library of Valgrind's own,
 * which memtap has no need of.
 */
static bool fits_frame(const struct suppress_line *l, const struct suppress_frame *f,
		       bool innermost)
{
	switch (l->by) {
	case SUPPRESS_FUN:
		return fits_function(l->text, f) || (innermost && fits_new(l->text, f));
	case SUPPRESS_SRC:
		return fits_source(l->text, f);
	default:
		return (innermost && strstr(l->text, "vgpreload_")) ||
		       (f->path && fits(l->text, f->path, strlen(f->path)));
	}
}

/*
 * Frames between two "..." as early as they can be: behind the last one the stack may go on, so
 * that no later place would do better.
 */
static bool fits_stack(const struct suppress_rule *r, const struct suppress_frame *stack, size_t nr)
{
	size_t line = 0, at = 0, again = 0, star = SIZE_MAX;

	while (line < r->nr_lines) {
		if (r->lines[line].by == SUPPRESS_ANY) {
			star = line++;
			again = at;
		} else if (at < nr && fits_frame(&r->lines[line], &stack[at], !at)) {
			line++;
			at++;
		} else if (star != SIZE_MAX && again < nr) {
			line = star + 1;
			at = ++again;
		} else {
			return false;
		}
	}
	return true;
}

bool suppress_block_matches(const struct suppress_rule *r, const struct suppress_frame *stack,
			    size_t nr, enum leak_kind kind)
{
	const __u32 kinds = kind == LEAK_UNKNOWN ? 1U << LEAK_DEFINITE | 1U << LEAK_POSSIBLE :
						   1U << kind;

	if (!(r->kinds & kinds))
		return false;
	if (fits_stack(r, stack, nr))
		return true;
	/* (below Valgrind's new there is no malloc) */
	return nr > 1 && stack[0].name && !strcmp(stack[0].name, "malloc") &&
	       suppress_is_new(stack[1].linkage) && fits_stack(r, stack + 1, nr - 1);
}
