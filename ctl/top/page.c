// SPDX-License-Identifier: GPL-2.0-or-later
/* Draw the screen: header, processes, kernel caches and keys; or stacks; or help. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "top/state.h"

#define LOW		14		/* fewer lines: a head of two, no advice */
#define CACHES_FROM	20		/* lines from which on caches have room */
#define NR_CACHES	4
#define NARROW		60
#define NAME_LEAST	8		/* for the columns that are always there, */
#define NAME_FAIR	15		/* and for the others */
#define MAIN_COLUMNS	2

static int head_lines(int rows)
{
	return rows < LOW ? 3 : 4;
}

static int footer_lines(const struct top *t, int rows)
{
	int nr = 1;

	if (!t->watching && rows >= LOW)
		nr++;				/* the advice */
	if (!t->watching && rows >= CACHES_FROM)
		nr += NR_CACHES + 2;		/* an empty line, and their own */
	return nr;
}

bool top_missing(const struct top *t)
{
	return !t->watching && t->moment.has && (t->moment.now.processes.late || t->unknown);
}

int top_page(const struct top *t, int rows)
{
	/* the line of columns, or of what is watched */
	const int nr = rows - head_lines(rows) - 1 - top_missing(t) - footer_lines(t, rows);

	return nr < 1 ? 1 : nr;
}

/* ---- the machine ---- */

static void draw_title(const struct top *t, struct canvas *c)
{
	const struct machine *m = &t->moment.now;
	char clock[TEXT_LEN], right[TEXT_LEN + 32];
	int x, len;

	x = canvas_put(c, 0, 0, LOOK_STRONG, "memtap top");
	x = canvas_put(c, 0, x, LOOK_PLAIN, ": ");
	x = canvas_put(c, 0, x, LOOK_PLAIN, *m->host ? m->host : "this machine");
	if (c->cols >= NARROW)
		x = canvas_printf(c, 0, x, LOOK_PLAIN, ", Linux %s, %u CPU%s", m->release, m->cpus,
				  text_s(m->cpus));
	if (t->past)
		snprintf(right, sizeof(right), "%.3g s until %s", t->interval,
			 text_time(clock, t->real_ns));
	else
		snprintf(right, sizeof(right), "every %g s%s%s", t->interval,
			 t->real_ns ? "  " : "", t->real_ns ? text_clock(clock, t->real_ns) : "");
	len = (int)strlen(right);
	if (x + 2 + len <= c->cols)
		canvas_put(c, 0, c->cols - len, LOOK_PLAIN, right);
}

static const char *per_second(char buf[TEXT_LEN], double bytes)
{
	if (bytes > -0.5 && bytes < 0.5)
		return strcpy(buf, "-");
	return text_bytes(buf, (__s64)bytes, true);
}

static enum canvas_look look_of(enum triage_level level)
{
	return level == LEVEL_BAD ? LOOK_BAD : level == LEVEL_WATCH ? LOOK_WATCH : LOOK_PLAIN;
}

static void draw_memory(const struct top *t, struct canvas *c, int y)
{
	const struct triage *tr = &t->moment.triage;
	const struct machine *m = &t->moment.now;
	const double seconds = top_seconds(t);
	char total[TEXT_LEN], free[TEXT_LEN], left[TEXT_LEN], grew[TEXT_LEN];
	double rate = 0;
	int x;

	if (t->moment.has && seconds > 0)
		rate = (double)((__s64)(machine_available(m) -
			machine_available(&t->moment.before))) / seconds;
	text_bytes(total, (__s64)m->f.mem[MEM_TOTAL], false);
	text_bytes(free, (__s64)m->f.mem[MEM_FREE], false);
	text_bytes(left, (__s64)machine_available(m), false);
	per_second(grew, rate);
	if (c->cols < NARROW) {
		x = canvas_put(c, y, 0, look_of(tr->level[LINE_MEMORY]), "avail ");
		canvas_printf(c, y, x, LOOK_PLAIN, "%s %s/s", left, grew);
		return;
	}
	x = canvas_put(c, y, 0, look_of(tr->level[LINE_MEMORY]), "memory  ");
	canvas_printf(c, y, x, LOOK_PLAIN, "%s, free %s, available %s (%s/s)", total, free, left,
		      grew);
}

