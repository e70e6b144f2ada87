// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Variables of a source line as arguments.  DWARF says where each is: in a register, or in memory
 * at a distance from one.  Arguments have words for that, so a variable's name is replaced with
 * them: "n" becomes "n=*(rbp-20):s32".
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "elf/source.h"
#include "session/args_int.h"
#include "session/plan.h"

#define NAME		64

struct rewrite {
	const struct plan *plan;
	const struct plan_item *item;
	struct source *source;
	FILE *out;
	size_t items;
	char names[MEMTAP_MAX_SHOWN][NAME];	/* that the list has */
	size_t nr_names;
};

/* ---- words ---- */

static size_t word_len(const char *s)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*s) && *s != '_')
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* Of what is no word: a number, or one character. */
static size_t token_len(const char *s)
{
	size_t n = 0;

	while (isdigit((unsigned char)*s) && isalnum((unsigned char)s[n]))
		n++;
	return n ? n : 1;
}

/* Is it NAME=, and not a comparison? */
static bool is_assigned(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return *s == '=' && s[1] != '=' && s[1] != '~';
}

/* What arguments have besides variables; function arguments are known at an entry only. */
static bool is_known(const char *s, size_t len, bool at_entry)
{
	static const char *const names[] = { "pid", "tid", "uid", "cpu", "comm", "free", "node" };
	__u16 reg;
	__u8 type;

	if (at_entry && (args_number(s, len) >= 0 || args_is("ret", s, len) ||
			 args_is("latency", s, len)))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (args_is(names[i], s, len))
			return true;
	return args_register(s, len, &reg, &type);
}

static bool is_named(const struct rewrite *r, const char *name)
{
	for (size_t i = 0; i < r->nr_names; i++)
		if (!strcmp(r->names[i], name))
			return true;
	return false;
}

static void add_name(struct rewrite *r, const char *s, size_t len)
{
	if (r->nr_names < MEMTAP_MAX_SHOWN && len < NAME)
		snprintf(r->names[r->nr_names++], NAME, "%.*s", (int)len, s);
}

/* ---- sentences ---- */

static int wrong(const struct rewrite *r, const char *name, const char *why)
{
	fail_text("%s: %s %s (offset 0x%llx, %s); `memtap list EVENT` shows what can be read",
		  r->item->text, name, why, (unsigned long long)r->item->attach.offset,
		  r->item->in);
	return EXIT_USAGE;
}

static int refuse(const struct rewrite *r, const char *name, const struct source_var *v)
{
	char why[128];

	switch (v->how) {
	case SOURCE_GONE:
		return wrong(r, name, "is optimized out here");
	case SOURCE_CONSTANT:
		return wrong(r, name, "is a constant here: the compiler has put it into the code");
	case SOURCE_EARLY:
		return wrong(r, name, "is not stored yet where this function begins; use the line "
			     "of its first statement");
	case SOURCE_FORM:
		return wrong(r, name, "is in a place that memtap cannot read");
	case SOURCE_TYPE:
		snprintf(why, sizeof(why), "is a %s; memtap reads numbers, pointers and strings",
			 v->words);
		return wrong(r, name, why);
	default:
		return wrong(r, name, "is no variable that is visible here");
	}
}

/* ---- places ---- */

static void put_place(FILE *out, const struct source_var *v)
{
	if (v->offset)
		fprintf(out, "(%s%+lld)", v->reg, (long long)v->offset);
	else
		fputs(v->reg, out);
}

static void put_var(FILE *out, const struct source_var *v, bool typed)
{
	if (v->load)
		fputc('*', out);
	put_place(out, v);
	if (!typed)
		fprintf(out, ":%s", v->type);
}

/* Can it be read at another place of the line? */
static bool elsewhere(const struct rewrite *r, const char *name)
{
	struct source_var v;

	for (size_t i = 0; i < r->plan->nr; i++) {
		const struct plan_item *item = &r->plan->items[i];

		if (item == r->item || !item->at_line || strcmp(item->text, r->item->text))
			continue;
		source_var(r->source, item->vaddr, name, &v);
		if (v.how == SOURCE_READ)
			return true;
	}
	return false;
}

/* ---- items of the list ---- */

/* [s, end) is behind NAME=: variables in it are replaced.  -ENOENT: one is not here. */
static int put_term(struct rewrite *r, const char *s, const char *end)
{
	char name[NAME], last = 0;
	struct source_var v;

	while (s < end) {
		const size_t len = word_len(s);
		const char *next = s + len;

		if (!len || last == '%') {
			const size_t n = len ? len : token_len(s);

			fwrite(s, 1, n, r->out);
			last = isspace((unsigned char)*s) ? last : *s;
			s += n;
			continue;
		}
		while (next < end && isspace((unsigned char)*next))
			next++;
		snprintf(name, sizeof(name), "%.*s", (int)len, s);
		v.how = SOURCE_NONE;
		/* what arguments have had names for goes first at an entry, a variable at a line */
		if (last != ':' && len < NAME &&
		    !(r->item->at_entry && is_known(s, len, true)))
			source_var(r->source, r->item->vaddr, name, &v);
		if (v.how == SOURCE_NONE && last != ':' && !is_known(s, len, r->item->at_entry))
			return refuse(r, name, &v);
		if (v.how != SOURCE_NONE && v.how != SOURCE_READ)
			return elsewhere(r, name) ? -ENOENT : refuse(r, name, &v);
		if (v.how == SOURCE_NONE) {
			fwrite(s, 1, len, r->out);
		} else if (last == '*' || last == '(') {
			if (v.load || v.offset)
				return wrong(r, name, "is in memory here: what it points to cannot "
					     "be read");
			fputs(v.reg, r->out);
		} else {
			put_var(r->out, &v, next < end && *next == ':');
		}
		last = 'a';
		s += len;
	}
	return 0;
}

