// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind_check FILE.memtap TRUTH
 *
 * Compares the stacks of a session with what a wl_unwind program said of the same
 * places (see wl_unwind.h), and prints a line for each place and event:
 *
 *	same NAME EVENT			frame by frame, and it says that it is whole
 *	longer NAME EVENT WHY		it goes on where the unwinder ended
 *	cut NAME EVENT WHY FRAMES	the same so far, and it says why it ends
 *	short NAME EVENT		it ends too early, and says nothing of that
 *	wrong NAME EVENT FRAME GOT WANTED	the first other frame, and both stacks
 *	missing NAME EVENT		no such event in this function
 *
 * then "stray EVENT GOT" for each stack from wl_here() that no place has, and
 * "calls SEEN WANTED" of wl_stop().
 *
 * unwind_check -i FILE.memtap TRUTH NAME
 *
 * The events are instructions of functions on the way to that place: a line for
 * each event, "same EVENT" where a stack's callers are the end of that way, else
 * "wrong EVENT GOT" or "missing EVENT".
 *
 * unwind_check -s FILE.memtap
 *
 * How many user stacks are whole: lines "all N", "whole N", "none N" (which are
 * not in "all"), and one for each reason of the others.
 */
#include "session.h"
#include "wl_unwind.h"

#define MAX_INNER	10	/* frames from the event to the function, at most */
#define HERE_SIZE	1024	/* bytes of that function, at most */

static const struct reason {
	uint32_t flag;
	const char *name;
} reasons[] = {
	{ MEMTAP_STACK_DEPTH, "depth" },
	{ MEMTAP_STACK_FAULT, "fault" },
	{ MEMTAP_STACK_CHAIN, "chain" },
	{ MEMTAP_STACK_TRAMPOLINE, "trampoline" },
	{ MEMTAP_STACK_NOMAP, "nomap" },
	{ MEMTAP_STACK_NOTABLE, "notable" },
	{ MEMTAP_STACK_NOROW, "norow" },
};
#define NR_REASONS	(sizeof(reasons) / sizeof(reasons[0]))

static const struct memtap_rec_stack **stacks;
static size_t nr_stacks;
static struct bytes file;

struct place {
	char name[32];
	unsigned int events;
	unsigned long here;
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

static void read_file(const char *path)
{
	const struct memtap_rec *rec;
	size_t pos = 0;
	FILE *f = fopen(path, "r");

	if (!f || fseek(f, 0, SEEK_END))
		bail_out(path);
	file.len = ftell(f);
	file.at = malloc(file.len + 1);
	stacks = calloc(file.len / sizeof(**stacks) + 1, sizeof(*stacks));
	rewind(f);
	if (!file.at || !stacks || fread(file.at, 1, file.len, f) != file.len)
		bail_out(path);
	fclose(f);
	while ((rec = next_record(&file, &pos)))
		if (rec->type == MEMTAP_REC_STACK)
			stacks[nr_stacks++] = (const void *)rec;
}

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
		    sscanf(line, "expect %31s %u %lx%n", p->name, &p->events, &p->here, &n) != 3)
			bail_out("a line of the truth");
		for (rest = line + n; p->nr < WL_FRAMES && *rest == ' '; p->nr++)
			p->ip[p->nr] = strtoul(rest, &rest, 16);
	}
	free(line);
	fclose(f);
}

static const struct memtap_rec_event *event_of(uint32_t id)
{
	const struct memtap_rec *rec;
	size_t pos = 0;

	while ((rec = next_record(&file, &pos)))
		if (rec->type == MEMTAP_REC_EVENT &&
		    ((const struct memtap_rec_event *)rec)->id == id)
			return (const void *)rec;
	errno = ENOENT;
	bail_out("a counter's event");
	return NULL;
}