static void draw_swap(const struct top *t, struct canvas *c, int y)
{
	const struct triage *tr = &t->moment.triage;
	const __u64 *mem = t->moment.now.f.mem;
	char total[TEXT_LEN], free[TEXT_LEN], in[TEXT_LEN], out[TEXT_LEN];
	int x = canvas_put(c, y, 0, look_of(tr->level[LINE_SWAP]), "swap    ");

	if (!mem[MEM_SWAP_TOTAL]) {
		canvas_put(c, y, x, LOOK_PLAIN, "none");
		return;
	}
	x = canvas_printf(c, y, x, LOOK_PLAIN, "%s, free %s",
			  text_bytes(total, (__s64)mem[MEM_SWAP_TOTAL], false),
			  text_bytes(free, (__s64)mem[MEM_SWAP_FREE], false));
	if (t->moment.has)
		canvas_printf(c, y, x, LOOK_PLAIN, ", pages/s: in %s, out %s",
			      text_count(in, (__u64)triage_rate(tr, VM_SWAP_IN)),
			      text_count(out, (__u64)triage_rate(tr, VM_SWAP_OUT)));
}

/* Who waits: where the kernel counts it (since v4.20), else what reclaim does. */
static void draw_waits(const struct top *t, struct canvas *c, int y)
{
	const struct triage *tr = &t->moment.triage;
	char a[TEXT_LEN], b[TEXT_LEN];
	int x;

	if (!t->moment.has)
		return;
	if (triage_some(tr) >= 0) {
		x = canvas_put(c, y, 0, look_of(tr->level[LINE_STALLS]), "stalls  ");
		x = canvas_printf(c, y, x, LOOK_PLAIN, c->cols < NARROW ? "%.1f %%, all %.1f %%" :
				  "%.1f %% some, %.1f %% all waited (PSI)", triage_some(tr),
				  triage_full(tr));
	} else if (!t->moment.now.f.has_vm[VM_SCAN_KSWAPD]) {
		x = canvas_put(c, y, 0, LOOK_PLAIN, "stalls  not known");
	} else {
		x = canvas_put(c, y, 0, look_of(tr->level[LINE_RECLAIM]), "reclaim ");
		x = canvas_printf(c, y, x, LOOK_PLAIN, "pages/s: kswapd %s, direct %s",
				  text_count(a, (__u64)triage_rate(tr, VM_SCAN_KSWAPD)),
				  text_count(b, (__u64)triage_rate(tr, VM_SCAN_DIRECT)));
	}
	if (c->cols >= NARROW && t->moment.now.f.has_vm[VM_FAULTS])
		canvas_printf(c, y, x, LOOK_PLAIN, "; faults/s %s, major %s",
			      text_count(a, (__u64)triage_rate(tr, VM_FAULTS)),
			      text_count(b, (__u64)triage_rate(tr, VM_MAJOR)));
}

static void draw_head(const struct top *t, struct canvas *c)
{
	int y = 0;

	draw_title(t, c);
	draw_memory(t, c, ++y);
	if (c->rows >= LOW)
		draw_swap(t, c, ++y);
	draw_waits(t, c, ++y);
}

/* ---- processes ---- */

/* One that was not read at the last look has no rates. */
static bool is_unknown(char buf[TEXT_LEN], const struct top_row *r)
{
	if (r->unknown)
		strcpy(buf, "?");
	return r->unknown;
}

static void put_grew(char buf[TEXT_LEN], const struct top_row *r)
{
	if (!is_unknown(buf, r))
		per_second(buf, r->grew);
}

static void put_rss(char buf[TEXT_LEN], const struct top_row *r)
{
	text_bytes(buf, r->rss, false);
}

static void put_pss(char buf[TEXT_LEN], const struct top_row *r)
{
	if (r->now->has_pss)
		text_bytes(buf, (__s64)r->now->pss, false);
	else
		strcpy(buf, "?");
}

static void put_heap(char buf[TEXT_LEN], const struct top_row *r)
{
	if (!is_unknown(buf, r))
		per_second(buf, r->heap);
}

static void put_faults(char buf[TEXT_LEN], const struct top_row *r)
{
	if (!is_unknown(buf, r))
		text_count(buf, (__u64)(r->faults + 0.5));
}

static void put_major(char buf[TEXT_LEN], const struct top_row *r)
{
	if (!is_unknown(buf, r))
		text_count(buf, (__u64)(r->major + 0.5));
}