static int put_item(struct rewrite *r, const char *s, const char *end)
{
	const char *equals;
	bool maybe = false;
	size_t len;
	char *text = NULL;
	FILE *all = r->out;
	size_t size;
	int ret;

	while (s < end && (isspace((unsigned char)*s) || *s == '?'))
		maybe |= *s++ == '?';
	len = word_len(s);
	for (equals = s + len; equals < end && isspace((unsigned char)*equals); equals++)
		;
	r->out = open_memstream(&text, &size);
	if (!r->out) {
		r->out = all;
		return fail(ERR_PLAIN, ENOMEM, "%s", r->item->text);
	}
	if (len)
		fprintf(r->out, "%.*s=", (int)len, s);
	ret = put_term(r, len && *equals == '=' && equals < end ? equals + 1 : s, end);
	fclose(r->out);
	r->out = all;
	if (!ret) {
		fprintf(all, "%s%s%s", r->items++ ? "," : "", maybe ? "?" : "", text);
		add_name(r, s, len);
	} else if (ret == -ENOENT) {
		note("%s: %.*s cannot be read at one of the line's places: offset 0x%llx, %s",
		     r->item->text, (int)(end - s), s,
		     (unsigned long long)r->item->attach.offset, r->item->in);
		ret = 0;
	}
	free(text);
	return ret;
}

static int put_list(struct rewrite *r, const char *list)
{
	int ret = 0, depth = 0;
	const char *s = list;

	for (const char *at = list;; at++) {
		depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
		if (*at && (*at != ',' || depth))
			continue;
		ret = put_item(r, s, at);
		if (ret || !*at)
			return ret;
		s = at + 1;
	}
}

/* ---- variables that the filter, --value and --by name ---- */

static int put_used(struct rewrite *r, const char *name)
{
	struct source_var v;

	if (is_named(r, name) || (r->item->at_entry && is_known(name, strlen(name), true)))
		return 0;
	source_var(r->source, r->item->vaddr, name, &v);
	if (v.how == SOURCE_NONE)
		return 0;	/* the compiler of arguments knows more, or says what is wrong */
	if (v.how != SOURCE_READ)
		return refuse(r, name, &v);
	fprintf(r->out, "%s%s=", r->items++ ? "," : "", name);
	put_var(r->out, &v, false);
	add_name(r, name, strlen(name));
	return 0;
}

/* Call @fn for each word that may be a variable, until it returns other than 0. */
static int each_word(const char *text, int (*fn)(const char *name, void *ctx), void *ctx)
{
	char name[NAME], last = 0;
	int ret = 0;

	for (const char *s = text; s && *s && !ret;) {
		const size_t len = word_len(s);

		if (*s == '"') {
			for (s++; *s && *s != '"'; s++)
				s += *s == '\\' && s[1];
			s += *s == '"';
		} else if (len) {
			snprintf(name, sizeof(name), "%.*s", (int)len, s);
			if (last != ':' && last != '%' && last != '.' && len < NAME &&
			    !is_assigned(s + len))
				ret = fn(name, ctx);
			last = 'a';
			s += len;
		} else {
			last = isspace((unsigned char)*s) ? last : *s;
			s += token_len(s);
		}
	}
	return ret;
}

static int put_word(const char *name, void *ctx)
{
	return put_used(ctx, name);
}

static int put_words(struct rewrite *r, const char *text)
{
	return each_word(text, put_word, r);
}

static int is_unknown(const char *name, void *ctx)
{
	(void)ctx;
	return !is_known(name, strlen(name), true);
}

bool plan_source_wanted(const struct args_ask *ask, const char *list)
{
	const char *const texts[] = { list, ask->filter, ask->value, ask->by };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (each_word(texts[i], is_unknown, NULL))
			return true;
	return false;
}

static int rewrite(struct rewrite *r, const struct args_ask *ask, const char *list)
{
	int ret = list ? put_list(r, list) : 0;

	if (!ret)
		ret = put_words(r, ask->filter);
	if (!ret)
		ret = put_words(r, ask->value);
	return ret ? ret : put_words(r, ask->by);
}

int plan_source_list(const struct plan *p, const struct plan_item *item,
		     const struct args_ask *ask, const char *list, char **out)
{
	struct rewrite r = { .plan = p, .item = item };
	struct elfsym *e;
	char *text = NULL;
	size_t len;
	int ret;

	*out = NULL;
	ret = elfsym_open(item->attach.fd, &e);
	if (ret)
		return fail(ERR_FILE, ret, "%s", item->text);
	ret = source_open(e, &r.source);
	if (ret == -ENODATA && item->at_entry) {
		elfsym_close(e);
		return 0;	/* arguments have names of their own, or say what is wrong */
	}
	r.out = ret ? NULL : open_memstream(&text, &len);
	if (!r.out) {
		source_close(r.source);
		elfsym_close(e);
		return fail(ERR_PLAIN, ENOMEM, "%s", item->text);
	}
	ret = rewrite(&r, ask, list);
	if (fclose(r.out) && !ret)
		ret = fail(ERR_PLAIN, ENOMEM, "%s", item->text);
	source_close(r.source);
	elfsym_close(e);
	if (!ret && r.items)
		*out = text;
	else
		free(text);
	return ret;
}
