// SPDX-License-Identifier: GPL-2.0-or-later
/* Number and name what holds blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "leaks/held.h"

static bool same_pair(const void *things, __u32 id, const void *key)
{
	return !memcmp((const struct held_of *)things + id, key, sizeof(struct held_of));
}

__u32 held_pairs_get(struct held_pairs *p, const struct held_of *of, size_t most)
{
	const __u64 hash = ids_mix(ids_mix(0, of->kind), of->holder);
	__u32 id = ids_find(&p->ids, hash, same_pair, p->at, of);
	struct held_of *more;

	if (id != IDS_NONE || p->ids.nr >= most)
		return id;
	more = ids_grow(p->at, p->ids.nr, &p->room, sizeof(*more));
	if (!more)
		return IDS_NONE;
	p->at = more;
	id = ids_add(&p->ids, hash);
	if (id != IDS_NONE)
		more[id] = *of;
	return id;
}

void held_pairs_free(struct held_pairs *p)
{
	free(p->at);
	ids_free(&p->ids);
}

static void put_place(const struct holder *h, FILE *out)
{
	if (h->object)
		fprintf(out, " in %s", h->object);
	if (h->source)
		fprintf(out, " (%s)", h->source);
}

static void put_several(const struct holder *h, FILE *out)
{
	fputs(h->count == HOLDER_PYTHON ? "several attributes of modules" :
	      h->count == HOLDER_GLOBAL ? "several variables or mappings" :
	      h->count == HOLDER_FRAMES ? "several variables of functions" :
	      h->count == HOLDER_STACK ? "several stacks or registers" :
	      h->count == HOLDER_INTERPRETER ? "several of what Python keeps for itself" :
	      h->count == HOLDER_TEXT ? "several addresses in text or behind the end of a vector" :
	      "several stale words of stacks", out);
	if (h->name && *h->name)
		fprintf(out, " (%s)", h->name);
	fputs(", of which no single one is needed", out);
}

/* "thread 7", or so many. */
static const char *threads(const struct holder *h, char *text, size_t len)
{
	char nr[TEXT_LEN];

	if (h->tid)
		snprintf(text, len, "thread %d", h->tid);
	else
		snprintf(text, len, "%s threads", text_count(nr, h->count));
	return text;
}

/* What Python has. */
static void put_python(const struct holder *h, FILE *out)
{
	char nr[TEXT_LEN];

	if (h->what == HOLDER_INTERPRETER) {
		fputs("state of Python's interpreter", out);
	} else if (h->what == HOLDER_PYTHON) {
		fprintf(out, "module %s, attribute `%s`", h->object, h->name);
		if (h->count > 1)
			fprintf(out, ", and %s more with the same value",
				text_count(nr, h->count - 1));
	} else if (!h->object) {
		fputs("frames of Python's functions", out);
	} else {
		fprintf(out, "function %s", h->object);
		if (h->source)
			fprintf(out, " (%s)", h->source);
		if (h->name)
			fprintf(out, ", variable `%s`", h->name);
	}
}

/* What one thread has, or several. */
static void put_thread(const struct holder *h, FILE *out)
{
	char text[2 * TEXT_LEN];
	const char *who = threads(h, text, sizeof(text));

	if (h->what == HOLDER_REGISTERS) {
		fprintf(out, "registers of %s", who);
		return;
	}
	if (h->what == HOLDER_STACK) {
		fprintf(out, "%s of %s", h->tid ? "stack" : "stacks", who);
		if (h->name)
			fprintf(out, ": %s", h->name);
	} else if (h->name) {
		fprintf(out, "thread-local `%s` of %s", h->name, who);
	} else {
		fprintf(out, "thread-local memory of %s", who);
	}
	put_place(h, out);
}

static void put_holder(const struct holder *h, FILE *out)
{
	char nr[TEXT_LEN];

	switch (h->what) {
	case HOLDER_GLOBAL:
		if (h->name && h->name[0] == '+')
			fprintf(out, "variable at %s%s, without a name", h->object, h->name);
		else
			fprintf(out, "global `%s`", h->name);
		if (h->name && h->name[0] != '+')
			put_place(h, out);
		break;
	case HOLDER_PYTHON:
	case HOLDER_INTERPRETER:
	case HOLDER_FRAMES:
		put_python(h, out);
		break;
	case HOLDER_THREAD_LOCAL:
	case HOLDER_STACK:
	case HOLDER_REGISTERS:
		put_thread(h, out);
		break;
	case HOLDER_KERNEL:
		fputs("the kernel: data of epoll and timers", out);
		break;
	case HOLDER_MAPPING:
		fprintf(out, "%s at 0x%llx", h->name ? h->name : "memory",
			(unsigned long long)h->addr);
		break;
	case HOLDER_SBRK:
		fputs("memory from sbrk() that is not malloc's", out);
		break;
	case HOLDER_ARENA:
		fputs("an arena of malloc that was not walked", out);
		break;
	case HOLDER_TEXT:
		fputs("only addresses in text, or behind the end of a vector, as it looks", out);
		break;
	case HOLDER_STALE:
		fputs("only stale words of stacks", out);
		break;
	case HOLDER_SHARED:
		put_several(h, out);
		break;
	case HOLDER_LOST:
		fputs("nothing: unreachable", out);
		break;
	default:
		fprintf(out, "%s more holder%s", text_count(nr, h->count), text_s(h->count));
	}
}

void held_put_node(const struct held *h, const struct held_node *n, FILE *out)
{
	if (n->attribute) {
		fputs(h->names[n->attribute - 1].is_variable ? "variable `" : "attribute `", out);
		text_put(out, h->names[n->attribute - 1].text, NULL);
		fputs("`: ", out);
	}
	text_put(out, held_kind_name(h, n->kind), NULL);
}

char *held_holder_text(const struct holder *h)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	put_holder(h, f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
