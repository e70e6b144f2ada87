// SPDX-License-Identifier: GPL-2.0-or-later
/* Name anonymous mappings by what parts.c has found in them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rss/rss.h"

struct found {
	size_t arenas, blocks, stacks;
	__u64 known;			/* bytes */
	__u32 tid;			/* of a stack */
};

static void add(struct found *f, const struct rss_part *part, __u64 page, __u64 start, __u64 end)
{
	const __u64 from = part->start * page, to = part->end * page;

	f->known += (to < end ? to : end) - (from > start ? from : start);
	f->arenas += part->what == RSS_FOR_ARENA;
	f->blocks += part->what == RSS_FOR_BLOCK;
	f->stacks += part->what == RSS_FOR_THREAD;
	if (part->what == RSS_FOR_THREAD)
		f->tid = part->tid;
}

/* " worker", of a thread that is still there. */
static void put_comm(FILE *f, const char *proc, __u32 tid)
{
	char path[128], comm[32] = "";
	FILE *from;

	snprintf(path, sizeof(path), "%.60s/task/%u/comm", proc, tid);
	from = fopen(path, "re");
	if (from && fgets(comm, sizeof(comm), from)) {
		comm[strcspn(comm, "\n")] = '\0';
		fprintf(f, " %s", comm);
	}
	if (from)
		fclose(from);
}

static void put_several(FILE *f, size_t nr, const char *one, const char *several, bool *first)
{
	if (!nr)
		return;
	fputs(*first ? "" : ", ", f);
	*first = false;
	if (nr == 1)
		fputs(one, f);
	else
		fprintf(f, "%zu %s", nr, several);
}

bool rss_process_name(const struct rss_process *p, const char *proc, __u64 start, __u64 end,
		      char *text, size_t len)
{
	const __u64 page = (__u64)sysconf(_SC_PAGESIZE);
	struct found is = { 0 };
	bool first = true;
	FILE *f;

	for (size_t i = 0; i < p->nr_parts; i++)
		if (p->parts[i].start * page < end && p->parts[i].end * page > start)
			add(&is, &p->parts[i], page, start, end);
	if (!is.known)
		return false;
	f = fmemopen(text, len, "w");
	if (!f)
		return false;
	fputc('[', f);
	if (is.stacks == 1 && is.tid) {
		fprintf(f, "stack of thread %u", is.tid);
		put_comm(f, proc, is.tid);
		first = false;
	} else {
		put_several(f, is.stacks, "stack of a thread", "stacks of threads", &first);
	}
	put_several(f, is.arenas, "malloc arena", "heaps of malloc arenas", &first);
	put_several(f, is.blocks, "malloc block", "malloc blocks", &first);
	fputs(is.known < end - start ? ", other]" : "]", f);
	fclose(f);
	text[len - 1] = '\0';
	return true;
}
