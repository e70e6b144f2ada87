// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbolize the stacks of an OOM kill's trigger by the trigger's own files. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "render/oom_int.h"

#define PAGE_MASK_OF(ip)	((ip) & ~0xfffULL)
static int by_start(const void *va, const void *vb)
{
	const struct snap_map *a = va, *b = vb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Only the pages that the stack touches are known of each mapping. */
static void add_maps(struct oom_stack *s)
{
	const struct memtap_oom_record *r = s->r;

	for (__u32 i = 0; i < r->nr_ustack; i++) {
		const struct memtap_oom_frame *f = &r->ustack[i];
		struct snap_map *m = &s->maps[s->snap.nr_maps];

		if (!f->file || f->offset < (f->ip & 0xfff))
			continue;
		m->space = s->task.space;
		m->file = MEMTAP_FILE_FIRST + f->file - 1;
		m->start = PAGE_MASK_OF(f->ip);
		m->end = m->start + 0x1000;
		m->offset = f->offset - (f->ip & 0xfff);
		s->snap.nr_maps++;
	}
	qsort(s->maps, s->snap.nr_maps, sizeof(s->maps[0]), by_start);
}

static void add_files(struct oom_stack *s)
{
	const struct memtap_oom_record *r = s->r;

	for (__u32 i = 0; i < r->nr_files; i++) {
		struct snap_file *f = &s->files[i];

		f->id = MEMTAP_FILE_FIRST + i;
		f->inode = r->files[i].inode;
		f->dev_major = r->files[i].dev_major;
		f->dev_minor = r->files[i].dev_minor;
		f->path = r->files[i].path;
	}
	s->snap.nr_files = r->nr_files;
}

static void of_this_machine(struct memtap_rec_header *h)
{
	struct utsname u;

	if (uname(&u))
		return;
	snprintf(h->host, sizeof(h->host), "%.63s", u.nodename);
	snprintf(h->release, sizeof(h->release), "%.63s", u.release);
}

/* A recording with resolved symbols has no other source of names. */
static void of_file(struct oom_stack *s, const struct snap *file)
{
	s->snap.header = file->header;
	s->snap.has_tool = file->has_tool;
	s->snap.ksyms = file->ksyms;
	s->snap.nr_ksyms = file->nr_ksyms;
	s->snap.usyms = file->usyms;
	s->snap.nr_usyms = file->nr_usyms;
}

void oom_stack_init(struct oom_stack *s, const struct memtap_oom_record *r,
		    const struct oom_opts *o)
{
	memset(s, 0, sizeof(*s));
	s->r = r;
	s->sym = o->sym;
	if (o->file)
		of_file(s, o->file);
	else
		of_this_machine(&s->snap.header);
	s->snap.header.real_ns = r->real_ns;
	s->task.id = MEMTAP_TASK_FIRST;
	s->task.space = MEMTAP_OOM_SPACE(o->number);
	s->task.pid = r->trigger.pid;
	s->task.tid = r->trigger.pid;
	s->task.start_ns = r->trigger.start_ns;
	s->snap.tasks = &s->task;
	s->snap.nr_tasks = 1;
	s->snap.maps = s->maps;
	s->snap.files = s->files;
	add_files(s);
	add_maps(s);
}

static size_t bare(struct oom_stack *s, __u64 addr, const char *object,
		   const struct sym_frame **frames)
{
	memset(&s->bare, 0, sizeof(s->bare));
	s->bare.object = object;
	s->bare.addr = addr;
	*frames = &s->bare;
	return 1;
}

size_t oom_stack_kernel(struct oom_stack *s, __u32 i, const struct sym_frame **frames)
{
	const bool call = i || !(s->r->kflags & MEMTAP_STACK_ENTRY);

	return s->sym ? sym_kernel(s->sym, &s->snap, s->r->kstack[i], call, frames) :
	       bare(s, s->r->kstack[i], "kernel", frames);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

size_t oom_stack_user(struct oom_stack *s, __u32 i, const struct sym_frame **frames)
{
	const struct memtap_oom_frame *f = &s->r->ustack[i];

	if (s->sym)
		return sym_user(s->sym, &s->snap, &s->task, 0, f->ip, i > 0, frames);
	if (!f->file)
		return bare(s, f->ip, "", frames);
	return bare(s, f->offset, base_of(s->r->files[f->file - 1].path), frames);
}

/* --- what is missing ------------------------------------------------------- */

#define CUTS	(MEMTAP_STACK_FAULT | MEMTAP_STACK_CHAIN | MEMTAP_STACK_NOMAP | \
		 MEMTAP_STACK_NOTABLE | MEMTAP_STACK_NOROW | MEMTAP_STACK_DEPTH | \
		 MEMTAP_STACK_TRAMPOLINE)

/* As JSON has it, and as people do: where it is about a file, its path stands before it. */
static const struct {
	const char *name, *sentence;
} rests[MEMTAP_NR_OOM_REST] = {
	[MEMTAP_OOM_REST_KNOWN] = { "", "" },
	[MEMTAP_OOM_REST_AWAY] = { "swapped-out", "a page of it was not in memory (swapped out)" },
	[MEMTAP_OOM_REST_BEYOND] = { "beyond-copy", "it lies beyond the 16 KiB that are kept" },
	[MEMTAP_OOM_REST_ELSEWHERE] = { "another-stack",
					"it lies in another stack, which is not kept" },
	[MEMTAP_OOM_REST_NO_MAP] = { "unknown-mapping", "an address is in no known mapping" },
	[MEMTAP_OOM_REST_NO_FILE] = { "no-file",
				      " cannot be read, or is not the file that was mapped" },
	[MEMTAP_OOM_REST_NO_ROW] = { "no-unwind-entry",
				     " has no unwind information for this address" },
	[MEMTAP_OOM_REST_CHAIN] = { "leads-nowhere", "it leads nowhere" },
	[MEMTAP_OOM_REST_DEPTH] = { "too-deep", "it has more than 64 frames" },
	[MEMTAP_OOM_REST_COMPAT] = { "32-bit", "a 32-bit program without frame pointers" },
	[MEMTAP_OOM_REST_NO_MAPS] = { "mappings-busy",
				      "the mappings of the program were being changed" },
};

const char *oom_rest_name(const struct memtap_oom_record *r)
{
	return r->urest < MEMTAP_NR_OOM_REST ? rests[r->urest].name : "unknown";
}

const char *oom_rest_sentence(const struct memtap_oom_record *r)
{
	return r->urest < MEMTAP_NR_OOM_REST ? rests[r->urest].sentence : "unknown";
}

bool oom_is_cut(const struct memtap_oom_record *r)
{
	return r->uflags & CUTS || r->urest;
}