static void put_swap(char buf[TEXT_LEN], const struct top_row *r)
{
	if (r->now->swap)
		text_bytes(buf, (__s64)r->now->swap, false);
	else
		strcpy(buf, "-");
}

/* In the order of the screen; those of a higher number give way first. */
static const struct {
	const char *head;
	int width, gives_way;
	int sort;			/* enum top_sort, or -1 */
	void (*put)(char buf[TEXT_LEN], const struct top_row *r);
} columns[] = {
	{ "+RSS/s", 11, 0, TOP_BY_GROWTH, put_grew },
	{ "RSS", 10, 1, TOP_BY_RSS, put_rss },
	{ "PSS", 10, 4, -1, put_pss },
	{ "+HEAP/s", 11, 3, TOP_BY_HEAP, put_heap },
	{ "FAULTS/s", 9, 2, TOP_BY_FAULTS, put_faults },
	{ "MAJOR/s", 7, 5, -1, put_major },
	{ "SWAP", 10, 6, -1, put_swap },
};

#define NR_COLUMNS	((int)(sizeof(columns) / sizeof(columns[0])))
#define PID_WIDTH	7

/* Which columns fit, and how wide is the name? */
static unsigned int choose_columns(int cols, int *name)
{
	unsigned int shown = 0;

	*name = cols - PID_WIDTH - 1;
	for (int rank = 0; rank < NR_COLUMNS; rank++)
		for (int i = 0; i < NR_COLUMNS; i++)
			if (columns[i].gives_way == rank && *name - columns[i].width - 1 >=
			    (rank < MAIN_COLUMNS ? NAME_LEAST : NAME_FAIR)) {
				shown |= 1U << i;
				*name -= columns[i].width + 1;
			}
	return shown;
}

static void draw_columns(const struct top *t, struct canvas *c, int y)
{
	int name, x;
	const unsigned int shown = choose_columns(c->cols, &name);

	canvas_line(c, y, LOOK_BAR);
	canvas_right(c, y, PID_WIDTH, PID_WIDTH, LOOK_BAR,
		     t->sort == TOP_BY_PID ? "*PID" : "PID");
	canvas_put(c, y, PID_WIDTH + 1, LOOK_BAR, "COMMAND");
	x = PID_WIDTH + 1 + name;
	for (int i = 0; i < NR_COLUMNS; i++) {
		char head[16];

		if (!(shown >> i & 1))
			continue;
		x += columns[i].width + 1;
		snprintf(head, sizeof(head), "%s%s", columns[i].sort == (int)t->sort ? "*" : "",
			 columns[i].head);
		canvas_right(c, y, x, columns[i].width, LOOK_BAR, head);
	}
}

static void draw_row(const struct top *t, struct canvas *c, int y, size_t i)
{
	const struct top_row *r = &t->rows[i];
	const bool chosen = i == t->chosen;
	enum canvas_look look = chosen ? LOOK_CHOSEN :
				r->grew >= (double)triage_floor(&t->moment.triage) ? LOOK_WATCH :
				LOOK_PLAIN;
	char text[TEXT_LEN];
	int name, x;
	const unsigned int shown = choose_columns(c->cols, &name);

	if (chosen)
		canvas_line(c, y, LOOK_CHOSEN);
	snprintf(text, sizeof(text), "%u", r->now->pid);
	canvas_right(c, y, PID_WIDTH, PID_WIDTH, look, text);
	snprintf(text, sizeof(text), "%.*s", name > 15 ? 15 : name, r->now->name);
	canvas_put(c, y, PID_WIDTH + 1, look, text);
	x = PID_WIDTH + 1 + name;
	for (int col = 0; col < NR_COLUMNS; col++) {
		if (!(shown >> col & 1))
			continue;
		x += columns[col].width + 1;
		columns[col].put(text, r);
		canvas_right(c, y, x, columns[col].width, look, text);
	}
}

static void draw_missing(const struct top *t, struct canvas *c, int y)
{
	const struct machine *m = &t->moment.now;
	char late[TEXT_LEN], all[TEXT_LEN], unknown[TEXT_LEN];
	int x = 0;

	if (m->processes.late)
		x = canvas_printf(c, y, x, LOOK_WATCH, "no time to read %s of %s processes",
				  text_count(late, m->processes.late),
				  text_count(all, m->processes_seen));
	if (t->unknown)
		canvas_printf(c, y, x, LOOK_PLAIN, "%s?: %s not read in the last sample",
			      x ? "; " : "", text_count(unknown, t->unknown));
}

