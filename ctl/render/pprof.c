// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write gzipped protobuf for `go tool pprof`, Parca and Pyroscope.  The profile is written in
 * pieces: one profile message for each sample, then the tables that samples refer to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/ids.h"
#include "core/names.h"
#include "render/int.h"

#ifdef WITH_PPROF
#include "render/pprof.pb-c.h"

#define GZIP		(15 + 16)	/* zlib's window, and that it is a gzip file */
#define MAX_LINES	32		/* functions inlined into one place */
#define MAX_LABELS	32

struct function {
	__u32 name, file;
};

/* @place: of code without names: whoever has the file can name it; or NULL. */
struct mapping {
	__u32 name;
	__u64 limit;
	const struct sym_place *place;
	bool kernel, files, lines, inlined;
};

struct location {
	const __u32 *frames;
	__u32 nr, mapping;		/* mapping: 0: none */
};

struct pprof {
	const struct view *v;
	struct column *columns;
	size_t nr_columns;
	struct arena arena;
	struct ids string_ids, function_ids, mapping_ids, location_ids;
	const char **strings;
	struct function *functions;
	struct mapping *mappings;
	struct location *locations;
	size_t room_strings, room_functions, room_mappings, room_locations;
	struct chain chain;
	uint64_t *places;		/* of a sample */
	size_t room_places;
	uint8_t *packed;
	size_t room_packed;
	z_stream z;
	FILE *out;
	int err;
};

/* ---- bytes ---- */

static void deflate_some(struct pprof *p, const void *bytes, size_t len, int flush)
{
	uint8_t out[16384];

	p->z.next_in = (Bytef *)bytes;
	p->z.avail_in = (uInt)len;
	do {
		p->z.next_out = out;
		p->z.avail_out = sizeof(out);
		deflate(&p->z, flush);
		fwrite(out, 1, sizeof(out) - p->z.avail_out, p->out);
	} while (!p->z.avail_out);
}

static void put(struct pprof *p, const PprofProfile *piece)
{
	const size_t len = pprof_profile__get_packed_size(piece);
	uint8_t *more;

	if (len > p->room_packed) {
		more = realloc(p->packed, 2 * len);
		if (!more) {
			p->err = -ENOMEM;
			return;
		}
		p->packed = more;
		p->room_packed = 2 * len;
	}
	pprof_profile__pack(piece, p->packed);
	deflate_some(p, p->packed, len, Z_NO_FLUSH);
}

/* ---- what samples refer to, by numbers; 0 and p->err: no memory ---- */

static bool same_string(const void *things, __u32 id, const void *key)
{
	return !strcmp(((const char *const *)things)[id], key);
}

static __u32 new_id(struct pprof *p, struct ids *ids, __u64 hash)
{
	const __u32 id = ids_add(ids, hash);

	if (id == IDS_NONE)
		p->err = -ENOMEM;
	return id == IDS_NONE ? 0 : id;
}

/* @text lives as long as the report, or is copied. */
static __u32 get_string(struct pprof *p, const char *text, bool copied)
{
	const __u64 hash = ids_hash_string(1, text);
	__u32 id = ids_find(&p->string_ids, hash, same_string, p->strings, text);
	const char **more;

	if (id != IDS_NONE)
		return id;
	more = ids_grow(p->strings, p->string_ids.nr, &p->room_strings, sizeof(*more));
	if (more)
		p->strings = more;
	if (copied)
		text = arena_strdup(&p->arena, text);
	if (!more || !text) {
		p->err = -ENOMEM;
		return 0;
	}
	id = new_id(p, &p->string_ids, hash);
	p->strings[id] = text;
	return id;
}

/* Protobuf's strings are UTF-8, and a line. */
static __u32 get_text(struct pprof *p, const char *text)
{
	char *clean = NULL;
	size_t len;
	FILE *f = open_memstream(&clean, &len);
	__u32 id = 0;

	if (f) {
		text_put(f, text, NULL);
		fclose(f);
	}
	if (clean)
		id = get_string(p, clean, true);
	else
		p->err = -ENOMEM;
	free(clean);
	return id;
}

