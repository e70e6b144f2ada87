// SPDX-License-Identifier: GPL-2.0-or-later
/* Print single events in columns, and sums at the end. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/constants.h"
#include "base/json.h"
#include "base/text.h"
#include "machine/machine.h"
#include "render/lines.h"
#include "session/symbols.h"
#include "session/tracefs.h"
#include "target/maps.h"

#define MAX_COLUMNS	16
#define TEXT		128

/* What has happened to a process, or in a control group. */
struct sum {
	__u64 key;
	char comm[MEMTAP_COMM_LEN + 1];
	__u64 count, ns, max_ns, pages;
};

struct sums {
	struct sum *at;
	size_t nr, room;
};

/* One event's way to a column. */
struct way {
	int slot;			/* -1: it has none */
	struct symbols *symbols;
};

struct lines {
	const struct lines_ask *ask;
	struct lines_opts o;
	size_t nr;			/* columns */
	const struct plan_item *items[MEMTAP_MAX_EVENTS];
	struct way ways[MEMTAP_MAX_EVENTS][MAX_COLUMNS];
	int sum_slot[MEMTAP_MAX_EVENTS], ns_slot[MEMTAP_MAX_EVENTS];
	struct machine *machine;	/* its zones */
	struct sums processes, cgroups;
	__u64 count;
	unsigned long page_kb;
};

static int find_slot(const struct args *a, const char *field)
{
	for (__u32 i = 0; field && a && i < a->steps.nr_shown; i++)
		if (!strcmp(a->shown[i].name, field))
			return (int)i;
	return -1;
}

/* Of a pair either of the two may tell; else @names, which may be NULL. */
static struct symbols *find_symbols(const char *event, const char *field, const char *names)
{
	struct symbols *s = malloc(sizeof(*s));
	const char *dots = strstr(event, "..");
	char begin[MEMTAP_NAME_LEN];

	snprintf(begin, sizeof(begin), "%.*s", dots ? (int)(dots - event) : 127, event);
	if (s && ((dots && tracefs_symbols(dots + 2, field, s)) ||
		  tracefs_symbols(begin, field, s) ||
		  (names && tracefs_symbols(names, field, s))))
		return s;
	free(s);
	return NULL;
}

static void find_ways(struct lines *l, __u32 event)
{
	const struct plan_item *item = l->items[event];

	for (size_t c = 0; c < l->nr; c++) {
		const struct lines_column *col = &l->ask->columns[c];
		struct way *w = &l->ways[event][c];

		w->slot = find_slot(item->args, col->field);
		if ((col->kind == LINES_SYMBOLS || col->kind == LINES_RESULT) && w->slot >= 0)
			w->symbols = find_symbols(item->attach.name, col->field,
						  col->names);
	}
	l->sum_slot[event] = find_slot(item->args, l->ask->sum);
	l->ns_slot[event] = find_slot(item->args, "latency");
}

static void read_zones(struct lines *l)
{
	char *text;
	size_t len;

	l->machine = calloc(1, sizeof(*l->machine));
	if (!l->machine || maps_slurp(AT_FDCWD, "/proc/zoneinfo", &text, &len))
		return;
	zones_parse(text, l->machine);
	free(text);
}

struct lines *lines_new(const struct lines_ask *ask, const struct lines_opts *o,
			const struct plan *plan)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->ask = ask;
	l->o = *o;
	l->page_kb = (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
	while (l->nr < MAX_COLUMNS && ask->columns[l->nr].title)
		l->nr++;
	read_zones(l);
	for (size_t i = 0; i < plan->nr; i++) {
		const struct plan_item *item = &plan->items[i];
		const __u32 event = o->events ? o->events[i] : item->attach.way ?
				    item->attach.event : MEMTAP_MAX_EVENTS;

		if (event >= MEMTAP_MAX_EVENTS)
			continue;
		l->items[event] = item;
		find_ways(l, event);
	}
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	for (__u32 e = 0; e < MEMTAP_MAX_EVENTS; e++)
		for (size_t c = 0; c < l->nr; c++)
			free(l->ways[e][c].symbols);
	if (l->machine)
		free(l->machine->zones);
	free(l->machine);
	free(l->processes.at);
	free(l->cgroups.at);
	free(l);
}

/* ---- sums ---- */