static void draw_processes(struct top *t, struct canvas *c, int y)
{
	const size_t page = (size_t)top_page(t, c->rows);

	draw_columns(t, c, y);
	if (t->batch)
		t->first = 0;
	else if (t->chosen < t->first)
		t->first = t->chosen;
	if (!t->batch && t->chosen >= t->first + page)
		t->first = t->chosen - page + 1;
	if (t->first && t->nr_rows - t->first < page)
		t->first = t->nr_rows > page ? t->nr_rows - page : 0;
	if (!t->batch)
		t->shown = page;
	for (size_t i = 0; i < page && t->first + i < t->nr_rows; i++)
		draw_row(t, c, y + 1 + (int)i, t->first + i);
	if (top_missing(t))
		draw_missing(t, c, y + 1 + (int)page);
	if (!t->moment.has)
		canvas_put(c, y + 1, 0, LOOK_PLAIN, "waiting for the second sample, which shows "
						    "growth");
	else if (!t->nr_rows)
		canvas_put(c, y + 1, 0, LOOK_PLAIN, *t->filter ? "no process matches the filter (p "
			   "changes it)" : "no processes can be seen");
}

/* ---- kernel caches ---- */

static const char *why_no_caches(const struct machine *m)
{
	for (size_t i = 0; i < m->nr_gaps; i++)
		if (strstr(m->gaps[i].text, "slab"))
			return m->gaps[i].text;
	return "no kernel caches can be seen";
}

static void draw_caches(const struct top *t, struct canvas *c, int y)
{
	const struct triage *tr = &t->moment.triage;
	const struct machine *m = &t->moment.now;
	const double seconds = top_seconds(t);
	const int end = c->cols < 72 ? c->cols : 72;
	char text[TEXT_LEN];

	canvas_line(c, y, LOOK_BAR);
	canvas_put(c, y, 0, LOOK_BAR, "KERNEL CACHE");
	canvas_right(c, y, end - 24, 12, LOOK_BAR, "GREW/s");
	canvas_right(c, y, end - 12, 12, LOOK_BAR, "SIZE");
	canvas_right(c, y, end, 12, LOOK_BAR, "OBJECTS");
	if (!m->slabs.nr) {
		canvas_put(c, y + 1, 0, LOOK_PLAIN, why_no_caches(m));
		return;
	}
	for (size_t i = 0; i < NR_CACHES && t->moment.has && i < m->slabs.nr; i++) {
		const struct machine_growth *g = &tr->slabs[i];
		const int line = y + 1 + (int)i;

		canvas_put(c, line, 0, LOOK_PLAIN, g->now->name);
		per_second(text, g->before && seconds > 0 ? (double)g->grew / seconds : 0);
		canvas_right(c, line, end - 24, 12, LOOK_PLAIN, text);
		text_bytes(text, (__s64)g->now->bytes, false);
		canvas_right(c, line, end - 12, 12, LOOK_PLAIN, text);
		canvas_right(c, line, end, 12, LOOK_PLAIN, text_count(text, g->now->objects));
	}
}

/* ---- below ---- */

static const char *const prompts[] = {
	[PROMPT_INTERVAL] = "seconds between two samples: ",
	[PROMPT_FILTER] = "number or part of the name (empty: all): ",
	[PROMPT_FILE] = "write to: ",
};

static void draw_last(const struct top *t, struct canvas *c)
{
	const int y = c->rows - 1;
	int x;

	if (t->batch)
		return;
	if (t->prompt) {
		x = canvas_put(c, y, 0, LOOK_STRONG, prompts[t->prompt]);
		x = canvas_put(c, y, x, LOOK_PLAIN, t->input);
		canvas_put(c, y, x, LOOK_BAR, " ");
	} else if (*t->message) {
		canvas_put(c, y, 0, LOOK_STRONG, t->message);
	} else if (c->cols < NARROW) {
		canvas_put(c, y, 0, LOOK_PLAIN, t->watching ? "f g l  w write  q back  ? help" :
			   t->past ? "t T e E time  q quit  ? help" :
			   "Enter stacks  q quit  ? help");
	} else {
		canvas_put(c, y, 0, LOOK_PLAIN, t->watching ?
			   "f faults  g growth  l leaks   w write  s interval  q back  ? help" :
			   t->past ? "t next  T back  e E events  G M H F N order  p filter  q quit"
			   "  ? help" :
			   "Enter stacks  G M H F N order  p filter  s interval  q quit  ? help");
	}
}