static bool same_function(const void *things, __u32 id, const void *key)
{
	const struct function *a = (const struct function *)things + id, *b = key;

	return a->name == b->name && a->file == b->file;
}

/* From 1 on, as the following. */
static __u32 get_function(struct pprof *p, const struct rframe *f)
{
	struct function key = {
		.name = get_text(p, f->text),
		.file = get_text(p, f->sym && f->sym->file ? f->sym->file : ""),
	}, *more;
	const __u64 hash = ids_mix(ids_mix(1, key.name), key.file);
	__u32 id = ids_find(&p->function_ids, hash, same_function, p->functions, &key);

	if (id != IDS_NONE)
		return id + 1;
	more = ids_grow(p->functions, p->function_ids.nr, &p->room_functions, sizeof(*more));
	if (!more) {
		p->err = -ENOMEM;
		return 0;
	}
	p->functions = more;
	id = new_id(p, &p->function_ids, hash);
	p->functions[id] = key;
	return id + 1;
}

static bool same_mapping(const void *things, __u32 id, const void *key)
{
	const struct mapping *a = (const struct mapping *)things + id, *b = key;

	if (a->name != b->name || a->kernel != b->kernel || !a->place != !b->place)
		return false;
	return !a->place || (a->place->map_offset == b->place->map_offset &&
			     a->place->build_id_len == b->place->build_id_len &&
			     !memcmp(a->place->build_id, b->place->build_id,
				     sizeof(a->place->build_id)));
}

/* Code with names and code without are in different mappings: a reader names all of one. */
static __u32 get_mapping(struct pprof *p, const struct sym_frame *s)
{
	const char *object = s->kernel && !strcmp(s->object, "kernel") ? "[kernel.kallsyms]" :
			     s->place ? s->place->path : s->object;
	struct mapping key = { .name = get_text(p, object), .place = s->place,
			       .kernel = s->kernel }, *more;
	const __u64 hash = ids_mix(ids_mix(ids_mix(1, key.name), key.kernel),
				   s->place ? s->place->map_offset : ~0ULL);
	__u32 id = ids_find(&p->mapping_ids, hash, same_mapping, p->mappings, &key);

	if (!*object)
		return 0;
	if (id != IDS_NONE)
		return id + 1;
	more = ids_grow(p->mappings, p->mapping_ids.nr, &p->room_mappings, sizeof(*more));
	if (!more) {
		p->err = -ENOMEM;
		return 0;
	}
	p->mappings = more;
	id = new_id(p, &p->mapping_ids, hash);
	p->mappings[id] = key;
	return id + 1;
}

static bool same_location(const void *things, __u32 id, const void *key)
{
	const struct location *a = (const struct location *)things + id, *b = key;

	return a->nr == b->nr &&
	       (!a->nr || !memcmp(a->frames, b->frames, a->nr * sizeof(*a->frames)));
}

/*
 * Addresses of code without names are as if each file was mapped at a place of its own: what
 * readers subtract is a mapping's start, and they take a start of 0 for a kernel.
 */
static __u64 start_of(const struct mapping *m, __u32 id)
{
	return ((__u64)id << 32) + m->place->map_offset;
}

static __u64 address_of(const struct pprof *p, const struct sym_frame *s)
{
	return s && (!s->kernel || p->v->r->o->addresses) ? s->addr : 0;
}

static void see_mapping(struct pprof *p, struct location *l)
{
	const struct rframe *frames = p->v->r->frames;
	const struct sym_frame *last = l->nr ? frames[l->frames[l->nr - 1]].sym : NULL;
	struct mapping *m;

	l->mapping = last ? get_mapping(p, last) : 0;
	if (!l->mapping)
		return;
	m = &p->mappings[l->mapping - 1];
	if (m->place && last->place->map_len > m->limit)
		m->limit = last->place->map_len;
	else if (!m->place && address_of(p, last) >= m->limit)
		m->limit = address_of(p, last) + 1;
	m->inlined |= l->nr > 1;
	for (__u32 i = 0; i < l->nr; i++) {
		const struct sym_frame *s = frames[l->frames[i]].sym;

		m->files |= s->file != NULL;
		m->lines |= s->line > 0;
	}
}

