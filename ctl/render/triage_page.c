// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the common parts of the triage and census pages. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "render/triage_int.h"

#define NAME_WIDTH	38

const char *const kind_words[NR_MACHINE_KIND] = {
	[KIND_FREE] = "free",
	[KIND_LISTS] = "free, on processors' lists",
	[KIND_ANON] = "anonymous",
	[KIND_SHMEM] = "shared (tmpfs, shm)",
	[KIND_FILE] = "files",
	[KIND_SLAB_UNRECLAIM] = "slab, unreclaimable",
	[KIND_SLAB_RECLAIM] = "slab, reclaimable",
	[KIND_MISC_RECLAIM] = "other reclaimable",
	[KIND_STACKS] = "kernel stacks",
	[KIND_PAGE_TABLES] = "page tables",
	[KIND_PERCPU] = "per processor",
	[KIND_VMALLOC] = "vmalloc, without stacks",
	[KIND_ZSMALLOC] = "compressed (zswap, zram)",
	[KIND_HUGETLB] = "huge pages (hugetlb)",
	[KIND_OTHER] = "bounce, balloon, GPU, broken",
	[KIND_UNACCOUNTED] = "unaccounted",
};

void page_paint(const struct triage_opts *o, enum page_color color, const char *text)
{
	static const char *const codes[] = { "", "32", "33", "1;31", "1" };

	if (o->color && color != COLOR_NONE)
		fprintf(o->out, "\033[%sm", codes[color]);
	text_put(o->out, text, NULL);
	if (o->color && color != COLOR_NONE)
		fputs("\033[0m", o->out);
}

enum page_color page_level(enum triage_level level)
{
	return level == LEVEL_BAD ? COLOR_BAD : level == LEVEL_WATCH ? COLOR_WATCH : COLOR_GOOD;
}

static void put_uptime(FILE *out, double s)
{
	const unsigned long long minutes = (unsigned long long)(s / 60);

	if (minutes >= 1440)
		fprintf(out, "up %llu d %02llu:%02llu", minutes / 1440, minutes / 60 % 24,
			minutes % 60);
	else
		fprintf(out, "up %llu:%02llu", minutes / 60, minutes % 60);
}

void page_head(const struct triage *t, const struct triage_opts *o, const char *what)
{
	const struct machine *m = t->now;
	char clock[TEXT_LEN], total[TEXT_LEN];

	if (o->real_ns)
		fprintf(o->out, "%s  ", o->past ? text_time(clock, o->real_ns) :
			text_clock(clock, o->real_ns));
	page_paint(o, COLOR_STRONG, what);
	fputs(": ", o->out);
	text_put(o->out, *m->host ? m->host : "this machine", NULL);
	fputs(", Linux ", o->out);
	text_put(o->out, *m->release ? m->release : "?", NULL);
	if (m->cpus)
		fprintf(o->out, ", %u CPU%s", m->cpus, text_s(m->cpus));
	fprintf(o->out, ", %s, ", text_bytes(total, (__s64)m->f.mem[MEM_TOTAL], false));
	put_uptime(o->out, m->uptime);
	fprintf(o->out, "; over %.1f s\n", t->seconds);
}

/* What counts as characters on the screen: bytes that begin one. */
static size_t columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void put_name(FILE *out, const char *name)
{
	size_t width = columns(name);

	/* the end of a path says more than its beginning */
	if (width > NAME_WIDTH) {
		const char *from = name;

		while (columns(from) > NAME_WIDTH - 3)
			from++;
		fputs("...", out);
		text_put(out, from, NULL);
		width = NAME_WIDTH;
	} else {
		text_put(out, name, NULL);
	}
	fprintf(out, "%*s", (int)(NAME_WIDTH - width), "");
}

/* Of a cache the beginning says more: what there is no room for is left out. */
static void also_text(const struct machine_holder *h, char *to, size_t room)
{
	snprintf(to, room, "%s, also %s", h->name, h->also);
	if (strlen(to) > NAME_WIDTH)
		memcpy(to + NAME_WIDTH - 3, "...", 4);
	if (strlen(h->name) > NAME_WIDTH)
		snprintf(to, room, "%s", h->name);
}

