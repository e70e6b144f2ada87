// SPDX-License-Identifier: GPL-2.0-or-later
/* Add up what recordings say of themselves: hosts, events, losses, hooks, notes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/int.h"
#include "leaks/leaks.h"

#define MAX_NOTES	16		/* sentences of recordings that are kept */

const char *const fleet_kinds[NR_KINDS] = {
	[KIND_EVENTS] = "events", [KIND_LIVE] = "live blocks",
	[KIND_OBJECTS] = "live memory of the kernel", [KIND_RESIDENT] = "resident pages",
};

const char *fleet_note(const struct snap *s, const char *key)
{
	const size_t len = strlen(key);

	for (size_t i = 0; i < s->nr_notes; i++)
		if (!strncmp(s->notes[i], key, len) && s->notes[i][len] == '=')
			return s->notes[i] + len + 1;
	return NULL;
}

enum fkind fleet_kind_of(const struct snap *s)
{
	const char *merged = s->nr_hosts ? fleet_note(s, "merged") : NULL;

	for (int i = 0; merged && i < NR_KINDS; i++)
		if (!strcmp(merged, fleet_kinds[i]))
			return (enum fkind)i;
	return leaks_kernel(s) ? KIND_OBJECTS : leaks_kept(s) ? KIND_LIVE :
	       s->header.flags & MEMTAP_CFG_TOUCHED ? KIND_RESIDENT : KIND_EVENTS;
}

/* ---- what cannot be one ---- */

/* What rows mean with these is another thing than without. */
static const struct {
	__u32 flag;
	const char *what;
} must_agree[] = {
	{ MEMTAP_CFG_USTACK, "user stacks" }, { MEMTAP_CFG_KSTACK, "kernel stacks" },
	{ MEMTAP_CFG_HIST, "histograms" }, { MEMTAP_CFG_FILES, "files" },
	{ MEMTAP_CFG_MAPPINGS, "mappings" }, { MEMTAP_CFG_ONLY_USER, "events of user mode alone" },
	{ MEMTAP_CFG_ONLY_KERNEL, "events of kernel mode alone" },
	{ MEMTAP_CFG_CALL_SITE, "callers instead of stacks" },
};

#define NR_AGREE	(sizeof(must_agree) / sizeof(must_agree[0]))

static int check_flags(const struct fleet *f, const struct snap *s, const char *path, char *why)
{
	const __u32 differ = f->header.flags ^ s->header.flags;

	for (size_t i = 0; i < NR_AGREE; i++) {
		const bool has = s->header.flags & must_agree[i].flag;

		if (!(differ & must_agree[i].flag))
			continue;
		snprintf(why, FLEET_WHY, "%.150s has %s, %.150s has not: record all in the same "
			 "way", has ? path : f->first, must_agree[i].what, has ? f->first : path);
		return -EINVAL;
	}
	return 0;
}

static const struct snap_event *find_event(const struct snap_event *events, size_t nr,
					   const char *name, size_t hint)
{
	if (hint < nr && !strcmp(events[hint].name, name))
		return &events[hint];
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(events[i].name, name))
			return &events[i];
	return NULL;
}

static int lacks_event(const char *name, const char *has, const char *lacks, char *why)
{
	snprintf(why, FLEET_WHY, "%.150s has the event %.100s, %.150s has not: --event chooses "
		 "those that all have", has, name, lacks);
	return -EINVAL;
}

static int check_events(const struct fleet *f, const struct snap *s, const char *path, char *why)
{
	const struct snap_event *e;

	for (size_t i = 0; i < s->nr_events; i++) {
		e = find_event(f->events, f->nr_events, s->events[i].name, i);
		if (!e)
			return lacks_event(s->events[i].name, path, f->first, why);
		if (e->unit == s->events[i].unit)
			continue;
		snprintf(why, FLEET_WHY, "values of %.100s have other units in %.150s than in "
			 "%.150s", e->name, path, f->first);
		return -EINVAL;
	}
	for (size_t i = 0; i < f->nr_events; i++)
		if (!find_event(s->events, s->nr_events, f->events[i].name, i))
			return lacks_event(f->events[i].name, f->first, path, why);
	return 0;
}

static bool has_pages(const struct snap *s)
{
	for (size_t i = 0; i < s->nr_events; i++)
		if (s->events[i].unit == MEMTAP_UNIT_PAGES)
			return true;
	return false;
}