/* A place in code: what was inlined there, and what it is in. */
static __u32 get_location(struct pprof *p, const __u32 *frames, __u32 nr)
{
	struct location key = { .frames = frames, .nr = nr }, *more;
	__u64 hash = ids_mix(1, nr);
	__u32 *copy, id;

	for (__u32 i = 0; i < nr; i++)
		hash = ids_mix(hash, frames[i]);
	id = ids_find(&p->location_ids, hash, same_location, p->locations, &key);
	if (id != IDS_NONE)
		return id + 1;
	more = ids_grow(p->locations, p->location_ids.nr, &p->room_locations, sizeof(*more));
	if (more)
		p->locations = more;
	copy = arena_alloc(&p->arena, (nr + 1) * sizeof(*copy));
	if (!more || !copy) {
		p->err = -ENOMEM;
		return 0;
	}
	if (nr)
		memcpy(copy, frames, nr * sizeof(*copy));
	key.frames = copy;
	see_mapping(p, &key);
	id = new_id(p, &p->location_ids, hash);
	p->locations[id] = key;
	return id + 1;
}

/* ---- samples ---- */

/* How many frames from @at on are one place. */
static __u32 frames_of(const struct pprof *p, size_t at)
{
	const struct chain *c = &p->chain;
	__u32 nr = 1;

	for (; nr < MAX_LINES && at + nr < c->nr; nr++) {
		const struct sym_frame *s = p->v->r->frames[c->at[at + nr - 1]].sym;

		if (!s || !s->inlined || !p->v->r->frames[c->at[at + nr]].sym)
			break;
	}
	return nr;
}

static size_t get_places(struct pprof *p)
{
	uint64_t *more;
	size_t nr = 0;
	__u32 used;

	if (p->chain.nr >= p->room_places) {
		more = reallocarray(p->places, 2 * p->chain.nr + 1, sizeof(*more));
		if (!more) {
			p->err = -ENOMEM;
			return 0;
		}
		p->places = more;
		p->room_places = 2 * p->chain.nr + 1;
	}
	for (size_t i = 0; i < p->chain.nr; i += used) {
		used = frames_of(p, i);
		p->places[nr++] = get_location(p, &p->chain.at[i], used);
	}
	if (!nr)
		p->places[nr++] = get_location(p, NULL, 0);
	return nr;
}

struct labels {
	PprofLabel at[MAX_LABELS], *all[MAX_LABELS];
	size_t nr;
};

static PprofLabel *add_label(struct pprof *p, struct labels *l, const char *key)
{
	PprofLabel *x = &l->at[l->nr];

	l->all[l->nr++] = x;
	pprof_label__init(x);
	x->key = get_string(p, key, false);
	return x;
}

static void label_text(struct pprof *p, struct labels *l, const char *key, const char *text)
{
	PprofLabel *x = add_label(p, l, key);

	x->has_str = true;
	x->str = get_text(p, text);
}

static void label_number(struct pprof *p, struct labels *l, const char *key, __u64 number)
{
	PprofLabel *x = add_label(p, l, key);

	x->has_num = true;
	x->num = (int64_t)number;
}

static void get_labels(struct pprof *p, const struct rrow *row, struct labels *l)
{
	const struct rgroup *g = &p->v->r->groups[row->group];
	const char *const *pair = p->v->profile ? p->v->profile->labels : NULL;

	l->nr = 0;
	for (; pair && pair[0] && l->nr < MAX_LABELS; pair += 2)
		label_text(p, l, pair[0], pair[1]);
	if (p->v->profile)
		return;
	if (g->comm)
		label_text(p, l, "comm", g->comm);
	if (g->pid)
		label_number(p, l, "pid", (__u32)g->pid);
	if (g->tid)
		label_number(p, l, "tid", (__u32)g->tid);
	if (g->cgroup_path)
		label_text(p, l, "cgroup", g->cgroup_path);
	else if (g->cgroup)
		label_number(p, l, "cgroup", g->cgroup);
	if (row->leak && row->flags != LEAK_UNKNOWN && row->flags < NR_LEAK_KINDS)
		label_text(p, l, "kind", reach_name(row->flags));
}