static struct sum *find_sum(struct sums *s, __u64 key, const char *comm)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		const size_t middle = (low + high) / 2;
		const struct sum *at = &s->at[middle];
		const int c = at->key != key ? (at->key < key ? -1 : 1) : strcmp(at->comm, comm);

		if (!c)
			return &s->at[middle];
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (s->nr == s->room) {
		const size_t room = s->room ? 2 * s->room : 64;
		void *more = realloc(s->at, room * sizeof(*s->at));

		if (!more)
			return NULL;
		s->at = more;
		s->room = room;
	}
	memmove(&s->at[low + 1], &s->at[low], (s->nr - low) * sizeof(*s->at));
	s->nr++;
	memset(&s->at[low], 0, sizeof(*s->at));
	s->at[low].key = key;
	snprintf(s->at[low].comm, sizeof(s->at[low].comm), "%s", comm);
	return &s->at[low];
}

static void add(struct sum *s, __u64 ns, __u64 pages)
{
	if (!s)
		return;
	s->count++;
	s->ns += ns;
	s->pages += pages;
	if (ns > s->max_ns)
		s->max_ns = ns;
}

static __u64 cgroup_of(const struct snap *snap, const struct memtap_one *one)
{
	const struct memtap_rec_task *t = snap ? snap_task(snap, one->task) : NULL;

	return t ? snap_cgroup(t) : 0;
}