/* The first one says what all others must be. */
static int begin(struct fleet *f, const struct snap *s, const char *path)
{
	const char *title = fleet_note(s, "title");

	f->header = s->header;
	f->kind = fleet_kind_of(s);
	f->first = arena_strdup(&f->arena, path);
	f->title = arena_strdup(&f->arena, title ? title : "");
	return f->first && f->title ? 0 : -ENOMEM;
}

int fleet_check(struct fleet *f, const struct snap *s, const char *path, char *why)
{
	const enum fkind kind = fleet_kind_of(s);
	int err;

	if (!f->first)
		return begin(f, s, path);
	if (kind != f->kind) {
		snprintf(why, FLEET_WHY, "%.150s has %s, %.150s has %s: they cannot be one",
			 f->first, fleet_kinds[f->kind], path, fleet_kinds[kind]);
		return -EINVAL;
	}
	if (f->header.page_size != s->header.page_size && has_pages(s)) {
		snprintf(why, FLEET_WHY, "pages have %u bytes in %.150s, %u in %.150s: they cannot "
			 "be added up", f->header.page_size, f->first, s->header.page_size, path);
		return -EINVAL;
	}
	err = check_flags(f, s, path, why);
	/* live memory has names of its own */
	return err || kind == KIND_LIVE || kind == KIND_OBJECTS ? err :
	       check_events(f, s, path, why);
}

/* ---- the same recording twice ---- */

struct known {
	__u64 start_ns, now_ns, real_ns, checksum;
	char host[64];
};

static bool same_known(const void *things, __u32 id, const void *key)
{
	return !memcmp((const struct known *)things + id, key, sizeof(struct known));
}

int fleet_known(struct fleet *f, const struct snap *s)
{
	struct known key = { s->header.start_ns, s->header.now_ns, s->header.real_ns, 0, "" };
	struct known *known;
	__u64 hash;

	/* of the END record */
	if (s->bytes && s->device_len >= sizeof(struct memtap_rec_end))
		memcpy(&key.checksum, (const char *)s->bytes + s->device_len - sizeof(__u64),
		       sizeof(key.checksum));
	memcpy(key.host, s->header.host, strlen(s->header.host));
	hash = ids_hash_string(ids_mix(key.checksum, key.now_ns), key.host);
	if (ids_find(&f->known_ids, hash, same_known, f->known, &key) != IDS_NONE)
		return -EEXIST;
	known = ids_grow(f->known, f->known_ids.nr, &f->room_known, sizeof(*known));
	if (!known)
		return -ENOMEM;
	f->known = known;
	if (ids_add(&f->known_ids, hash) == IDS_NONE)
		return -ENOMEM;
	known[f->known_ids.nr - 1] = key;
	return 0;
}

/* ---- sums ---- */

static bool same_host(const void *things, __u32 id, const void *key)
{
	const struct fleet_host *a = (const struct fleet_host *)things + id, *b = key;

	return a->side == b->side && !strcmp(a->name, b->name);
}

static void add_host(struct fleet_host *to, const struct fleet_host *h)
{
	to->files += h->files;
	to->running += h->running;
	to->ns += h->ns;
	to->least_ns = h->least_ns < to->least_ns ? h->least_ns : to->least_ns;
	to->most_ns = h->most_ns > to->most_ns ? h->most_ns : to->most_ns;
	to->first_ns = h->first_ns < to->first_ns ? h->first_ns : to->first_ns;
	to->last_ns = h->last_ns > to->last_ns ? h->last_ns : to->last_ns;
	if (strcmp(to->release, h->release))
		to->release[0] = '\0';
}