/* Of one group alone, or of all. */
static bool is_wanted(const struct pprof *p, const struct rrow *row)
{
	return !p->v->profile || row->group == p->v->group;
}

static void put_row(struct pprof *p, const struct rrow *row)
{
	PprofProfile piece = PPROF_PROFILE__INIT;
	PprofSample sample = PPROF_SAMPLE__INIT, *samples = &sample;
	int64_t *values = alloca(p->nr_columns * sizeof(*values) + 1);
	struct labels labels;

	p->err = render_chain(p->v->r, row, &p->chain);
	if (p->err)
		return;
	for (size_t i = 0; i < p->nr_columns; i++)
		values[i] = (int64_t)render_column(&p->columns[i], row);
	get_labels(p, row, &labels);
	sample.n_location_id = get_places(p);
	sample.location_id = p->places;
	sample.n_value = p->nr_columns;
	sample.value = values;
	sample.n_label = labels.nr;
	sample.label = labels.all;
	piece.n_sample = 1;
	piece.sample = &samples;
	if (!p->err)
		put(p, &piece);
}

static void put_rows(struct pprof *p)
{
	const struct report *r = p->v->r;

	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct rsection *s = &r->sections[i];

		for (size_t k = 0; !p->err && k < s->shown; k++)
			if (is_wanted(p, report_shown(r, s, k)))
				put_row(p, report_shown(r, s, k));
	}
}

/* ---- the rest ---- */

static const char *unit_of(const char *unit)
{
	return strcmp(unit, "ns") ? unit : "nanoseconds";
}

static void put_type(struct pprof *p, const char *type, const char *unit)
{
	PprofProfile piece = PPROF_PROFILE__INIT;
	PprofValueType x = PPROF_VALUE_TYPE__INIT, *all = &x;

	x.type = get_string(p, type, false);
	x.unit = get_string(p, unit_of(unit), false);
	piece.n_sample_type = 1;
	piece.sample_type = &all;
	put(p, &piece);
}

/* Of blocks as Go's heap profiles have it. */
static const char *type_of(const struct pprof *p, const struct column *c)
{
	static const char *const types[RLEAKS_EVENTS][2] = {
		{ "inuse_objects", "inuse_space" }, { "mapped_objects", "mapped_space" },
		{ "pages_objects", "pages_space" }, { "percpu_objects", "percpu_space" },
		{ "vmalloc_objects", "vmalloc_space" }, { "peak_objects", "peak_space" },
		{ "alloc_objects", "alloc_space" }, { "temporary_objects", "temporary_space" },
	};

	return p->v->r->leaks ? types[c->event][c->value] : c->name;
}

/* Which blocks are lost is a label: columns of each kind have no say here. */
static void drop_kinds(struct pprof *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nr_columns; i++)
		if (p->columns[i].kind < 0)
			p->columns[kept++] = p->columns[i];
	p->nr_columns = kept;
}

/* What was asked for is what a reader shows first. */
static const struct column *first_type(const struct pprof *p)
{
	const __u32 of = p->v->o->rows.of;

	for (size_t i = 0; p->v->r->leaks && of && i < p->nr_columns; i++)
		if (of & 1U << p->columns[i].event)
			return &p->columns[i];
	return &p->columns[0];
}

/* One sample stands for so much. */
static void put_period(struct pprof *p)
{
	const __u64 bytes = p->v->profile->sample_bytes;
	PprofProfile piece = PPROF_PROFILE__INIT;
	PprofValueType x = PPROF_VALUE_TYPE__INIT;

	x.type = get_string(p, p->v->r->leaks ? "space" : "events", false);
	x.unit = get_string(p, p->v->r->leaks ? "bytes" : "count", false);
	piece.period_type = &x;
	piece.has_period = true;
	piece.period = bytes ? (int64_t)bytes : 1;
	put(p, &piece);
}

