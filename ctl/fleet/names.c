// SPDX-License-Identifier: GPL-2.0-or-later
/* Store names, stacks of names, tasks and rows, each once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/int.h"

/* What an index takes for each thing: a hash, and two slots of twice as many as are used. */
#define INDEX_BYTES	24

/* ---- packed frames ---- */

/*
 * A frame is @head, and its texts behind it, each with a 0: name, linkage name, object, source
 * file.  Empty ones are not known.
 */
struct head {
	__u64 addr;			/* of a frame without a name: in its object; else 0 */
	__u32 line;
	__u32 flags;
};

#define FRAME_INLINED	1
#define FRAME_KERNEL	2
#define FRAME_NAMED	4
#define FRAME_TEXTS	4

static int pack_bytes(struct packed *p, const void *from, size_t len)
{
	if (p->room - p->len < len) {
		const size_t room = 2 * p->room + len + 256;
		char *at = realloc(p->at, room);

		if (!at)
			return -ENOMEM;
		p->at = at;
		p->room = room;
	}
	memcpy(p->at + p->len, from, len);
	p->len += len;
	return 0;
}

static int pack_text(struct packed *p, const char *text)
{
	return pack_bytes(p, text ? text : "", text ? strlen(text) + 1 : 1);
}

int fleet_pack(struct packed *p, const struct sym_frame *f, size_t nr, bool names)
{
	int err = 0;

	p->len = 0;
	for (size_t i = 0; !err && i < nr; i++) {
		const bool less = names && f[i].name;
		const char *texts[FRAME_TEXTS] = {
			f[i].name, less ? NULL : f[i].linkage, less ? NULL : f[i].object,
			names ? NULL : f[i].file,
		};
		const struct head h = {
			.addr = f[i].name ? 0 : f[i].addr,
			.line = names ? 0 : (__u32)f[i].line,
			.flags = (f[i].inlined && !names ? FRAME_INLINED : 0) |
				 (f[i].kernel ? FRAME_KERNEL : 0) | (f[i].name ? FRAME_NAMED : 0),
		};

		err = pack_bytes(p, &h, sizeof(h));
		for (int k = 0; !err && k < FRAME_TEXTS; k++)
			err = pack_text(p, texts[k]);
	}
	return err;
}

struct sym_frame fleet_unpack(const struct fplace *p, __u32 *pos)
{
	const char *texts[FRAME_TEXTS], *at = p->at + *pos;
	struct head h;

	memcpy(&h, at, sizeof(h));
	at += sizeof(h);
	for (int k = 0; k < FRAME_TEXTS; k++) {
		texts[k] = at;
		at += strlen(at) + 1;
	}
	*pos = (__u32)(at - p->at);
	return (struct sym_frame){
		.name = h.flags & FRAME_NAMED ? texts[0] : NULL,
		.linkage = *texts[1] ? texts[1] : NULL, .object = texts[2],
		.file = *texts[3] ? texts[3] : NULL, .line = (int)h.line, .addr = h.addr,
		.inlined = h.flags & FRAME_INLINED, .kernel = h.flags & FRAME_KERNEL,
	};
}

/* ---- tables ---- */

static void *copy(struct tables *t, const void *from, size_t len)
{
	void *p = arena_alloc(&t->arena, len + 1);

	if (p && len)
		memcpy(p, from, len);
	t->bytes += len + 8;
	return p;
}

static bool same_place(const void *things, __u32 id, const void *key)
{
	const struct fplace *a = (const struct fplace *)things + id, *b = key;

	return a->len == b->len && !memcmp(a->at, b->at, a->len);
}

static __u64 hash_bytes(const char *at, size_t len)
{
	__u64 h = 0xcbf29ce484222325ULL;

	while (len--)
		h = (h ^ (unsigned char)*at++) * 0x100000001b3ULL;
	return ids_mix(h, 1);
}

__s64 fleet_place(struct tables *t, const char *at, __u32 len)
{
	struct fplace key = { at, len }, *places;
	const __u64 hash = hash_bytes(at, len);
	__u32 id = ids_find(&t->place_ids, hash, same_place, t->places, &key);

	if (id != IDS_NONE)
		return id;
	places = ids_grow(t->places, t->place_ids.nr, &t->room_places, sizeof(*places));
	if (!places)
		return -ENOMEM;
	t->places = places;
	key.at = copy(t, at, len);
	id = key.at ? ids_add(&t->place_ids, hash) : IDS_NONE;
	if (id == IDS_NONE)
		return -ENOMEM;
	t->places[id] = key;
	t->bytes += sizeof(key) + INDEX_BYTES;
	return id;
}

static bool same_stack(const void *things, __u32 id, const void *key)
{
	const struct fstack *a = (const struct fstack *)things + id, *b = key;

	return a->nr == b->nr && a->flags == b->flags &&
	       !memcmp(a->places, b->places, a->nr * sizeof(*a->places));
}