__s64 fleet_host_of(struct fleet *f, const struct fleet_host *h)
{
	const __u64 hash = ids_hash_string(h->side, h->name);
	__u32 id = ids_find(&f->host_ids, hash, same_host, f->hosts, h);
	struct fleet_host *hosts;

	if (id != IDS_NONE) {
		add_host(&f->hosts[id], h);
		return id;
	}
	hosts = ids_grow(f->hosts, f->host_ids.nr, &f->room_hosts, sizeof(*hosts));
	if (!hosts)
		return -ENOMEM;
	f->hosts = hosts;
	id = ids_add(&f->host_ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	hosts[id] = *h;
	hosts[id].name = arena_strdup(&f->arena, h->name);
	return hosts[id].name ? (__s64)id : -ENOMEM;
}

__s64 fleet_event_of(struct fleet *f, const struct snap_event *e)
{
	const struct snap_event *known = find_event(f->events, f->nr_events, e->name,
						    f->nr_events);
	struct snap_event *events;

	if (known)
		return known - f->events;
	events = ids_grow(f->events, f->nr_events, &f->room_events, sizeof(*events));
	if (!events)
		return -ENOMEM;
	f->events = events;
	events[f->nr_events] = (struct snap_event){
		.id = (__u32)f->nr_events, .unit = e->unit, .way = e->way,
	};
	strcpy(events[f->nr_events].group, e->group);
	strcpy(events[f->nr_events].name, e->name);
	return (__s64)f->nr_events++;
}

static __u64 lost_of(const struct snap_event *e)
{
	__u64 sum = 0;

	for (int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		sum += e->lost[i];
	return sum;
}

/*
 * What a filter left out here is filtered.  Of a session that was not stopped "seen" is of another
 * moment: what adds up is taken.
 */
static void add_event(struct snap_event *to, const struct snap_event *e, bool running)
{
	to->seen += running ? e->counted + e->filtered + lost_of(e) : e->seen;
	to->counted += e->counted - e->left_count;
	to->filtered += e->filtered + e->left_count;
	to->own += e->own;
	for (int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		to->lost[i] += e->lost[i];
	for (int i = 0; i < MEMTAP_PART_SLOTS; i++)
		to->part[i] += e->part[i];
}

static int add_hook(struct fleet *f, const struct memtap_rec_hook *h, __u32 event)
{
	struct memtap_rec_hook *hooks;

	for (size_t i = 0; i < f->nr_hooks; i++) {
		struct memtap_rec_hook *to = &f->hooks[i];

		if (to->event != event || to->state != h->state || to->error != h->error ||
		    to->way != h->way || strcmp(to->target, h->target))
			continue;
		to->hits += h->hits;
		to->missed += h->missed;
		return 0;
	}
	hooks = ids_grow(f->hooks, f->nr_hooks, &f->room_hooks, sizeof(*hooks));
	if (!hooks)
		return -ENOMEM;
	f->hooks = hooks;
	hooks[f->nr_hooks] = *h;
	hooks[f->nr_hooks].rec = (struct memtap_rec){ MEMTAP_REC_HOOK, sizeof(*h) };
	hooks[f->nr_hooks++].event = event;
	return 0;
}

/* All of it are numbers that add up. */
static void add_memory(struct memtap_rec_memory *to, const struct memtap_rec_memory *from)
{
	const size_t nr = (sizeof(*to) - sizeof(to->rec)) / sizeof(__u64);
	__u64 a[(sizeof(*to) - sizeof(to->rec)) / sizeof(__u64)], b[sizeof(a) / sizeof(a[0])];

	if (!from->rec.len)
		return;
	memcpy(a, &to->total, sizeof(a));
	memcpy(b, &from->total, sizeof(b));
	for (size_t i = 0; i < nr; i++)
		a[i] += b[i];
	memcpy(&to->total, a, sizeof(a));
	to->rec = (struct memtap_rec){ MEMTAP_REC_MEMORY, sizeof(*to) };
}

static void add_header(struct fleet *f, const struct memtap_rec_header *h)
{
	struct memtap_rec_header *to = &f->header;

	to->flags |= h->flags & (MEMTAP_CFG_ROWS | MEMTAP_CFG_CHILDREN);
	if (to->machine != h->machine)
		to->machine = 0;
	if (to->depth < h->depth)
		to->depth = h->depth;
	if (strcmp(to->release, h->release))
		to->release[0] = '\0';
	if (strcmp(to->version, h->version))
		to->version[0] = '\0';
	if (h->real_ns > to->real_ns)
		to->real_ns = h->real_ns;
}

int fleet_accounts(struct fleet *f, const struct snap *s, const __u32 *event_of)
{
	const char *title = fleet_note(s, "title");
	int err = 0;

	for (size_t i = 0; i < s->nr_events; i++)
		if (leaks_kept(s))
			f->lost_calls += lost_of(&s->events[i]);
		else
			add_event(&f->events[event_of[i]], &s->events[i], s->header.running);
	for (size_t i = 0; !err && !leaks_kept(s) && i < s->nr_hooks; i++)
		err = add_hook(f, &s->hooks[i],
			       event_of[snap_event(s, s->hooks[i].event) - s->events]);
	add_memory(&f->memory, &s->memory);
	add_header(f, &s->header);
	if (strcmp(f->title, title ? title : ""))
		f->title = "";
	f->sampled |= leaks_sampled(s);
	f->kills += s->nr_ooms;
	f->marks += s->nr_marks;
	return err;
}

/* ---- sentences ---- */

/* "... (in 3 recordings)": those that were counted before. */
static __u64 cut_count(const char *text, size_t *len)
{
	const char *at = strrchr(text, '(');
	unsigned long long n;
	int end = 0;

	*len = strlen(text);
	if (!at || at == text || at[-1] != ' ' ||
	    sscanf(at, "(in %llu recording%n", &n, &end) != 1 || !end ||
	    (strcmp(at + end, ")") && strcmp(at + end, "s)")))
		return 1;
	*len = (size_t)(at - 1 - text);
	return n;
}

/* @here: it is of this machine, and of no recording. */
static int add_note(struct fleet *f, const char *text, bool here)
{
	size_t len;
	const __u64 told = cut_count(text, &len), files = here ? 0 : told;
	struct fnote *notes;
	char *mine;

	for (size_t i = 0; i < f->nr_notes; i++)
		if (!strncmp(f->notes[i].text, text, len) && !f->notes[i].text[len]) {
			f->notes[i].files += files;
			return 0;
		}
	if (f->nr_notes == MAX_NOTES) {
		f->more_notes++;
		return 0;
	}
	notes = ids_grow(f->notes, f->nr_notes, &f->room_notes, sizeof(*notes));
	mine = arena_alloc(&f->arena, len + 1);
	if (notes)
		f->notes = notes;
	if (!notes || !mine)
		return -ENOMEM;
	memcpy(mine, text, len);
	notes[f->nr_notes++] = (struct fnote){ mine, files, text[len] != '\0' };
	return 0;
}

int fleet_notes_add(struct fleet *f, const struct snap *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->nr_notes; i++)
		if (!strncmp(s->notes[i], "foot=", 5) || !strncmp(s->notes[i], "note=", 5))
			err = add_note(f, s->notes[i], false);
	return err;
}

int fleet_add_note(struct fleet *f, const char *sentence)
{
	char note[1024];

	snprintf(note, sizeof(note), "foot=%.960s", sentence);
	return add_note(f, note, true);
}

/* ---- */

struct fleet *fleet_new(const struct fleet_opts *o)
{
	struct fleet *f = calloc(1, sizeof(*f));

	if (f)
		f->o = *o;
	return f;
}

void fleet_free(struct fleet *f)
{
	if (!f)
		return;
	fleet_tables_free(&f->t);
	arena_free(&f->arena);
	ids_free(&f->host_ids);
	ids_free(&f->known_ids);
	free(f->hosts);
	free(f->events);
	free(f->hooks);
	free(f->notes);
	free(f->known);
	free(f);
}

size_t fleet_nr_hosts(const struct fleet *f)
{
	return f->host_ids.nr;
}

const struct fleet_host *fleet_host(const struct fleet *f, size_t i)
{
	return &f->hosts[i];
}

size_t fleet_folded(const struct fleet *f)
{
	return f->folded;
}

__u64 fleet_bytes(const struct fleet *f)
{
	return f->peak > f->t.bytes ? f->peak : f->t.bytes;
}

size_t fleet_nr_notes(const struct fleet *f)
{
	return f->nr_notes;
}

const char *fleet_note_text(const struct fleet *f, size_t i, __u64 *files)
{
	*files = f->notes[i].files;
	return strchr(f->notes[i].text, '=') + 1;
}

bool fleet_is_level(const struct fleet *f)
{
	return f->kind != KIND_EVENTS;
}

size_t fleet_nr_events(const struct fleet *f)
{
	return f->nr_events;
}

const struct snap_event *fleet_event(const struct fleet *f, size_t i)
{
	return &f->events[i];
}

size_t fleet_nr_frames(const struct fleet *f, __u32 stack)
{
	const __u32 at = stack - MEMTAP_STACK_FIRST;

	return stack >= MEMTAP_STACK_FIRST && at < f->t.stack_ids.nr ? f->t.stacks[at].nr : 0;
}

/* (of fleets that are compared, where a place is a frame) */
struct sym_frame fleet_frame(const struct fleet *f, __u32 stack, size_t i)
{
	const struct fstack *st = &f->t.stacks[stack - MEMTAP_STACK_FIRST];
	__u32 pos = 0;

	return fleet_unpack(&f->t.places[st->places[i]], &pos);
}

__u32 fleet_stack_flags(const struct fleet *f, __u32 stack)
{
	return fleet_nr_frames(f, stack) || stack >= MEMTAP_STACK_FIRST ?
	       f->t.stacks[stack - MEMTAP_STACK_FIRST].flags : 0;
}

const char *fleet_no_stack(__u32 stack)
{
	return stack == MEMTAP_STACK_LOST ? "[stack not recorded]" :
	       stack == MEMTAP_STACK_BEFORE ? "[there before memtap]" :
	       stack == MEMTAP_STACK_UNSEEN ? "[came without a fault]" : NULL;
}