static void put_types(struct pprof *p)
{
	PprofProfile piece = PPROF_PROFILE__INIT;
	const struct memtap_rec_header *h = &p->v->r->snap->header;
	const __u64 duration = p->v->profile ? p->v->profile->duration_ns : 0;

	for (size_t i = 0; i < p->nr_columns; i++)
		put_type(p, type_of(p, &p->columns[i]), p->columns[i].unit);
	piece.has_time_nanos = true;
	piece.time_nanos = (int64_t)h->real_ns;
	piece.has_duration_nanos = true;
	piece.duration_nanos = (int64_t)(duration ? duration : h->now_ns - h->start_ns);
	piece.has_default_sample_type = p->nr_columns;
	if (p->nr_columns)
		piece.default_sample_type = get_string(p, type_of(p, first_type(p)), false);
	put(p, &piece);
}

static void put_comment(struct pprof *p, const char *line)
{
	PprofProfile piece = PPROF_PROFILE__INIT;
	int64_t id = get_text(p, line);

	piece.n_comment = 1;
	piece.comment = &id;
	put(p, &piece);
}

static void put_comments(struct pprof *p)
{
	const char *const *more = p->v->profile ? p->v->profile->comments : NULL;
	char *text = NULL, *line, *rest;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f) {
		render_title(p->v, f);
		fprintf(f, "\n%s\n", p->v->o->command ? p->v->o->command : "");
		for (; more && *more; more++)
			fprintf(f, "%s\n", *more);
		render_losses(p->v, "", "this file", f);
		fclose(f);
	}
	if (!text)
		p->err = -ENOMEM;
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		put_comment(p, line);
	free(text);
}

/* A location without frames: samples must have one. */
static const struct rframe no_stack = { .text = RENDER_NO_STACK };

static void put_location(struct pprof *p, __u32 id)
{
	const struct location *l = &p->locations[id];
	const struct rframe *frames = p->v->r->frames;
	const struct sym_frame *last = l->nr ? frames[l->frames[l->nr - 1]].sym : NULL;
	const bool unnamed = l->mapping && p->mappings[l->mapping - 1].place;
	/* a receiver may have no file to name it by: there it is called by its place */
	const bool bare = unnamed && !p->v->profile;
	PprofProfile piece = PPROF_PROFILE__INIT;
	PprofLocation x = PPROF_LOCATION__INIT, *all = &x;
	PprofLine lines[MAX_LINES], *at[MAX_LINES];

	for (__u32 i = 0; !bare && (i < l->nr || !i); i++) {
		const struct rframe *f = l->nr ? &frames[l->frames[i]] : &no_stack;

		at[i] = &lines[i];
		pprof_line__init(at[i]);
		lines[i].function_id = get_function(p, f);
		lines[i].line = f->sym ? f->sym->line : 0;
	}
	x.id = id + 1;
	x.mapping_id = l->mapping;
	if (unnamed)
		x.address = start_of(&p->mappings[l->mapping - 1], l->mapping) +
			    last->place->offset - last->place->map_offset;
	else if (l->nr)
		x.address = address_of(p, last);
	x.n_line = bare ? 0 : l->nr ? l->nr : 1;
	x.line = at;
	piece.n_location = 1;
	piece.location = &all;
	put(p, &piece);
}