__s64 fleet_stack(struct tables *t, const __u32 *places, __u32 nr, __u32 flags)
{
	struct fstack key = { places, nr, flags }, *stacks;
	const __u64 hash = ids_mix(hash_bytes((const char *)places, nr * sizeof(*places)), flags);
	__u32 id = ids_find(&t->stack_ids, hash, same_stack, t->stacks, &key);

	if (id != IDS_NONE)
		return (__s64)id + MEMTAP_STACK_FIRST;
	stacks = ids_grow(t->stacks, t->stack_ids.nr, &t->room_stacks, sizeof(*stacks));
	if (!stacks)
		return -ENOMEM;
	t->stacks = stacks;
	key.places = copy(t, places, nr * sizeof(*places));
	id = key.places ? ids_add(&t->stack_ids, hash) : IDS_NONE;
	if (id == IDS_NONE)
		return -ENOMEM;
	t->stacks[id] = key;
	t->bytes += sizeof(key) + INDEX_BYTES;
	return (__s64)id + MEMTAP_STACK_FIRST;
}

static bool same_task(const void *things, __u32 id, const void *key)
{
	const struct ftask *a = (const struct ftask *)things + id, *b = key;

	return a->host == b->host && a->flags == b->flags && a->cgroup == b->cgroup &&
	       !strcmp(a->comm, b->comm);
}

__s64 fleet_task(struct tables *t, const struct ftask *task)
{
	const __u64 hash = ids_hash_string(ids_mix(ids_mix(task->host, task->flags),
						   task->cgroup), task->comm);
	__u32 id = ids_find(&t->task_ids, hash, same_task, t->tasks, task);
	struct ftask *tasks;

	if (id != IDS_NONE)
		return id;
	tasks = ids_grow(t->tasks, t->task_ids.nr, &t->room_tasks, sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	t->tasks = tasks;
	id = ids_add(&t->task_ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	t->tasks[id] = *task;
	t->bytes += sizeof(*task) + INDEX_BYTES;
	return id;
}

static bool same_text(const void *things, __u32 id, const void *key)
{
	return !strcmp(((const char *const *)things)[id], key);
}

__s64 fleet_text(struct tables *t, const char *text)
{
	const __u64 hash = ids_hash_string(1, text);
	__u32 id = ids_find(&t->text_ids, hash, same_text, t->texts, text);
	const char **texts, *mine;

	if (id != IDS_NONE)
		return id;
	texts = ids_grow(t->texts, t->text_ids.nr, &t->room_texts, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	t->texts = texts;
	mine = copy(t, text, strlen(text) + 1);
	id = mine ? ids_add(&t->text_ids, hash) : IDS_NONE;
	if (id == IDS_NONE)
		return -ENOMEM;
	t->texts[id] = mine;
	t->bytes += sizeof(mine) + INDEX_BYTES;
	return id;
}

static bool same_row(const void *things, __u32 id, const void *key)
{
	const struct frow *a = (const struct frow *)things + id, *b = key;

	return a->event == b->event && a->flags == b->flags && a->task == b->task &&
	       a->kstack == b->kstack && a->ustack == b->ustack && a->file == b->file &&
	       a->allowed == b->allowed;
}

struct frow *fleet_row_of(struct tables *t, const struct frow *key)
{
	__u64 hash = ids_mix((__u64)key->event << 32 | key->flags, key->task);
	struct frow *rows;
	__u32 id;

	hash = ids_mix(hash, (__u64)key->kstack << 32 | key->ustack);
	hash = ids_mix(hash, (__u64)key->file << 32 | key->allowed);
	id = ids_find(&t->row_ids, hash, same_row, t->rows, key);
	if (id != IDS_NONE)
		return &t->rows[id];
	rows = ids_grow(t->rows, t->row_ids.nr, &t->room_rows, sizeof(*rows));
	if (!rows)
		return NULL;
	t->rows = rows;
	id = ids_add(&t->row_ids, hash);
	if (id == IDS_NONE)
		return NULL;
	rows[id] = (struct frow){
		.event = key->event, .flags = key->flags, .task = key->task,
		.kstack = key->kstack, .ustack = key->ustack, .file = key->file,
		.allowed = key->allowed,
	};
	t->bytes += sizeof(*rows) + INDEX_BYTES;
	return &rows[id];
}

__u64 *fleet_hist(struct tables *t, struct frow *row)
{
	if (!row->hist) {
		row->hist = arena_alloc(&t->arena, MEMTAP_HIST_BUCKETS * sizeof(*row->hist));
		t->bytes += MEMTAP_HIST_BUCKETS * sizeof(*row->hist);
	}
	return row->hist;
}

void fleet_tables_free(struct tables *t)
{
	ids_free(&t->place_ids);
	ids_free(&t->stack_ids);
	ids_free(&t->task_ids);
	ids_free(&t->row_ids);
	ids_free(&t->text_ids);
	free(t->places);
	free(t->stacks);
	free(t->tasks);
	free(t->rows);
	free(t->texts);
	arena_free(&t->arena);
	memset(t, 0, sizeof(*t));
}
