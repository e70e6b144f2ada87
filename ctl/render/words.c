// SPDX-License-Identifier: GPL-2.0-or-later
/* Phrases that several renderers share. */
#include <string.h>

#include "core/names.h"
#include "render/int.h"

const char *allowed_text(__u32 allowed, char buf[ALLOWED_TEXT])
{
	snprintf(buf, ALLOWED_TEXT, "%c%c%c%c", allowed & MEMTAP_MAPPING_READ ? 'r' : '-',
		 allowed & MEMTAP_MAPPING_WRITE ? 'w' : '-',
		 allowed & MEMTAP_MAPPING_EXEC ? 'x' : '-',
		 allowed & MEMTAP_MAPPING_SHARED ? 's' : 'p');
	return buf;
}

const char *pages_word(__u32 allowed)
{
	return allowed & MEMTAP_MAPPING_MERGED ? "merged" : allowed & MEMTAP_MAPPING_LAZY ?
	       "lazy-free" : allowed & MEMTAP_MAPPING_HUGE ? "huge" : NULL;
}

const char *pages_text(__u32 allowed)
{
	return allowed & MEMTAP_MAPPING_MERGED ? ", merged by KSM" :
	       allowed & MEMTAP_MAPPING_LAZY ? ", freed with MADV_FREE, not reclaimed yet" :
	       allowed & MEMTAP_MAPPING_HUGE ? ", in huge pages" : "";
}

const char *render_thing(const struct snap_event *e)
{
	return !*unit_name(e->unit) ? "event" : !strcmp(e->group, "live") ? "block" : "call";
}

__s64 render_weight(const struct view *v, const struct rrow *row)
{
	if (v->calls || !*unit_name(v->r->events[row->event].unit))
		return row->count;
	return report_growth(row);
}

__s64 render_was_weight(const struct view *v, const struct rrow *row)
{
	const struct rrow was = { .event = row->event, .flags = row->flags, .leak = row->leak,
				  .count = row->was_count, .sum = row->was_sum };

	return render_weight(v, &was);
}

/* Of recordings that were merged: how many, of how many hosts, and how long they took. */
static void put_merged(const struct snap *s, FILE *out)
{
	__u64 files = 0, running = 0, least = ~0ULL, most = 0;
	char n[TEXT_LEN], m[TEXT_LEN], when[TEXT_LEN];

	for (size_t i = 0; i < s->nr_hosts; i++) {
		const struct memtap_rec_host *h = s->hosts[i];

		files += h->files;
		running += h->running;
		least = h->least_ns < least ? h->least_ns : least;
		most = h->most_ns > most ? h->most_ns : most;
	}
	fprintf(out, "%s recording%s of %s host%s, %.3f", text_count(n, files), text_s(files),
		text_count(m, s->nr_hosts), text_s(s->nr_hosts), least / 1e9);
	if (least != most)
		fprintf(out, " to %.3f", most / 1e9);
	fprintf(out, " s%s, the last until %s", least == most && files > 1 ? " each" : "",
		text_time(when, s->header.real_ns));
	if (running)
		fprintf(out, ", %s not ended", text_count(n, running));
}

void render_title(const struct view *v, FILE *out)
{
	const struct memtap_rec_header *h = &v->r->snap->header;
	char when[TEXT_LEN];

	if (v->o->title) {
		text_put(out, v->o->title, NULL);
		fputs(", ", out);
	}
	if (v->r->snap->nr_hosts)
		put_merged(v->r->snap, out);
	else
		fprintf(out, "%.3f s until %s", (h->now_ns - h->start_ns) / 1e9,
			text_time(when, h->real_ns));
	if (*h->host) {
		fputs(" on ", out);
		text_put(out, h->host, NULL);
	}
	if (*h->release) {
		fputs(", Linux ", out);
		text_put(out, h->release, NULL);
	}
}

void render_program(const struct view *v, FILE *out)
{
	const char *launched = v->o->command ? strstr(v->o->command, " -- ") : NULL;

	if (v->o->program && *v->o->program)
		text_put(out, v->o->program, NULL);
	else if (launched && launched[4])
		text_put(out, launched + 4, NULL);
	else
		text_put(out, v->o->title ? v->o->title : "memtap", NULL);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void render_source(const struct rframe *f, FILE *out)
{
	if (f->sym && f->sym->inlined)
		fputs(" (inlined)", out);
	if (f->sym && f->sym->file && !f->any_line) {
		fputs(" at ", out);
		text_put(out, base_name(f->sym->file), NULL);
		if (f->sym->line)
			fprintf(out, ":%d", f->sym->line);
	}
}

const char *render_unread(const struct report *r, char buf[RENDER_UNREAD_LEN])
{
	const size_t n = r->o->no_user ? 0 : snap_unread(r->snap);
	char count[TEXT_LEN];

	if (!n)
		return NULL;
	snprintf(buf, RENDER_UNREAD_LEN, "mappings of %s%s process%s were not read yet: %s "
					 "functions have no names in this report",
					 n == SNAP_UNREAD_MAX ? "at least " : "",
		 text_count(count, n), n == 1 ? "" : "es", n == 1 ? "its" : "their");
	return buf;
}
