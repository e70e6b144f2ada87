// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_load_books FILE.memtap...: do the accounts add up, of sessions that counted and
 * of those that kept live blocks, and does each table stay within its size?  A line for
 * each event that was seen: "FILE EVENT SEEN COUNTED FILTERED LOST PART"; exit status 1
 * and sentences on standard error if anything is not so.
 */
#include "unwind_file.h"

static const char *name;
static int bad;

static void complain(const char *what, unsigned long long a, unsigned long long b)
{
	fprintf(stderr, "%s: %s: %llu, %llu\n", name, what, a, b);
	bad = 1;
}

static void within(const char *what, uint64_t used, uint64_t size)
{
	if (used > size)
		complain(what, used, size);
}

static void check_memory(const struct memtap_rec_memory *m)
{
	within("stacks", m->stacks_used, m->stacks_size);
	within("counters", m->counters_used, m->counters_size);
	within("tasks", m->tasks_used, m->tasks_size);
	within("maps", m->maps_used, m->maps_size);
	within("unwind tables", m->unwind_used, m->unwind_size);
	within("live blocks", m->live_used, m->live_size);
	within("live mappings", m->live_maps_used, m->live_maps_size);
	within("threads", m->threads_used, m->threads_size);
	printf("%s memory total %llu stacks %llu counters %llu tasks %llu maps %llu unwind %llu",
	       name, (unsigned long long)m->total, (unsigned long long)m->stacks_used,
	       (unsigned long long)m->counters_used, (unsigned long long)m->tasks_used,
	       (unsigned long long)m->maps_used, (unsigned long long)m->unwind_used);
	printf(" live %llu; lost maps %llu spaces %llu unwind %llu\n",
	       (unsigned long long)m->live_used, (unsigned long long)m->maps_lost,
	       (unsigned long long)m->spaces_missed, (unsigned long long)m->unwind_lost);
}

static uint64_t sum_part(const struct memtap_rec_event *ev)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < MEMTAP_PART_SLOTS; i++)
		sum += ev->part[i];
	return sum;
}

/* What was counted is in the counters, or of a session that has live blocks instead. */
static void check_event(const struct memtap_rec_event *ev, uint64_t counters, bool live)
{
	const uint64_t lost = sum_lost(ev);

	if (ev->seen != ev->counted + ev->filtered + lost)
		complain(ev->name, ev->seen, ev->counted + ev->filtered + lost);
	if (!live && ev->counted != counters)
		complain(ev->name, ev->counted, counters);
	if (ev->seen)
		printf("%s %s %llu %llu %llu %llu %llu\n", name, ev->name,
		       (unsigned long long)ev->seen, (unsigned long long)ev->counted,
		       (unsigned long long)ev->filtered, (unsigned long long)lost,
		       (unsigned long long)sum_part(ev));
}

static void check_file(const char *path)
{
	uint64_t sums[MEMTAP_MAX_EVENTS] = { 0 };
	const struct memtap_rec_header *head;
	const struct memtap_rec *rec;
	struct bytes session;
	const char *why;
	size_t pos = 0;

	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	read_file(path);
	while ((rec = next_record(&file, &pos)) && rec->type != MEMTAP_REC_END)
		if (rec->type == MEMTAP_REC_COUNTER)
			sums[((const struct memtap_rec_counter *)rec)->event % MEMTAP_MAX_EVENTS] +=
				((const struct memtap_rec_counter *)rec)->count;
	session = (struct bytes){ file.at, pos };
	why = whole(&session);
	if (why) {
		complain(why, pos, file.len);
		return;
	}
	head = (const void *)file.at;
	if (head->running)
		complain("it was not stopped", 0, 0);
	for (pos = 0; (rec = next_record(&session, &pos));)
		if (rec->type == MEMTAP_REC_MEMORY)
			check_memory((const void *)rec);
		else if (rec->type == MEMTAP_REC_EVENT)
			check_event((const void *)rec,
				    sums[((const struct memtap_rec_event *)rec)->id %
					 MEMTAP_MAX_EVENTS], head->flags & MEMTAP_CFG_LIVE);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		check_file(argv[i]);
	return bad || argc < 2;
}