static int by_time(const void *va, const void *vb)
{
	const struct sum *a = va, *b = vb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static void put_group(const struct sum *s, bool cgroup, const struct snap *snap, struct sym *sym,
		      FILE *out)
{
	const char *path;

	if (!cgroup) {
		text_put(out, s->comm, NULL);
		fprintf(out, " [%lld]\n", (long long)s->key);
		return;
	}
	path = s->key ? sym_cgroup(sym, snap, s->key) : NULL;
	if (path)
		text_put(out, path, NULL);
	else
		fprintf(out, "cgroup %llu", (unsigned long long)s->key);
	fputc('\n', out);
}

static void put_sum(const struct lines *l, const struct sum *s, bool cgroup,
		    const struct snap *snap, struct sym *sym, FILE *out)
{
	char n[TEXT_LEN];

	fprintf(out, "%12s %12.3f %10.3f", text_count(n, s->count), (double)s->ns / 1e6,
		(double)s->max_ns / 1e6);
	if (l->ask->sum)
		fprintf(out, " %12s", text_count(n, s->pages));
	fputs("  ", out);
	put_group(s, cgroup, snap, sym, out);
}

static void put_json_sum(const struct lines *l, const struct sum *s, bool cgroup,
			 const struct snap *snap, struct sym *sym, FILE *out)
{
	struct json j = { .out = out, .line = true };

	json_document(&j, "waited");
	json_str(&j, "by", cgroup ? "cgroup" : "process");
	if (cgroup) {
		json_u64(&j, "cgroup", s->key);
		json_str(&j, "path", s->key ? sym_cgroup(sym, snap, s->key) : NULL);
	} else {
		json_str(&j, "comm", s->comm);
		json_u64(&j, "pid", s->key);
	}
	json_u64(&j, "count", s->count);
	json_u64(&j, "ns", s->ns);
	json_u64(&j, "max_ns", s->max_ns);
	if (l->ask->sum)
		json_u64(&j, "pages", s->pages);
	json_close(&j, '}');
	fputc('\n', out);
}

static void put_sums(const struct lines *l, const struct sums *sums, bool cgroup,
		     const struct snap *snap, struct sym *sym, FILE *out)
{
	const size_t most = l->o.top && l->o.top < sums->nr ? l->o.top : sums->nr;
	struct sum *sorted = malloc((sums->nr + 1) * sizeof(*sorted));

	if (!sorted)
		return;
	if (sums->nr)
		memcpy(sorted, sums->at, sums->nr * sizeof(*sorted));
	qsort(sorted, sums->nr, sizeof(*sorted), by_time);
	if (!l->o.json) {
		fprintf(out, "\n%12s %12s %10s", "COUNT", "TOTAL(ms)", "MAX(ms)");
		if (l->ask->sum)
			fprintf(out, " %12s", l->ask->sum_title);
		fprintf(out, "  %s\n", cgroup ? "CGROUP" : "PROCESS");
	}
	for (size_t i = 0; i < most; i++)
		if (l->o.json)
			put_json_sum(l, &sorted[i], cgroup, snap, sym, out);
		else
			put_sum(l, &sorted[i], cgroup, snap, sym, out);
	if (most < sums->nr && !l->o.json)
		fprintf(out, "%12zu more; --top shows N\n", sums->nr - most);
	free(sorted);
}

void lines_sums(const struct lines *l, const struct snap *snap, struct sym *sym, FILE *out)
{
	if (!l->count) {
		if (!l->o.json && !l->o.quiet)
			fputs("no events\n", out);
		return;
	}
	put_sums(l, &l->processes, false, snap, sym, out);
	put_sums(l, &l->cgroups, true, snap, sym, out);
}

/* ---- lines ---- */

void lines_header(const struct lines *l, FILE *out)
{
	if (l->o.json)
		return;
	fprintf(out, "%-*s %-15s %7s", l->o.unix_time ? 17 : l->o.real_ns ? 15 : 13, "TIME",
		"COMM", "PID");
	for (size_t c = 0; c < l->nr; c++)
		fprintf(out, " %*s", c + 1 == l->nr ? 0 : l->ask->columns[c].width,
			l->ask->columns[c].title);
	fputc('\n', out);
}

/* There may be thousands a second: numbers and blanks without printf(). */
static void put_blanks(int nr, FILE *out)
{
	static const char blanks[] = "                                        ";

	while (nr > 0) {
		const int some = nr < (int)sizeof(blanks) ? nr : (int)sizeof(blanks) - 1;

		fwrite(blanks, 1, (size_t)some, out);
		nr -= some;
	}
}

static void put_number(__u64 n, unsigned int width, char pad, FILE *out)
{
	char text[TEXT_LEN];

	fwrite(text, 1, (size_t)text_number(text, sizeof(text), n, 10, width, pad), out);
}

static void put_time(const struct lines_opts *o, __u64 ns, FILE *out)
{
	const __u64 since = ns > o->start_ns ? ns - o->start_ns : 0;
	const __u64 real = o->real_ns + since;
	const time_t t = (time_t)(real / 1000000000);
	struct tm tm;

	if (!o->real_ns || o->unix_time) {
		put_number(real / 1000000000, 6, ' ', out);
	} else if (localtime_r(&t, &tm)) {
		put_number((__u64)tm.tm_hour, 2, '0', out);
		fputc(':', out);
		put_number((__u64)tm.tm_min, 2, '0', out);
		fputc(':', out);
		put_number((__u64)tm.tm_sec, 2, '0', out);
	}
	fputc('.', out);
	put_number(real % 1000000000 / 1000, 6, '0', out);
}

static void copy(char *buf, const char *text)
{
	if (!memccpy(buf, text, 0, TEXT))
		buf[TEXT - 1] = '\0';
}

static void ms_text(char *buf, __u64 ns)
{
	const __u64 us = ns / 1000 + (ns % 1000 >= 500);
	const int n = text_number(buf, TEXT, us / 1000, 10, 0, 0);

	buf[n] = '.';
	text_number(buf + n + 1, TEXT - (size_t)n - 1, us % 1000, 10, 3, '0');
}

/* One line's event. */
struct line {
	const struct memtap_one *one;
	const struct snap *snap;
	struct sym *sym;
	struct steps_values v;
};

static bool known(const struct line *n, int slot)
{
	return slot >= 0 && n->v.known >> slot & 1;
}

static const char *zone_of(const struct lines *l, __u64 pfn, int *node)
{
	const struct machine_zone *z = l->machine ? machine_zone_of(l->machine, pfn) : NULL;

	*node = z ? z->node : -1;
	return z ? z->name : NULL;
}

static void cell(const struct lines *l, const struct line *n, size_t c, char *buf)
{
	const struct plan_item *item = l->items[n->one->event];
	const struct lines_column *col = &l->ask->columns[c];
	const struct way *w = &l->ways[n->one->event][c];
	const __u64 v = known(n, w->slot) ? n->v.number[w->slot] : 0;
	const char *name;
	__u64 id;
	int node;

	strcpy(buf, "-");
	if (col->kind == LINES_LABEL) {
		copy(buf, item->pick && item->pick->label ? item->pick->label : "-");
		return;
	}
	if (col->kind == LINES_CGROUP) {
		id = cgroup_of(n->snap, n->one);
		name = id ? sym_cgroup(n->sym, n->snap, id) : NULL;
		if (name)
			copy(buf, name);
		else if (id)
			snprintf(buf, TEXT, "%llu", (unsigned long long)id);
		return;
	}
	if (!known(n, w->slot))
		return;
	switch (col->kind) {
	case LINES_MS:
		ms_text(buf, v);
		break;
	case LINES_KB:
		text_number(buf, TEXT, v * l->page_kb, 10, 0, 0);
		break;
	case LINES_SYMBOLS:
		if (w->symbols)
			symbols_text(w->symbols, v, buf, TEXT);
		else
			snprintf(buf, TEXT, "0x%llx", (unsigned long long)v);
		break;
	case LINES_RESULT:
		if (w->symbols)
			symbols_text(w->symbols, v, buf, TEXT);
		else if (v)
			constants_text(CONST_RESULT, v, buf, TEXT);
		else
			strcpy(buf, "done");
		break;
	case LINES_NODE:
		zone_of(l, v, &node);
		if (node >= 0)
			snprintf(buf, TEXT, "%d", node);
		break;
	case LINES_ZONE:
		name = zone_of(l, v, &node);
		if (name)
			copy(buf, name);
		break;
	default:
		args_print_one(&item->args->shown[w->slot], &n->v, (size_t)w->slot, NULL, buf,
			       TEXT);
		break;
	}
}

static bool is_number(const struct lines_column *col, const char *text)
{
	return (col->kind == LINES_NUMBER || col->kind == LINES_NODE) && strcmp(text, "-");
}

static void put_json(const struct lines *l, const struct line *n, const char *comm, FILE *out)
{
	struct json j = { .out = out, .line = true };
	char buf[TEXT];

	json_document(&j, l->ask->document);
	json_u64(&j, "ns", n->one->ns > l->o.start_ns ? n->one->ns - l->o.start_ns : 0);
	if (l->o.real_ns)
		json_u64(&j, "real_ns", l->o.real_ns + (n->one->ns > l->o.start_ns ?
							n->one->ns - l->o.start_ns : 0));
	json_str(&j, "comm", comm);
	json_s64(&j, "pid", n->one->pid);
	json_s64(&j, "tid", n->one->tid);
	json_u64(&j, "cpu", n->one->cpu);
	for (size_t c = 0; c < l->nr; c++) {
		const struct lines_column *col = &l->ask->columns[c];
		const int slot = l->ways[n->one->event][c].slot;

		cell(l, n, c, buf);
		if (!strcmp(buf, "-"))
			json_str(&j, col->key, NULL);
		else if (col->kind == LINES_MS || col->kind == LINES_KB)
			json_u64(&j, col->key, n->v.number[slot] *
				 (col->kind == LINES_KB ? l->page_kb : 1));
		else if (col->kind == LINES_NUMBER &&
			 l->items[n->one->event]->args->shown[slot].show == ARGS_BOOL)
			json_bool(&j, col->key, !strcmp(buf, "true"));
		else if (is_number(col, buf))
			json_s64(&j, col->key, strtoll(buf, NULL, 0));
		else
			json_str(&j, col->key, buf);
	}
	json_close(&j, '}');
	fputc('\n', out);
}

static void put_text(const struct lines *l, const struct line *n, const char *comm, FILE *out)
{
	char buf[TEXT];

	put_time(&l->o, n->one->ns, out);
	fputc(' ', out);
	text_put(out, comm, NULL);
	put_blanks(16 - (int)strlen(comm), out);
	put_number((__u32)n->one->pid, 7, ' ', out);
	for (size_t c = 0; c < l->nr; c++) {
		const int width = l->ask->columns[c].width;
		int pad;

		cell(l, n, c, buf);
		pad = abs(width) - (int)strlen(buf);
		put_blanks(1 + (width > 0 && pad > 0 ? pad : 0), out);
		text_put(out, buf, NULL);
		if (c + 1 < l->nr && width < 0)
			put_blanks(pad, out);
	}
	fputc('\n', out);
}

void lines_put(struct lines *l, const struct memtap_one *one, const struct snap *snap,
	       struct sym *sym, FILE *out)
{
	static struct line n;
	const struct plan_item *item = one->event < MEMTAP_MAX_EVENTS ? l->items[one->event] :
				       NULL;
	const struct steps *st = item && item->args ? &item->args->steps : NULL;
	char comm[MEMTAP_COMM_LEN + 1] = "";
	__u64 ns, pages;

	if (!item)
		return;
	n.one = one;
	n.snap = snap;
	n.sym = sym;
	steps_clear(&n.v);
	if (st && !steps_unpack(st, &n.v, (1U << st->nr_shown) - 1, one->known, one + 1,
				one->len - (__u32)sizeof(*one)))
		steps_clear(&n.v);
	memcpy(comm, one->comm, MEMTAP_COMM_LEN);
	ns = known(&n, l->ns_slot[one->event]) ? n.v.number[l->ns_slot[one->event]] : 0;
	pages = known(&n, l->sum_slot[one->event]) ? n.v.number[l->sum_slot[one->event]] : 0;
	l->count++;
	add(find_sum(&l->processes, (__u64)one->pid, comm), ns, pages);
	add(find_sum(&l->cgroups, cgroup_of(snap, one), ""), ns, pages);
	if (l->o.json)
		put_json(l, &n, comm, out);
	else
		put_text(l, &n, comm, out);
}