static void put_holder(const struct triage *t, const struct triage_opts *o,
		       const struct page_holders *p, const struct machine_growth *g, bool first)
{
	const struct machine_holder *h = g->now;
	const bool grows = g->grew >= triage_floor(t);
	char has[TEXT_LEN], grew[TEXT_LEN], text[600];

	fprintf(o->out, "  %-10s", first ? p->kind : "");
	if (h->pid)
		snprintf(text, sizeof(text), "%s (%u)", h->name, h->pid);
	else if (h->also)
		also_text(h, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%s", h->name);
	put_name(o->out, text);
	fprintf(o->out, " %11s  ", text_bytes(has, (__s64)h->bytes, false));
	snprintf(text, sizeof(text), "%11s", g->unknown ? "?" : !g->before ? "new" : g->grew ?
		 text_bytes(grew, g->grew, true) : "-");
	page_paint(o, grows ? COLOR_WATCH : COLOR_NONE, text);
	if (p->unit && h->objects)
		fprintf(o->out, "  %s %s%s", text_count(has, h->objects), p->unit,
			text_s(h->objects));
	if (p->limits && h->size && h->size != ~0ULL)
		fprintf(o->out, "  of %s", text_bytes(has, (__s64)h->size, false));
	if (h->swap)
		fprintf(o->out, "  %s in swap", text_bytes(has, (__s64)h->swap, false));
	if (p->pss)
		fprintf(o->out, "  PSS %s", h->has_pss ? text_bytes(has, (__s64)h->pss, false) :
			"not read");
	fputc('\n', o->out);
}

static bool picked(const size_t *rows, size_t nr, size_t i)
{
	for (size_t k = 0; k < nr; k++)
		if (rows[k] == i)
			return true;
	return false;
}

static bool left_out(const struct page_holders *p, const struct machine_holder *h)
{
	return p->no_root && !strcmp(h->name, "/");
}

#define TOP_MOST	32

/* Those that grow, then the largest of the others. */
size_t page_holders(const struct triage *t, const struct triage_opts *o,
		    const struct page_holders *p)
{
	size_t rows[TOP_MOST], nr = 0, best;

	for (size_t i = 0; i < p->nr && nr < p->top && nr < TOP_MOST; i++)
		if (p->at[i].grew >= triage_floor(t) && !left_out(p, p->at[i].now))
			rows[nr++] = i;
	while (!p->only_growing && nr < p->top && nr < TOP_MOST) {
		best = p->nr;
		for (size_t i = 0; i < p->nr; i++)
			if (p->at[i].now->bytes && !picked(rows, nr, i) &&
			    !left_out(p, p->at[i].now) &&
			    (best == p->nr || p->at[i].now->bytes > p->at[best].now->bytes))
				best = i;
		if (best == p->nr)
			break;
		rows[nr++] = best;
	}
	for (size_t i = 0; i < nr; i++)
		put_holder(t, o, p, &p->at[rows[i]], !i);
	return nr;
}

/* A sentence: its first letter is large, whatever it begins with. */
static void put_sentence(FILE *out, const char *seen)
{
	char first[2] = { seen[0], '\0' };

	if (first[0] >= 'a' && first[0] <= 'z')
		first[0] = (char)(first[0] - 'a' + 'A');
	text_put(out, first, NULL);
	text_put(out, seen + (*seen != '\0'), NULL);
}

#define THEN	2

void page_footer(const struct triage *t, const struct triage_opts *o)
{
	FILE *out = o->out;

	for (size_t i = 0; i < t->now->nr_gaps; i++) {
		fputs(i ? "          " : "not read  ", out);
		text_put(out, t->now->gaps[i].text, NULL);
		fputc('\n', out);
	}
	for (size_t i = 0; i < t->nr_found && i <= THEN; i++) {
		const struct triage_finding *f = &t->found[i];

		/* a moment that is over has findings that no command tells more about now */
		if (!*f->command) {
			fputs(i ? "  also: " : "\nSeen: ", out);
			put_sentence(out, f->seen);
			fputs(".\n", out);
			continue;
		}
		fputs(i ? "  then: " : "\nNext: ", out);
		page_paint(o, i ? COLOR_NONE : COLOR_STRONG, f->command);
		fputs("\n      ", out);
		fputs(i ? "  " : "", out);
		put_sentence(out, f->seen);
		fputs(".\n      ", out);
		fprintf(out, "%sIt shows %s.\n", i ? "  " : "", f->tells);
	}
}

void json_head(struct json *j, const struct triage *t, const struct triage_opts *o,
	       const char *document)
{
	const struct machine *m = t->now;
	char text[TEXT_LEN];

	json_document(j, document);
	if (o->real_ns)
		json_str(j, "time", text_time(text, o->real_ns));
	json_open(j, "machine", '{');
	json_str(j, "host", m->host);
	json_str(j, "release", m->release);
	json_u64(j, "cpus", m->cpus);
	json_seconds(j, "uptime", m->uptime);
	json_u64(j, "page_size", m->page);
	json_close(j, '}');
	json_seconds(j, "seconds", t->seconds);
}

void json_holders(struct json *j, const char *key, const struct machine_growth *at, size_t nr)
{
	const struct machine_holder *h;

	json_open(j, key, '[');
	for (size_t i = 0; i < nr; i++) {
		h = at[i].now;
		json_open(j, NULL, '{');
		json_str(j, "name", h->name);
		if (h->also)
			json_str(j, "other_names", h->also);
		if (h->pid)
			json_u64(j, "pid", h->pid);
		json_u64(j, "bytes", h->bytes);
		if (!at[i].unknown)
			json_s64(j, "grew", at[i].grew);
		json_bool(j, "new", !at[i].before && !at[i].unknown);
		if (h->anon)
			json_u64(j, "anon", h->anon);
		if (h->shmem)
			json_u64(j, "shmem", h->shmem);
		if (h->swap)
			json_u64(j, "swap", h->swap);
		if (h->has_pss) {
			json_u64(j, "pss", h->pss);
			json_u64(j, "uss", h->uss);
		}
		if (h->tables)
			json_u64(j, "page_tables", h->tables);
		if (h->objects)
			json_u64(j, "objects", h->objects);
		if (h->size && h->size != ~0ULL)
			json_u64(j, h->all_objects ? "object_size" : "size", h->size);
		if (h->hits)
			json_u64(j, "limit_hits", h->hits);
		if (h->oom_kills)
			json_u64(j, "oom_kills", h->oom_kills);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_account(struct json *j, const struct triage *t)
{
	static const char *const keys[NR_MACHINE_KIND] = {
		"free", "free_on_lists", "anonymous", "shmem", "files", "slab_unreclaimable",
		"slab_reclaimable", "misc_reclaimable", "kernel_stacks", "page_tables",
		"percpu", "vmalloc", "compressed", "hugetlb", "other", "unaccounted",
	};

	json_open(j, "account", '{');
	json_u64(j, "total", t->now->f.mem[MEM_TOTAL]);
	for (int i = 0; i < NR_MACHINE_KIND; i++) {
		if (!t->is.has[i])
			continue;
		json_open(j, keys[i], '{');
		json_s64(j, "bytes", t->is.bytes[i]);
		json_s64(j, "grew", t->is.bytes[i] - t->was.bytes[i]);
		json_close(j, '}');
	}
	json_close(j, '}');
}

void json_footer(struct json *j, const struct triage *t)
{
	json_open(j, "not_read", '[');
	for (size_t i = 0; i < t->now->nr_gaps; i++)
		json_str(j, NULL, t->now->gaps[i].text);
	json_close(j, ']');
	json_open(j, "next", '[');
	for (size_t i = 0; i < t->nr_found; i++) {
		json_open(j, NULL, '{');
		if (*t->found[i].command)
			json_str(j, "command", t->found[i].command);
		json_str(j, "reason", t->found[i].seen);
		if (*t->found[i].command)
			json_str(j, "answers", t->found[i].tells);
		json_u64(j, "urgency", (__u64)t->found[i].score);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
	fputc('\n', j->out);
}
