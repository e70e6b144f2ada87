// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbolize_make DIR NAME PATH ID|- MAP_OFFSET MAP_LEN saved|bare ADDRESS...: write
 * DIR/NAME.memtap, an invented recording of a program without names.  ID is the build ID of PATH
 * in hex, or "-": the recording has none.  Its one stack has a frame for each ADDRESS, an offset
 * in the file, all but the first as return addresses.  "saved": the recording says that it
 * knows no names.
 */
#include <stdio.h>
#include <string.h>

#include "../golden/records.h"

#define BASE	0x7f1200000000ULL	/* where the program is mapped */

static void put_file(const char *path, const char *id)
{
	struct memtap_rec_file *f = record(MEMTAP_REC_FILE, sizeof(*f) + strlen(path) + 1);
	unsigned int byte;

	f->id = 1;
	f->dev_major = 8;
	f->inode = 4711;
	for (; *id != '-' && sscanf(id, "%2x", &byte) == 1; id += 2)
		f->build_id[f->build_id_len++] = (u8)byte;
	strcpy(f->path, path);
	put(f);
}

static void put_map(u64 offset, u64 len)
{
	struct memtap_rec_map *m = record(MEMTAP_REC_MAP, sizeof(*m));

	m->space = 1;
	m->file = 1;
	m->start = BASE;
	m->end = BASE + len;
	m->offset = offset;
	put(m);
}

static void put_stack(u64 map_offset, int nr, char **at)
{
	struct memtap_rec_stack *s = record(MEMTAP_REC_STACK, sizeof(*s) + (size_t)nr * 8);

	s->id = 20;
	s->flags = MEMTAP_STACK_USER;
	s->nr = (u32)nr;
	for (int i = 0; i < nr; i++)
		s->ip[i] = BASE + strtoull(at[i], NULL, 0) - map_offset + !!i;
	put(s);
}

static void put_counter(void)
{
	struct memtap_rec_counter *c = record(MEMTAP_REC_COUNTER, sizeof(*c));

	c->event = 3;
	c->task = 8;
	c->ustack = 20;
	c->count = 5;
	c->sum = 4096;
	put(c);
}

static void put_saved(const char *path, u64 map_offset, int nr, char **at)
{
	const char *base = strrchr(path, '/') + 1;
	char text[4096];

	for (int i = 0; i < nr; i++) {
		/* name, object, file */
		struct memtap_rec_usym *u = record(MEMTAP_REC_USYM,
						   sizeof(*u) + strlen(base) + 4);

		u->space = 1;
		u->flags = i ? MEMTAP_USYM_CALL : 0;
		u->addr = strtoull(at[i], NULL, 0);
		u->ip = BASE + u->addr - map_offset + !!i;
		strcpy(u->text + 1, base);
		put(u);
	}
	snprintf(text, sizeof(text), "note=%s no longer exists on this machine: its functions are "
		 "shown as offsets", path);
	note(text);
}

int main(int argc, char **argv)
{
	u64 offset, len;

	if (argc < 9)
		return 2;
	offset = strtoull(argv[5], NULL, 0);
	len = strtoull(argv[6], NULL, 0);
	begin(argv[1], argv[2], MEMTAP_CFG_USTACK);
	event(3, "brk", MEMTAP_UNIT_BYTES, 5, 0, 0, 0);
	put_counter();
	put_stack(offset, argc - 8, argv + 8);
	task(8, 1, 4711, 4711, 0, "program");
	put_map(offset, len);
	put_file(argv[3], argv[4]);
	memory();
	end();
	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	note("command=memtap brk -p 4711");
	if (!strcmp(argv[7], "saved"))
		put_saved(argv[3], offset, argc - 8, argv + 8);
	end();
	finish();
	return 0;
}
