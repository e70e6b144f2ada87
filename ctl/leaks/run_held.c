// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --retained: what the blocks of a running process are, and what holds them.  The heap is walked
 * in the copy that --unreachable made, so both are of one moment: a block is told by its address.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/ids.h"
#include "base/text.h"
#include "leaks/heap.h"
#include "leaks/run.h"

#define MOST_HELDS	65536U		/* kinds and holders that are told apart */

struct namer {
	struct leaks_run *run;
	const struct held *held;
	struct held_pairs pairs;	/* that were met in this process, */
	__u32 *helds;			/* and for each its number in run->helds + 1, or 0 */
	struct ids ids;
	size_t room_nrs, room_helds;
	bool many;			/* there are more than can be told apart */
};

static bool same_held(const void *things, __u32 id, const void *key)
{
	const struct snap_held *a = (const struct snap_held *)things + id, *b = key;

	return !strcmp(a->kind, b->kind) && !strcmp(a->holder, b->holder);
}

static __u64 hash_held(const struct snap_held *h)
{
	return ids_hash_string(ids_hash_string(0, h->kind), h->holder);
}

/* As much of it as there is room for. */
static void set_name(char to[MEMTAP_HELD_NAME], const char *name)
{
	size_t len = strlen(name);

	if (len < MEMTAP_HELD_NAME) {
		memcpy(to, name, len + 1);
		return;
	}
	/* not within a character of UTF-8 */
	for (len = MEMTAP_HELD_NAME - 4; len && (name[len] & 0xc0) == 0x80;)
		len--;
	memcpy(to, name, len);
	memcpy(to + len, "...", 4);
}

/* Another process may have had the same.  *@nr: its number + 1; 0: there are too many. */
static int add_held(struct namer *n, const struct snap_held *key, __u32 *nr)
{
	struct leaks_run *r = n->run;
	const __u64 hash = hash_held(key);
	struct snap_held *more;
	__u32 id = ids_find(&n->ids, hash, same_held, r->helds, key);

	*nr = id == IDS_NONE ? 0 : id + 1;
	if (*nr || r->nr_helds >= MOST_HELDS)
		return 0;
	more = ids_grow(r->helds, r->nr_helds, &n->room_helds, sizeof(*more));
	if (!more)
		return -ENOMEM;
	r->helds = more;
	id = ids_add(&n->ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	r->helds[r->nr_helds++] = *key;
	*nr = id + 1;
	return 0;
}

static int name_pair(struct namer *n, const struct held_of *of, __u32 *nr)
{
	char *text = held_holder_text(&n->held->holders[of->holder]);
	struct snap_held key = { "", "" };

	if (!text)
		return -ENOMEM;
	set_name(key.kind, held_kind_name(n->held, of->kind));
	set_name(key.holder, text);
	free(text);
	return add_held(n, &key, nr);
}

static int get_held(struct namer *n, const struct held_of *of, __u32 *nr)
{
	const size_t before = n->pairs.ids.nr;
	const __u32 id = held_pairs_get(&n->pairs, of, MOST_HELDS);
	__u32 *more;
	int err = 0;

	*nr = 0;
	if (id == IDS_NONE) {
		n->many |= before >= MOST_HELDS;
		return before >= MOST_HELDS ? 0 : -ENOMEM;
	}
	if (id == before) {
		more = ids_grow(n->helds, id, &n->room_nrs, sizeof(*more));
		if (!more)
			return -ENOMEM;
		n->helds = more;
		err = name_pair(n, of, &more[id]);
		n->many |= !err && !more[id];
	}
	*nr = n->helds[id];
	return err;
}

/* What was named of other processes. */
static int begin_names(struct namer *n)
{
	n->room_helds = n->run->nr_helds;
	for (size_t i = 0; i < n->run->nr_helds; i++)
		if (ids_add(&n->ids, hash_held(&n->run->helds[i])) == IDS_NONE)
			return -ENOMEM;
	return 0;
}

static int name_all(struct leaks_run *r, const struct held *h, struct snap_reach *found, size_t nr,
		    bool *many)
{
	struct namer n = { .run = r, .held = h };
	int err = begin_names(&n);

	for (size_t i = 0; !err && i < nr; i++) {
		const struct held_of *of = &h->of[i];

		if (of->kind != HELD_HOLDER && of->holder != HELD_HOLDER)
			err = get_held(&n, of, &found[i].held);
	}
	for (size_t i = 0; err && i < nr; i++)
		found[i].held = 0;
	*many = n.many;
	free(n.helds);
	held_pairs_free(&n.pairs);
	ids_free(&n.ids);
	return err;
}

static void say_why(struct leaks_run *r, pid_t pid, int err, const struct heap_look *l, bool many)
{
	const size_t len = strlen(r->held_why);
	const __u64 unknown = heap_unknown(&l->heap);
	const bool none = err || !l->held || !l->held->has_holders;
	char bytes[TEXT_LEN], why[128];

	if (!none && !many && l->heap.complete)
		return;
	if (err == -ENOENT)
		snprintf(why, sizeof(why), "no malloc that memtap heap reads was found in it");
	else if (err)
		snprintf(why, sizeof(why), "%s", strerror(-err));
	else if (none)
		snprintf(why, sizeof(why), "%s", l->no_held ? l->no_held :
			 "there is not enough memory for it");
	else if (many)
		snprintf(why, sizeof(why), "there are more than %u", MOST_HELDS);
	else
		snprintf(why, sizeof(why), "%s of its heap could not be walked",
			 unknown ? text_bytes(bytes, (__s64)unknown, false) : "a part");
	snprintf(r->held_why + len, LEAKS_TEXT - len, "%s%s of process %d: %s", len ? "; " : "",
		 none ? "kinds and holders are not known" :
		 "kinds and holders of some blocks are not known", pid, why);
}

void leaks_find_held(struct leaks_run *r, pid_t pid, struct copy *c, struct snap_reach *found,
		     size_t nr)
{
	__u64 *blocks = calloc(nr + 1, sizeof(*blocks));
	struct heap_look l = { .pid = pid };
	bool many = false;
	int err = blocks ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++)
		blocks[i] = found[i].addr;
	if (!err)
		err = heap_look_copied(&l, pid, c,
				       &(struct held_ask){ .kinds = true, .holders = true,
							   .blocks = blocks, .nr_blocks = nr });
	if (!err && l.held && l.held->of)
		err = name_all(r, l.held, found, nr, &many);
	say_why(r, pid, err, &l, many);
	heap_look_free(&l);
	free(blocks);
}