static bool is_event(const struct wl_event *e, uint32_t id)
{
	const struct memtap_rec_event *ev = event_of(id);

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

static const char *why_cut(const struct memtap_rec_stack *st)
{
	size_t i;

	for (i = 0; i < NR_REASONS; i++)
		if (st->flags & reasons[i].flag)
			return reasons[i].name;
	return st->flags & MEMTAP_STACK_ROWS ? NULL : "no-rows";
}

/* The frame behind the one in @here; 0: that is not where it happened. */
static uint32_t callers_of(const struct memtap_rec_stack *st, unsigned long here)
{
	uint32_t i;

	for (i = 0; i < st->nr && i < MAX_INNER; i++)
		if (st->ip[i] >= here && st->ip[i] < here + HERE_SIZE && (i || st->ip[0] != here))
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
	struct match m = { MISSING, callers_of(st, p->here), 0, st };
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
		printf(" %s %u", why ? why : "whole", best.equal);
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

static void put_strays(const struct wl_event *e, unsigned long here)
{
	size_t i;

	for (i = 0; i < nr_stacks; i++) {
		if (!callers_of(stacks[i], here) || !times(e, stacks[i]) || known(stacks[i], e))
			continue;
		printf("stray %s", e->name);
		put_ips(stacks[i]->ip, stacks[i]->nr);
		putchar('\n');
	}
}

static int check(void)
{
	uint64_t calls = 0, wanted = 0;
	unsigned long here = 0;
	size_t i, k;

	for (i = 0; i < nr_places; i++) {
		for (k = 0; k < NR_EVENTS; k++)
			if (places[i].events & wl_events[k].bit)
				put_place(&places[i], &wl_events[k]);
		if (places[i].events & WL_STOP) {
			here = places[i].here;
			wanted++;
		}
	}
	for (k = 0; k < NR_EVENTS; k++)
		put_strays(&wl_events[k], here);
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

static const struct memtap_rec_stack *stack_of(uint32_t id)
{
	size_t i;

	for (i = 0; i < nr_stacks; i++)
		if (stacks[i]->id == id)
			return stacks[i];
	return NULL;
}

/* One counter's stack goes to "whole", or to the reason why it does not. */
static int share(void)
{
	static const char *const others[] = { "no-rows", "not-kept" };
	uint64_t all = 0, whole = 0, none = 0, by[NR_REASONS + 2] = { 0 };
	const struct memtap_rec_counter *c;
	const struct memtap_rec_stack *st;
	const struct memtap_rec *rec;
	size_t pos = 0, i;

	while ((rec = next_record(&file, &pos))) {
		c = (const void *)rec;
		if (rec->type != MEMTAP_REC_COUNTER)
			continue;
		st = stack_of(c->ustack);
		if (c->ustack == MEMTAP_STACK_NONE) {
			none += c->count;
			continue;
		}
		all += c->count;
		for (i = 0; st && i < NR_REASONS && !(st->flags & reasons[i].flag); i++)
			;
		if (st && i == NR_REASONS && st->flags & MEMTAP_STACK_ROWS)
			whole += c->count;
		else
			by[st ? i : NR_REASONS + 1] += c->count;
	}
	printf("all %llu\nwhole %llu\nnone %llu\n", (unsigned long long)all,
	       (unsigned long long)whole, (unsigned long long)none);
	for (i = 0; i < NR_REASONS + 2; i++)
		if (by[i])
			printf("%s %llu\n",
			       i < NR_REASONS ? reasons[i].name : others[i - NR_REASONS],
			       (unsigned long long)by[i]);
	return 0;
}

int main(int argc, char **argv)
{
	const bool shares = argc == 3 && !strcmp(argv[1], "-s");
	const bool begins = argc == 5 && !strcmp(argv[1], "-i");

	if (argc != 3 && !begins) {
		fprintf(stderr, "usage: unwind_check [-i] FILE.memtap TRUTH [NAME]\n"
			"       unwind_check -s FILE.memtap\n");
		return 2;
	}
	read_file(argv[shares || begins ? 2 : 1]);
	if (shares)
		return share();
	read_truth(argv[begins ? 3 : 2]);
	return begins ? instructions(argv[4]) : check();
}