static void draw_advice(const struct top *t, struct canvas *c, int y)
{
	const struct triage_finding *f = t->moment.triage.found;
	int x;

	if (!t->moment.has || f->what == FOUND_NOTHING)
		return;
	x = canvas_put(c, y, 0, LOOK_PLAIN, *f->command ? "next: " : "seen: ");
	canvas_put(c, y, x, LOOK_STRONG, *f->command ? f->command : f->seen);
}

static void draw_machine(struct top *t, struct canvas *c)
{
	const int y = head_lines(c->rows);

	draw_head(t, c);
	draw_processes(t, c, y);
	if (c->rows >= CACHES_FROM)
		draw_caches(t, c, c->rows - 2 - NR_CACHES - 1);
	if (c->rows >= LOW)
		draw_advice(t, c, c->rows - 2);
}

/* ---- stacks of one process ---- */

/* In as many lines as there are. */
static void draw_cost(const struct top *t, struct canvas *c, int y, int last)
{
	const char *p = t->cost;
	char line[sizeof(t->cost)];
	size_t len;

	for (; y <= last && *p; y++) {
		len = strlen(p);
		if (len > (size_t)c->cols) {
			len = (size_t)c->cols;
			while (len && p[len] != ' ')
				len--;
			if (!len)
				len = (size_t)c->cols;
		}
		snprintf(line, sizeof(line), "%.*s", (int)len, p);
		canvas_put(c, y, 0, LOOK_PLAIN, line);
		p += len;
		p += *p == ' ';
	}
}

static void draw_watching(struct top *t, struct canvas *c)
{
	static const char *const words[] = { "page faults", "growth of heap and mappings",
					     "allocated and not freed" };
	const int page = top_page(t, c->rows);
	int y = head_lines(c->rows);
	char line[512];
	const char *p = t->lines;

	draw_title(t, c);
	draw_memory(t, c, 1);
	canvas_line(c, 2, LOOK_BAR);
	canvas_printf(c, 2, 0, LOOK_BAR, "%s of %s (%u)", t->what == TOP_LEAKS ? words[2] :
		      t->what == TOP_GROWTH ? words[1] : words[0], t->name, t->pid);
	draw_cost(t, c, 3, y);
	if (t->line >= t->nr_lines)
		t->line = t->nr_lines ? t->nr_lines - 1 : 0;
	for (size_t i = 0; p && *p && i < t->line; i++)
		p = strchr(p, '\n') + 1;
	for (int i = 0; i < page && p && *p; i++) {
		const size_t len = strcspn(p, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)len, p);
		/* a stack's own line begins at the left; its functions do not */
		canvas_put(c, ++y, 0, *p == ' ' ? LOOK_PLAIN : LOOK_STRONG, line);
		p += len + (p[len] == '\n');
	}
	if (!t->nr_lines)
		canvas_put(c, y + 1, 0, LOOK_PLAIN, "nothing so far");
}

/* ---- help ---- */

static const char *const help[] = {
	"Enter, f  stacks by page faults",
	"g         stacks by growth: brk, mmap",
	"l         what is not freed, by stack",
	"Each attaches probes, and says its cost;",
	"q, Esc, left end it: nothing stays.",
	"G M H F N order by growth of RSS, RSS,",
	"          growth of heap, faults, PID",
	"< > R     next order; reversed",
	"arrows, PgUp, PgDn, Home, End",
	"p, /      filter by number or name",
	"s, d      interval in seconds",
	"w         write the stacks: .memtap",
	"t T e E   --at: moments; events",
	"q         quit",
	"",
	"+HEAP/s is of private mappings that can",
	"be written to (VmData), touched or not.",
	"PSS: shared pages divided among those",
	"that have them; ?: not read.",
	NULL
};

static void draw_help(struct canvas *c)
{
	canvas_put(c, 0, 0, LOOK_STRONG, "memtap top: keys (any key goes back)");
	for (int i = 0; help[i]; i++)
		canvas_put(c, i + 1, 0, LOOK_PLAIN, help[i]);
}

void top_draw(struct top *t, struct canvas *c)
{
	if (t->help) {
		draw_help(c);
		return;
	}
	if (t->watching)
		draw_watching(t, c);
	else
		draw_machine(t, c);
	draw_last(t, c);
}
