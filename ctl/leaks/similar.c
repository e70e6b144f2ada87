// SPDX-License-Identifier: GPL-2.0-or-later
/* --similar: select the kernel objects to compare, and describe the result. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "leaks/similar.h"

/* What is held by one stack of one cache. */
struct suspect {
	__u32 cache, stack;
	__u64 bytes;
};

static int cmp_suspect(const void *x, const void *y)
{
	const struct suspect *a = x, *b = y;

	if (a->cache != b->cache)
		return a->cache < b->cache ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static bool is_candidate(const struct snap *s, const struct memtap_block *b, __u64 older_ns)
{
	const struct memtap_rec_cache *c = snap_cache(s, b->space);

	return c && c->kind == MEMTAP_CACHE_SLAB && s->header.now_ns >= b->birth_ns + older_ns;
}

static bool find_suspect(const struct snap *s, __u64 older_ns, struct suspect *most)
{
	struct suspect *all = calloc(s->nr_blocks + 1, sizeof(*all));
	struct snap_walk w = { .snap = s };
	size_t nr = 0, n = 0;

	memset(most, 0, sizeof(*most));
	if (!all)
		return false;
	while (nr < s->nr_blocks && snap_next_block(&w))
		if (is_candidate(s, w.block, older_ns))
			all[nr++] = (struct suspect){ w.block->space, w.block->ustack,
						      w.block->size };
	qsort(all, nr, sizeof(*all), cmp_suspect);
	for (size_t i = 0; i < nr; i++) {
		if (n && !cmp_suspect(&all[n - 1], &all[i]))
			all[n - 1].bytes += all[i].bytes;
		else
			all[n++] = all[i];
		if (all[n - 1].bytes > most->bytes)
			*most = all[n - 1];
	}
	free(all);
	return most->bytes;
}

bool similar_suspect(const struct snap *s, __u64 older_ns, struct similar *r)
{
	struct suspect most;

	if (!find_suspect(s, older_ns, &most))
		return false;
	snprintf(r->name, sizeof(r->name), "%s", snap_cache(s, most.cache)->name);
	r->arg.cache = most.cache;
	r->arg.stack = most.stack >= MEMTAP_STACK_FIRST ? most.stack : 0;
	return true;
}

/* ---- what is said of it ---- */

static size_t put_word(const struct memtap_similar_word *word, char *line, size_t room)
{
	switch (word->kind) {
	case MEMTAP_SIMILAR_SYMBOL:
		return (size_t)snprintf(line, room, "%.*s at %u", MEMTAP_CACHE_LEN - 1, word->name,
					word->offset);
	case MEMTAP_SIMILAR_NUMBER:
		return (size_t)snprintf(line, room, "%llu at %u", (unsigned long long)word->value,
					word->offset);
	default:
		return (size_t)snprintf(line, room, "some word at %u", word->offset);
	}
}

static void put_words(const struct memtap_similar *a, char *line)
{
	size_t len = (size_t)snprintf(line, SIMILAR_TEXT, "their common words:");

	for (__u32 i = 0; i < a->nr_words && i < MEMTAP_SIMILAR_WORDS &&
	     len < SIMILAR_TEXT - 100; i++) {
		len += (size_t)snprintf(line + len, SIMILAR_TEXT - len, "%s ",
					i ? "," : "");
		len += put_word(&a->at[i], line + len, SIMILAR_TEXT - len);
	}
	if (a->common > a->nr_words)
		snprintf(line + len, SIMILAR_TEXT - len, ", and %u more words",
			 a->common - a->nr_words);
}

static const char *why_not(int err)
{
	switch (err) {
	case -ENODATA:
		return "fewer than four survivors exist, or they have no common words";
	case -EOPNOTSUPP:
	case -ENOTTY:
		return "the module does not know this kernel's slabs";
	case -EPERM:
		return "the kernel is locked down";
	case -EACCES:
		return "reading kernel memory needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN";
	default:
		return strerror(-err);
	}
}

static void put_likeness(const struct similar *r, char *line)
{
	const struct memtap_similar *a = &r->arg;
	const __u64 others = a->places - a->kept;
	char one[TEXT_LEN], two[TEXT_LEN], three[TEXT_LEN], four[TEXT_LEN];

	snprintf(line, SIMILAR_TEXT, "similar (a likeness, not a proof): %u survivors were "
				     "compared with %s other objects and free places of "
				     "%s, in %s slabs (%u %% of all pages were searched): "
				     "%s look like them, %s could not be read",
		 a->survivors, text_count(one, others), r->name, text_count(two, a->slabs),
		 a->pages ? (unsigned int)(100 * a->looked / a->pages) : 0,
		 text_count(three, a->alike), text_count(four, a->unread));
}

size_t similar_footer(const struct similar *r, char (*lines)[SIMILAR_TEXT])
{
	if (!r->asked)
		return 0;
	if (!r->name[0] || r->err) {
		snprintf(lines[0], SIMILAR_TEXT, "similar: %s%s%s", r->name[0] ?
			 "the number of objects like survivors of " : "", r->name[0] ? r->name :
			 "no slab object is old enough",
			 r->name[0] ? " is not known: " : "");
		if (r->name[0])
			strncat(lines[0], why_not(r->err),
				SIMILAR_TEXT - strlen(lines[0]) - 1);
		return 1;
	}
	put_likeness(r, lines[0]);
	put_words(&r->arg, lines[1]);
	return 2;
}
