// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind_check FILE.memtap TRUTH
 *
 * Compares the stacks of a session with what a wl_unwind program said of the same
 * places (see wl_unwind.h), and prints a line for each place and event:
 *
 *	same NAME EVENT			frame by frame, and it says that it is whole
 *	longer NAME EVENT WHY N ALL	it goes on where the unwinder ended
 *	cut NAME EVENT WHY N ALL	so many frames are the same, and it says
 *					why it ends there
 *	short NAME EVENT		it ends too early, and says nothing of that
 *	wrong NAME EVENT FRAME GOT WANTED	the first other frame, and both stacks
 *	missing NAME EVENT		no such event in this function
 *
 * then "stray EVENT GOT" for each stack that no place has, where there are no others
 * (WL_EXACT), and "calls SEEN WANTED" of wl_stop().
 *
 * unwind_check -i FILE.memtap TRUTH NAME
 *
 * The events are instructions of functions on the way to that place: a line for
 * each event, "same EVENT" where a stack's callers are the end of that way, else
 * "wrong EVENT GOT" or "missing EVENT".
 */
#include "unwind_file.h"
#include "wl_unwind.h"

#define MAX_INNER	10	/* frames from the event to the function, at most */

struct place {
	char name[32];
	unsigned int events;
	unsigned long here, len;
	unsigned int nr;
	__u64 ip[WL_FRAMES];
};
static struct place places[128];
static size_t nr_places;

static const struct wl_event {
	unsigned int bit;
	const char *name;	/* how it is told, and a part of its name */
	const char *group;	/* or its group */
} wl_events[] = {
	{ WL_STOP, "wl_stop", NULL },
	{ WL_FAULT, "fault", "fault" },
	{ WL_MMAP, "mmap", NULL },
	{ WL_BRK, "brk", NULL },
};
#define NR_EVENTS	(sizeof(wl_events) / sizeof(wl_events[0]))

static void read_truth(const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL, *rest;
	size_t room = 0;
	struct place *p;
	int n;

	if (!f)
		bail_out(path);
	for (; getline(&line, &room, f) > 0; nr_places++) {
		p = &places[nr_places];
		if (nr_places == sizeof(places) / sizeof(places[0]) ||
		    sscanf(line, "expect %31s %u %lx %lx%n", p->name, &p->events, &p->here,
			   &p->len, &n) != 4)
			bail_out("a line of the truth");
		for (rest = line + n; p->nr < WL_FRAMES && *rest == ' '; p->nr++)
			p->ip[p->nr] = strtoul(rest, &rest, 16);
	}
	free(line);
	fclose(f);
}

static bool is_event(const struct wl_event *e, uint32_t id)
{
	const struct memtap_rec_event *ev = find_id(MEMTAP_REC_EVENT, id);

	if (!ev)
		bail_out("a counter's event");
	return e->group ? !strcmp(ev->group, e->group) : !!strstr(ev->name, e->name);
}

/* How often the event happened with this stack. */
static uint64_t times(const struct wl_event *e, const struct memtap_rec_stack *st)
{
	const struct memtap_rec_counter *c;
	const struct memtap_rec *rec;
	uint64_t n = 0;
	size_t pos = 0;

	while ((rec = next_record(&file, &pos))) {
		c = (const void *)rec;
		if (rec->type == MEMTAP_REC_COUNTER && c->ustack == st->id && is_event(e, c->event))
			n += c->count;
	}
	return n;
}

/* The frame behind the one in the function; 0: that is not where it happened. */
static uint32_t callers_of(const struct memtap_rec_stack *st, const struct place *p)
{
	uint32_t i;

	for (i = 0; i < st->nr && i < MAX_INNER; i++)
		if (st->ip[i] - p->here < p->len && (i || st->ip[0] != p->here))
			return i + 1;
	return 0;
}

enum verdict { MISSING, WRONG, SHORT, CUT, LONGER, SAME };

struct match {
	enum verdict verdict;
	uint32_t from, equal;
	const struct memtap_rec_stack *st;
};

static struct match compare(const struct memtap_rec_stack *st, const struct place *p)
{
	struct match m = { MISSING, callers_of(st, p), 0, st };
	const uint32_t nr = st->nr - m.from;

	if (!m.from)
		return m;
	while (m.equal < nr && m.equal < p->nr && st->ip[m.from + m.equal] == p->ip[m.equal])
		m.equal++;
	if (m.equal == p->nr)
		m.verdict = nr == p->nr && !why_cut(st) ? SAME : nr > p->nr ? LONGER : CUT;
	else if (m.equal == nr)
		m.verdict = why_cut(st) ? CUT : SHORT;
	else
		m.verdict = WRONG;
	return m;
}

static void put_ips(const __u64 *ip, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		printf("%s%llx", i ? "," : " ", (unsigned long long)ip[i]);
}

