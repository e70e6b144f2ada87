// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind_began FILE.memtap
 *
 * Count the user stacks of page faults that reach the program's entry point.  The entry point is
 * found in the program's file, not by flags or symbols, so that stacks by frame pointers and
 * perf's stacks (perf-began) can be measured in the same way.  Prints "ALL WHOLE".
 */
#include <elf.h>

#include "unwind_file.h"

#define BEHIND_ENTRY	128	/* _start, and what ld.so has right behind its own */

/* Where the file begins to run, as an offset in it; 0: not known. */
static uint64_t entry_of(const char *path)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	uint64_t entry = 0;
	int i, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG))
		eh.e_phnum = 0;
	for (i = 0; i < eh.e_phnum; i++)
		if (pread(fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) == sizeof(ph) &&
		    ph.p_type == PT_LOAD && eh.e_entry - ph.p_vaddr < ph.p_filesz)
			entry = eh.e_entry - ph.p_vaddr + ph.p_offset;
	close(fd);
	return entry;
}

static const struct memtap_rec_map *map_of(uint32_t space, uint64_t ip)
{
	const struct memtap_rec_map *m;
	const struct memtap_rec *rec;
	size_t pos = 0;

	while ((rec = next_record(&file, &pos))) {
		m = (const void *)rec;
		if (rec->type == MEMTAP_REC_MAP && m->space == space && ip >= m->start &&
		    ip < m->end)
			return m;
	}
	return NULL;
}

static bool begins(const struct memtap_rec_counter *c, const struct memtap_rec_stack *st)
{
	const struct memtap_rec_task *task = find_id(MEMTAP_REC_TASK, c->task);
	const uint64_t ip = st->ip[st->nr - 1];
	const struct memtap_rec_map *map;
	const struct memtap_rec_file *f;
	static uint32_t known;		/* the last file, most often the same */
	static uint64_t entry;

	map = task ? map_of(task->space, ip) : NULL;
	f = map ? find_id(MEMTAP_REC_FILE, map->file) : NULL;
	if (!f)
		return false;
	if (f->id != known)
		entry = entry_of(f->path);
	known = f->id;
	return entry && ip - map->start + map->offset - entry < BEHIND_ENTRY;
}

int main(int argc, char **argv)
{
	const struct memtap_rec_stack *st;
	const struct memtap_rec_event *ev;
	const struct memtap_rec_counter *c;
	const struct memtap_rec *rec;
	uint64_t all = 0, whole = 0;
	size_t pos = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: unwind_began FILE.memtap\n");
		return 2;
	}
	read_file(argv[1]);
	while ((rec = next_record(&file, &pos))) {
		if (rec->type != MEMTAP_REC_COUNTER)
			continue;
		c = (const void *)rec;
		ev = find_id(MEMTAP_REC_EVENT, c->event);
		st = find_id(MEMTAP_REC_STACK, c->ustack);
		if (!ev || !st || !st->nr || strcmp(ev->group, "fault"))
			continue;
		all += c->count;
		whole += begins(c, st) ? c->count : 0;
	}
	printf("%llu %llu\n", (unsigned long long)all, (unsigned long long)whole);
	return 0;
}