static void put_function(struct pprof *p, __u32 id)
{
	PprofProfile piece = PPROF_PROFILE__INIT;
	PprofFunction x = PPROF_FUNCTION__INIT, *all = &x;

	x.id = id + 1;
	/* another one than "name": then pprof does not cut what it takes for C++ */
	x.system_name = 0;
	x.name = p->functions[id].name;
	x.filename = p->functions[id].file;
	piece.n_function = 1;
	piece.function = &all;
	put(p, &piece);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file that is called so; NULL: none, or which one is not clear. */
static const struct snap_file *find_file(const struct snap *s, const char *object)
{
	const struct snap_file *found = NULL;

	for (size_t i = 0; i < s->nr_files; i++) {
		if (strcmp(base_name(s->files[i].path), object))
			continue;
		if (found)
			return NULL;
		found = &s->files[i];
	}
	return found;
}

static void put_id(char *hex, const __u8 *id, __u32 len)
{
	for (__u32 i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
}

/* Where it lies, if a reader is to find names of its code by its build ID; else at 0. */
static void put_mapping(struct pprof *p, __u32 id)
{
	const struct mapping *m = &p->mappings[id];
	const struct snap_file *f = m->kernel || m->place ? NULL :
				    find_file(p->v->r->snap, p->strings[m->name]);
	PprofProfile piece = PPROF_PROFILE__INIT;
	PprofMapping x = PPROF_MAPPING__INIT, *all = &x;
	char hex[2 * sizeof(f->build_id) + 1] = "";

	if (f)
		put_id(hex, f->build_id, f->build_id_len);
	else if (m->place)
		put_id(hex, m->place->build_id, m->place->build_id_len);
	x.id = id + 1;
	x.memory_start = m->place ? start_of(m, id + 1) : 0;
	x.memory_limit = x.memory_start + (m->limit ? m->limit : 1);
	x.file_offset = m->place ? m->place->map_offset : 0;
	x.filename = f ? get_text(p, f->path) : m->name;
	x.build_id = get_string(p, hex, true);
	x.has_functions = !m->place;
	x.has_filenames = m->files;
	x.has_line_numbers = m->lines;
	x.has_inline_frames = m->inlined;
	piece.n_mapping = 1;
	piece.mapping = &all;
	put(p, &piece);
}

static void put_tables(struct pprof *p)
{
	PprofProfile piece = PPROF_PROFILE__INIT;

	for (__u32 i = 0; !p->err && i < p->location_ids.nr; i++)
		put_location(p, i);
	for (__u32 i = 0; !p->err && i < p->function_ids.nr; i++)
		put_function(p, i);
	for (__u32 i = 0; !p->err && i < p->mapping_ids.nr; i++)
		put_mapping(p, i);
	piece.n_string_table = p->string_ids.nr;
	piece.string_table = (char **)p->strings;
	if (!p->err)
		put(p, &piece);
}

int render_pprof(const struct view *v, FILE *out)
{
	struct pprof p = { .v = v, .out = out };

	if (deflateInit2(&p.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	p.columns = render_columns(v, &p.nr_columns);
	if (!p.columns)
		p.err = -ENOMEM;
	get_string(&p, "", false);
	drop_kinds(&p);
	if (!p.err)
		put_types(&p);
	if (!p.err && v->profile)
		put_period(&p);
	if (!p.err)
		put_comments(&p);
	if (!p.err)
		put_rows(&p);
	if (!p.err)
		put_tables(&p);
	deflate_some(&p, "", 0, Z_FINISH);
	deflateEnd(&p.z);
	ids_free(&p.string_ids);
	ids_free(&p.function_ids);
	ids_free(&p.mapping_ids);
	ids_free(&p.location_ids);
	free(p.strings);
	free(p.functions);
	free(p.mappings);
	free(p.locations);
	free(p.places);
	free(p.packed);
	free(p.columns);
	render_chain_free(&p.chain);
	arena_free(&p.arena);
	return p.err;
}

const char **render_pprof_types(const struct view *v)
{
	struct pprof p = { .v = v };
	const size_t size = sizeof(p.columns->name);
	const char **pairs = NULL;
	char *names;

	p.columns = render_columns(v, &p.nr_columns);
	if (p.columns) {
		drop_kinds(&p);
		pairs = calloc(1, (2 * p.nr_columns + 1) * sizeof(*pairs) + p.nr_columns * size);
	}
	names = (char *)(pairs + 2 * p.nr_columns + 1);
	for (size_t i = 0; pairs && i < p.nr_columns; i++) {
		snprintf(names + i * size, size, "%s", type_of(&p, &p.columns[i]));
		pairs[2 * i] = names + i * size;
		pairs[2 * i + 1] = unit_of(p.columns[i].unit);
	}
	free(p.columns);
	return pairs;
}

const char *render_missing(enum report_format format __attribute__((unused)))
{
	return NULL;
}
#else
const char **render_pprof_types(const struct view *v __attribute__((unused)))
{
	return NULL;
}

int render_pprof(const struct view *v __attribute__((unused)), FILE *out __attribute__((unused)))
{
	return -EOPNOTSUPP;
}

const char *render_missing(enum report_format format)
{
	return format != FORMAT_PPROF ? NULL :
	       "this memtap was built without protobuf-c, and cannot write --format pprof";
}
#endif
