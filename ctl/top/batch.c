// SPDX-License-Identifier: GPL-2.0-or-later
/* Print one view of `memtap top` as text or JSON. */
#include <errno.h>

#include "base/json.h"
#include "top/batch.h"

#define PROCESSES	TOP_BATCH	/* and as many caches in JSON */
#define OTHER_LINES	13		/* of a page: head, columns, caches, advice, keys */
#define COLS		100

int batch_print(struct top *t, FILE *out)
{
	const size_t nr = t->nr_rows < 8 ? 8 : t->nr_rows < PROCESSES ? t->nr_rows : PROCESSES;
	struct canvas c = { 0 };

	if (!canvas_begin(&c, (int)nr + top_missing(t) + OTHER_LINES, COLS))
		return -ENOMEM;
	t->chosen = (size_t)-1;		/* there is no bar */
	t->batch = true;
	top_draw(t, &c);
	c.rows--;			/* that of keys */
	canvas_print(&c, out);
	canvas_free(&c);
	return 0;
}

static void put_processes(const struct top *t, struct json *j)
{
	json_open(j, "processes", '[');
	for (size_t i = 0; i < t->nr_rows && i < PROCESSES; i++) {
		const struct top_row *r = &t->rows[i];

		json_open(j, NULL, '{');
		json_u64(j, "pid", r->now->pid);
		json_str(j, "comm", r->now->name);
		json_s64(j, "rss", r->rss);
		if (r->now->has_pss) {
			json_u64(j, "pss", r->now->pss);
			json_u64(j, "uss", r->now->uss);
		}
		json_u64(j, "swap", r->now->swap);
		if (!r->unknown) {
			json_seconds(j, "rss_grew", r->grew);
			json_seconds(j, "heap_grew", r->heap);
			json_seconds(j, "faults", r->faults);
			json_seconds(j, "major_faults", r->major);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_caches(const struct top *t, struct json *j)
{
	const double seconds = top_seconds(t);

	json_open(j, "caches", '[');
	for (size_t i = 0; i < t->moment.now.slabs.nr && i < PROCESSES; i++) {
		const struct machine_growth *g = &t->moment.triage.slabs[i];

		json_open(j, NULL, '{');
		json_str(j, "name", g->now->name);
		json_u64(j, "bytes", g->now->bytes);
		json_u64(j, "objects", g->now->objects);
		json_seconds(j, "grew", g->before && seconds > 0 ? (double)g->grew / seconds : 0);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void batch_json(const struct top *t, FILE *out)
{
	const struct triage *tr = &t->moment.triage;
	const struct machine *m = &t->moment.now;
	struct json j = { .out = out, .line = true };

	json_document(&j, "top");
	json_u64(&j, "time_ns", t->real_ns);
	json_seconds(&j, "seconds", top_seconds(t));
	json_u64(&j, "total", m->f.mem[MEM_TOTAL]);
	json_u64(&j, "free", m->f.mem[MEM_FREE]);
	json_u64(&j, "available", machine_available(m));
	json_u64(&j, "swap_total", m->f.mem[MEM_SWAP_TOTAL]);
	json_u64(&j, "swap_free", m->f.mem[MEM_SWAP_FREE]);
	if (triage_some(tr) >= 0) {
		json_seconds(&j, "some_percent", triage_some(tr));
		json_seconds(&j, "full_percent", triage_full(tr));
	}
	json_seconds(&j, "faults", triage_rate(tr, VM_FAULTS));
	json_seconds(&j, "major_faults", triage_rate(tr, VM_MAJOR));
	json_u64(&j, "processes_seen", m->processes_seen);
	json_u64(&j, "processes_not_read", m->processes.late);
	json_u64(&j, "processes_not_read_before", t->unknown);
	json_u64(&j, "pss_not_read", t->no_pss);
	put_processes(t, &j);
	put_caches(t, &j);
	json_close(&j, '}');
	fputc('\n', out);
}