static void put_place(const struct place *p, const struct wl_event *e)
{
	static const char *const words[] = {
		[MISSING] = "missing", [WRONG] = "wrong", [SHORT] = "short",
		[CUT] = "cut", [LONGER] = "longer", [SAME] = "same",
	};
	struct match best = { MISSING, 0, 0, NULL }, m;
	const char *why;
	size_t i;

	for (i = 0; i < nr_stacks; i++) {
		m = compare(stacks[i], p);
		if ((m.verdict > best.verdict ||
		     (m.verdict == best.verdict && m.equal > best.equal)) && times(e, stacks[i]))
			best = m;
	}
	printf("%s %s %s", words[best.verdict], p->name, e->name);
	why = best.st ? why_cut(best.st) : NULL;
	if (best.verdict == CUT || best.verdict == LONGER)
		printf(" %s %u %u", why ? why : "whole", best.equal, p->nr);
	if (best.verdict == WRONG || best.verdict == SHORT) {
		printf(" %u", best.equal);
		put_ips(best.st->ip, best.st->nr);
		put_ips(p->ip, p->nr);
	}
	putchar('\n');
}

/* Is there a place that has this stack, or one that goes on from where it is cut? */
static bool known(const struct memtap_rec_stack *st, const struct wl_event *e)
{
	size_t i;

	for (i = 0; i < nr_places; i++)
		if (places[i].events & e->bit && compare(st, &places[i]).verdict >= CUT)
			return true;
	return false;
}

/* Each function once: its first place. */
static bool is_first(const struct place *p)
{
	const struct place *q = places;

	while (q->here != p->here)
		q++;
	return q == p;
}

static void put_strays(const struct wl_event *e, const struct place *p)
{
	size_t i;

	for (i = 0; i < nr_stacks; i++) {
		if (!callers_of(stacks[i], p) || !times(e, stacks[i]) || known(stacks[i], e))
			continue;
		printf("stray %s", e->name);
		put_ips(stacks[i]->ip, stacks[i]->nr);
		putchar('\n');
	}
}

static int check(void)
{
	uint64_t calls = 0, wanted = 0;
	const struct place *p;
	size_t i, k;

	for (p = places; p < places + nr_places; p++) {
		for (k = 0; k < NR_EVENTS; k++)
			if (p->events & wl_events[k].bit)
				put_place(p, &wl_events[k]);
		wanted += !!(p->events & WL_STOP);
	}
	for (p = places; p < places + nr_places; p++)
		for (k = 0; k < NR_EVENTS && p->events & WL_EXACT && is_first(p); k++)
			put_strays(&wl_events[k], p);
	for (i = 0; i < nr_stacks; i++)
		calls += times(&wl_events[0], stacks[i]);
	printf("calls %llu %llu\n", (unsigned long long)calls, (unsigned long long)wanted);
	return 0;
}

/* At least this many frames: of main() and of libc's start. */
#define LEAST_TAIL	3

/* Are the callers in @st the last frames of @p? */
static bool ends_as(const struct memtap_rec_stack *st, const struct place *p)
{
	const uint32_t nr = st->nr - 1;

	return !why_cut(st) && nr >= LEAST_TAIL && nr <= p->nr &&
	       !memcmp(st->ip + 1, p->ip + p->nr - nr, nr * sizeof(*p->ip));
}

/* Its stacks: the best one's verdict. */
static void put_instruction(const struct memtap_rec_event *ev, const struct place *p)
{
	const struct wl_event one = { WL_STOP, ev->name, NULL };
	const struct memtap_rec_stack *other = NULL;
	size_t i;

	for (i = 0; i < nr_stacks; i++) {
		if (!times(&one, stacks[i]))
			continue;
		if (ends_as(stacks[i], p)) {
			printf("same %s\n", ev->name);
			return;
		}
		other = stacks[i];
	}
	printf("%s %s", other ? "wrong" : "missing", ev->name);
	if (other) {
		printf(" %s", why_cut(other) ? why_cut(other) : "whole");
		put_ips(other->ip, other->nr);
	}
	putchar('\n');
}

static int instructions(const char *name)
{
	const struct place *p = places;
	const struct memtap_rec *rec;
	size_t pos = 0;

	while (p < places + nr_places && strcmp(p->name, name))
		p++;
	errno = ENOENT;
	if (p == places + nr_places)
		bail_out(name);
	while ((rec = next_record(&file, &pos)))
		if (rec->type == MEMTAP_REC_EVENT)
			put_instruction((const void *)rec, p);
	return 0;
}

int main(int argc, char **argv)
{
	const bool begins = argc == 5 && !strcmp(argv[1], "-i");

	if (argc != 3 && !begins) {
		fprintf(stderr, "usage: unwind_check [-i] FILE.memtap TRUTH [NAME]\n");
		return 2;
	}
	read_file(argv[begins ? 2 : 1]);
	read_truth(argv[begins ? 3 : 2]);
	return begins ? instructions(argv[4]) : check();
}
