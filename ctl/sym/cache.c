// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbolizer's cache of frames, strings and notes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "sym/int.h"

struct sym_cached {
	const void *owner;
	__u64 key;
	const struct sym_frame *frames;
	size_t nr;
};

static __u64 hash_string(const char *p)
{
	__u64 h = 0xcbf29ce484222325ULL;

	while (*p)
		h = (h ^ (unsigned char)*p++) * 0x100000001b3ULL;
	return h ^ (h >> 29);
}

static bool grow_strings(struct sym_strings *t)
{
	size_t nr = t->slots ? 2 * (t->mask + 1) : 1024;
	const char **slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; t->slots && i <= t->mask; i++) {
		size_t at;

		if (!t->slots[i])
			continue;
		at = hash_string(t->slots[i]) & (nr - 1);
		while (slots[at])
			at = (at + 1) & (nr - 1);
		slots[at] = t->slots[i];
	}
	free(t->slots);
	t->slots = slots;
	t->mask = nr - 1;
	return true;
}

const char *sym_intern(struct sym *s, const char *text)
{
	struct sym_strings *t = &s->strings;
	size_t i;

	if (!t->slots || 2 * t->used > t->mask)
		if (!grow_strings(t))
			return "";
	i = hash_string(text) & t->mask;
	while (t->slots[i] && strcmp(t->slots[i], text))
		i = (i + 1) & t->mask;
	if (!t->slots[i]) {
		t->slots[i] = arena_strdup(&s->arena, text);
		if (!t->slots[i])
			return "";
		t->used++;
	}
	return t->slots[i];
}

static struct sym_cached *find_cached(const struct sym_cache *c,
				      const void *owner, __u64 key)
{
	__u64 h = ((__u64)(uintptr_t)owner ^ key * 0x9e3779b97f4a7c15ULL);
	size_t i;

	h *= 0xff51afd7ed558ccdULL;
	i = (h ^ (h >> 32)) & c->mask;
	while (c->slots[i].frames &&
	       (c->slots[i].owner != owner || c->slots[i].key != key))
		i = (i + 1) & c->mask;
	return &c->slots[i];
}

static bool grow_cache(struct sym_cache *c)
{
	size_t nr = c->slots ? 2 * (c->mask + 1) : 4096;
	struct sym_cache bigger = { .mask = nr - 1, .used = c->used };

	bigger.slots = calloc(nr, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; c->slots && i <= c->mask; i++)
		if (c->slots[i].frames)
			*find_cached(&bigger, c->slots[i].owner,
				     c->slots[i].key) = c->slots[i];
	free(c->slots);
	*c = bigger;
	return true;
}

size_t sym_cache_get(struct sym *s, const void *owner, __u64 key,
		     const struct sym_frame **frames)
{
	struct sym_cached *e;

	if (!s->cache.slots)
		return 0;
	e = find_cached(&s->cache, owner, key);
	*frames = e->frames;
	return e->nr;
}

size_t sym_cache_put(struct sym *s, const void *owner, __u64 key,
		     const struct sym_frame *in, size_t nr,
		     const struct sym_frame **frames)
{
	static const struct sym_frame nothing = { .object = "" };
	struct sym_frame *copy = arena_alloc(&s->arena, nr * sizeof(*copy));
	struct sym_cached *e;

	if (!copy) {
		*frames = &nothing;
		return 1;
	}
	memcpy(copy, in, nr * sizeof(*copy));
	*frames = copy;
	if (!s->cache.slots || 2 * s->cache.used > s->cache.mask)
		if (!grow_cache(&s->cache) && !s->cache.slots)
			return nr;
	e = find_cached(&s->cache, owner, key);
	if (s->cache.used >= s->cache.mask)
		return nr;	/* no memory to grow: full */
	s->cache.used += !e->frames;
	e->owner = owner;
	e->key = key;
	e->frames = copy;
	e->nr = nr;
	return nr;
}

void sym_note(struct sym *s, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (s->nr_notes == SYM_MAX_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (s->nr_notes == SYM_MAX_NOTES - 1)
		snprintf(text, sizeof(text), "and more that could not be named");
	s->notes[s->nr_notes++] = sym_intern(s, text);
}

const char *const *sym_notes(struct sym *s)
{
	return s->notes;
}

/*
 * A file keeps the addresses of the boot it was made in, which mean nothing
 * after the next one: it is local only if it is younger than this boot.
 */
bool sym_is_local(const struct snap *snap)
{
	struct timespec real, boot;
	struct utsname u;
	__u64 boot_ns;

	if (uname(&u) || strcmp(u.nodename, snap->header.host) ||
	    strcmp(u.release, snap->header.release))
		return false;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	boot_ns = (real.tv_sec - boot.tv_sec) * 1000000000ULL;
	return snap->header.real_ns >= boot_ns;
}
