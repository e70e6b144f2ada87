// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/wire.c */
/*
 * make_snap DIR: writes the .memtap files that the golden tests report on, and
 * the ELF file (by its build-id) that their user frames lie in.  Everything is
 * invented here, so that the expected reports are the same on all machines.
 */
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "wire.h"

#define SEC	1000000000ULL
#define TEXT	0x1000ULL		/* address and offset of the code */
#define LOADED	0x560000000000ULL	/* where the first process has it */
#define LOADED2	0x550000000000ULL	/* ... and the second one */
#define KERNEL	0xffffffff81000000ULL

static const u8 build_id[20] = {
	0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
};

static FILE *out;
static struct wire_sum sum;
static u32 depth = MEMTAP_MAX_DEPTH;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void put(void *rec)
{
	const struct memtap_rec *r = rec;

	wire_sum_add(&sum, r);
	if (fwrite(r, 1, r->len, out) != r->len)
		die("write");
	free(rec);
}

static void *record(u32 type, size_t len)
{
	size_t room = (len + 7) & ~(size_t)7;
	void *buf = malloc(room);

	if (!buf || !wire_begin(buf, room, type, len))
		die("record");
	return buf;
}

static void end(void)
{
	struct memtap_rec_end e;

	wire_end(&sum, &e);
	if (fwrite(&e, 1, sizeof(e), out) != sizeof(e))
		die("write");
	wire_sum_init(&sum);
}

static void begin(const char *dir, const char *name, u32 flags)
{
	struct memtap_rec_header *h = record(MEMTAP_REC_HEADER, sizeof(*h));
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.memtap", dir, name);
	out = fopen(path, "w");
	if (!out)
		die(path);
	wire_sum_init(&sum);
	h->magic = MEMTAP_MAGIC;
	h->flags = flags;
	h->depth = depth;
	h->page_size = 4096;
	h->nr_cpus = 4;
	h->machine = EM_X86_64;
	h->start_ns = 100 * SEC;
	h->now_ns = 110 * SEC + SEC / 4;
	h->real_ns = 1767225600 * SEC;	/* 2026-01-01 00:00:00 UTC */
	h->addr_shift = 12;
	strcpy(h->release, "6.1.0-golden");
	strcpy(h->version, "0.1");
	strcpy(h->host, "golden.example");
	put(h);
}

static void finish(void)
{
	if (fclose(out))
		die("close");
}

static void event(u32 id, const char *name, u32 unit, u64 counted, u64 filtered,
		  u64 recursion, u64 missed)
{
	struct memtap_rec_event *e = record(MEMTAP_REC_EVENT, sizeof(*e));

	e->id = id;
	e->unit = unit;
	e->way = MEMTAP_WAY_KPROBE;
	e->counted = counted;
	e->filtered = filtered;
	e->lost[MEMTAP_LOST_RECURSION] = recursion;
	e->lost[MEMTAP_LOST_MISSED] = missed;
	e->seen = counted + filtered + recursion + missed;
	e->part[MEMTAP_PART_FAULT] = 3;
	strcpy(e->group, "heap");
	strcpy(e->name, name);
	put(e);
}

static void hook(u32 ev, const char *target, u32 error)
{
	struct memtap_rec_hook *h = record(MEMTAP_REC_HOOK, sizeof(*h));

	h->event = ev;
	h->state = error ? MEMTAP_HOOK_FAILED : MEMTAP_HOOK_ATTACHED;
	h->error = error;
	h->way = MEMTAP_WAY_KRETPROBE;
	h->hits = error ? 0 : 4711;
	strcpy(h->target, target);
	put(h);
}

static void stack(u32 id, u32 flags, u32 nr, ...)
{
	struct memtap_rec_stack *s = record(MEMTAP_REC_STACK, sizeof(*s) + nr * 8);
	va_list ap;

	s->id = id;
	s->flags = flags;
	s->nr = nr;
	va_start(ap, nr);
	for (u32 i = 0; i < nr; i++)
		s->ip[i] = va_arg(ap, unsigned long long);
	va_end(ap);
	put(s);
}

static void task(u32 id, u32 space, s32 pid, s32 tid, u32 flags, const char *comm)
{
	struct memtap_rec_task *t = record(MEMTAP_REC_TASK, sizeof(*t));

	t->id = id;
	t->flags = flags;
	t->space = space;
	t->pid = pid;
	t->tid = tid;
	t->ns_pid = 7;
	t->ns_tid = 7;
	t->ppid = 1;
	t->uid = 1000;
	t->start_ns = 90 * SEC;
	t->cgroup2 = 4242;
	strncpy(t->comm, comm, sizeof(t->comm) - 1);
	put(t);
}

static void map(u32 space, u32 file, u64 start)
{
	struct memtap_rec_map *m = record(MEMTAP_REC_MAP, sizeof(*m));

	m->space = space;
	m->file = file;
	m->start = start;
	m->end = start + 0x1000;
	m->offset = TEXT;
	put(m);
}

static void file(u32 id, const char *path, bool has_id)
{
	struct memtap_rec_file *f = record(MEMTAP_REC_FILE, sizeof(*f) + strlen(path) + 1);

	f->id = id;
	f->dev_major = 8;
	f->dev_minor = 1;
	f->inode = 1000 + id;
	if (has_id) {
		f->build_id_len = sizeof(build_id);
		memcpy(f->build_id, build_id, sizeof(build_id));
	}
	strcpy(f->path, path);
	put(f);
}

struct key {
	u32 event, flags, task, kstack, ustack;
	u64 addr;
};

static void counter(const struct key *k, u32 cpu, u64 count, s64 total, u64 max)
{
	struct memtap_rec_counter *c = record(MEMTAP_REC_COUNTER, sizeof(*c));

	c->event = k->event;
	c->flags = k->flags;
	c->task = k->task;
	c->kstack = k->kstack;
	c->ustack = k->ustack;
	c->addr = k->addr;
	c->cpu = cpu;
	c->count = count;
	c->sum = total;
	c->max = max;
	put(c);
}

static void hist_counter(const struct key *k, u32 cpu, u64 count, s64 total,
			 u64 max, u32 nr, const u64 *hist)
{
	struct memtap_rec_counter *c = record(MEMTAP_REC_COUNTER, sizeof(*c) + nr * 8);

	c->event = k->event;
	c->task = k->task;
	c->kstack = k->kstack;
	c->ustack = k->ustack;
	c->cpu = cpu;
	c->count = count;
	c->sum = total;
	c->max = max;
	c->nr_hist = nr;
	memcpy(c->hist, hist, nr * 8);
	put(c);
}

static void memory(void)
{
	struct memtap_rec_memory *m = record(MEMTAP_REC_MEMORY, sizeof(*m));

	m->total = 12 << 20;
	m->stacks_size = 8 << 20;
	m->stacks_used = 5000;
	m->counters_size = 16384;
	m->counters_used = 9;
	m->tasks_size = 1024;
	m->tasks_used = 3;
	m->maps_size = 1 << 20;
	m->maps_used = 300;
	put(m);
}

static void ksym(u64 addr, u64 offset, const char *name)
{
	struct memtap_rec_ksym *k = record(MEMTAP_REC_KSYM, sizeof(*k) + strlen(name) + 1);

	k->addr = addr;
	k->offset = offset;
	strcpy(k->name, name);
	put(k);
}

static void note(const char *text)
{
	struct memtap_rec_note *n = record(MEMTAP_REC_NOTE, sizeof(*n) + strlen(text) + 1);

	strcpy(n->text, text);
	put(n);
}

static void tool_part(void)
{
	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	ksym(KERNEL + 0x100, 0, "__x64_sys_brk");
	ksym(KERNEL + 0x200, 0x35, "do_syscall_64");
	ksym(KERNEL + 0x300, 0x63, "entry_SYSCALL_64_after_hwframe");
	ksym(KERNEL + 0x400, 0x10, "helper [some_module]");
	note("command=memtap brk -p 4711");
	note("cgroup.4242=/system.slice/encryptor.service");
	end();
}

/* ---- the scenes ---- */

/* Return addresses behind a call in each of the functions of make_elf(). */
#define MAIN(at)	((at) + 0x015ULL)
#define READ(at)	((at) + 0x125ULL)
#define PROCESS(at)	((at) + 0x235ULL)
#define RUST(at)	((at) + 0x345ULL)
#define NOWHERE(at)	((at) + 0xe05ULL)

static void common_stacks(void)
{
	stack(8, MEMTAP_STACK_ENTRY, 4, KERNEL + 0x100, KERNEL + 0x200, KERNEL + 0x300,
	      KERNEL + 0x999);
	stack(20, MEMTAP_STACK_USER | MEMTAP_STACK_CHAIN, 3, LOADED + 0x120,
	      PROCESS(LOADED), MAIN(LOADED));
	stack(30, MEMTAP_STACK_USER | MEMTAP_STACK_FAULT, 3, LOADED + 0x120,
	      RUST(LOADED), NOWHERE(LOADED));
	stack(40, MEMTAP_STACK_USER | MEMTAP_STACK_DEPTH, 2, LOADED + 0x230, 0x1234ULL);
	/* the same functions as 20, elsewhere in memory */
	stack(50, MEMTAP_STACK_USER | MEMTAP_STACK_CHAIN, 3, LOADED2 + 0x120,
	      PROCESS(LOADED2), MAIN(LOADED2));
	stack(60, 0, 2, KERNEL + 0x400, KERNEL + 0x200);
	stack(70, MEMTAP_STACK_USER | MEMTAP_STACK_CHAIN, 1, LOADED + 0x2120ULL);
}

static void common_tasks(void)
{
	task(8, 1, 4711, 4711, 0, "encryptor");
	task(9, 2, 4712, 4712, MEMTAP_TASK_EXITED, "encryptor");
	task(10, 0, 33, 33, MEMTAP_TASK_KTHREAD, "kworker/0:1");
	map(1, 1, LOADED);
	map(1, 2, LOADED + 0x2000);
	map(2, 1, LOADED2);
	file(1, "/usr/bin/encryptor", true);
	file(2, "/usr/lib/replaced.so", false);
}

/* @more: so many calls after what @more 0 has, one of them with a new stack. */
static void scene_brk(const char *dir, const char *name, u32 more)
{
	struct key k = { .event = 3, .task = 8, .kstack = 8, .ustack = 20 };

	begin(dir, name, MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK);
	event(3, "brk", MEMTAP_UNIT_BYTES, 1049 + more, 17, 2, 5);
	hook(3, "__x64_sys_brk", 0);
	hook(3, "__ia32_compat_sys_brk", ENOENT);
	/* one key on three CPUs */
	counter(&k, 0, 500, 1 << 20, 135168);
	counter(&k, 2, 400, 2 << 20, 200000);
	counter(&k, 3, 100, 1000, 1000);
	if (more) {
		counter(&k, 1, more - 1, (more - 1) * 4096, 4096);
		counter(&(struct key){ .event = 3, .task = 8, .kstack = 60 }, 1, 1,
			-5000, 0);
	}
	/* an exited process: the same stack, elsewhere */
	counter(&(struct key){ .event = 3, .task = 9, .kstack = 8, .ustack = 50 },
		1, 7, 7 * 4096, 4096);
	/* the heap given back */
	counter(&(struct key){ .event = 3, .task = 8, .kstack = 8, .ustack = 30 },
		1, 30, -300000, 0);
	counter(&(struct key){ .event = 3, .task = 8, .kstack = 8,
			       .ustack = MEMTAP_STACK_LOST }, 1, 4, 40000, 10000);
	counter(&(struct key){ .event = 3, .task = 8, .kstack = 8, .ustack = 40,
			       .flags = MEMTAP_KEY_FAILED }, 1, 3, 0, 0);
	counter(&(struct key){ .event = 3, .task = 10, .kstack = 60 }, 0, 2, 8192, 4096);
	counter(&(struct key){ .event = 3, .task = MEMTAP_TASK_LOST, .kstack = 8 },
		0, 2, 512, 256);
	counter(&(struct key){ .event = 3, .task = 8, .ustack = 70 }, 0, 1, 100, 100);
	common_stacks();
	common_tasks();
	memory();
	end();
	tool_part();
	finish();
}

static void scene_faults(const char *dir)
{
	struct key k = { .event = 0, .task = 8, .ustack = 20, .addr = 0x7f0001 };

	begin(dir, "faults", MEMTAP_CFG_USTACK | MEMTAP_CFG_ADDR);
	event(0, "minor-fault", MEMTAP_UNIT_NONE, 12, 0, 0, 0);
	event(1, "major-fault", MEMTAP_UNIT_NONE, 1, 0, 0, 0);
	event(2, "pages", MEMTAP_UNIT_PAGES, 3, 0, 0, 0);
	counter(&k, 0, 9, 0, 0);
	k.addr++;
	counter(&k, 0, 2, 0, 0);
	k.flags = MEMTAP_KEY_KERNEL | MEMTAP_KEY_IRQ;
	counter(&k, 0, 1, 0, 0);
	k.event = 1;
	counter(&k, 0, 1, 0, 0);
	k.event = 2;
	counter(&k, 0, 3, 34, 32);
	common_stacks();
	common_tasks();
	end();
	tool_part();
	finish();
}

static void scene_hist(const char *dir)
{
	static const u64 hist[] = { 1, 0, 2, 40, 10 }, more[] = { 0, 0, 0, 0, 0, 0, 7 };
	struct key k = { .event = 0, .task = 8, .ustack = 20 };

	begin(dir, "hist", MEMTAP_CFG_USTACK | MEMTAP_CFG_HIST | MEMTAP_CFG_THREADS);
	event(0, "reclaim", MEMTAP_UNIT_NS, 60, 0, 0, 0);
	hist_counter(&k, 0, 53, 300, 15, 5, hist);
	hist_counter(&k, 1, 7, 350, 63, 7, more);
	common_stacks();
	task(8, 1, 4711, 4713, 0, "worker;1");
	map(1, 1, LOADED);
	map(1, 2, LOADED + 0x2000);
	file(1, "/usr/bin/encryptor", true);
	file(2, "/usr/lib/replaced.so", false);
	end();
	tool_part();
	finish();
}

/* Stacks that were followed by rows: whole, and cut for each reason. */
static const struct {
	u32 flags, count;
	u64 last;
} endings[] = {
	{ 0, 1000, MAIN(LOADED) },
	{ MEMTAP_STACK_FP, 100, MAIN(LOADED) },
	{ MEMTAP_STACK_DEPTH, 7, RUST(LOADED) },
	{ MEMTAP_STACK_FAULT, 2, RUST(LOADED) },
	{ MEMTAP_STACK_CHAIN, 1, MAIN(LOADED) },
	{ MEMTAP_STACK_NOMAP, 3, 0x1234 },
	{ MEMTAP_STACK_NOTABLE, 20, LOADED + 0x2120 },
	{ MEMTAP_STACK_NOTABLE, 5, RUST(LOADED) },
	{ MEMTAP_STACK_NOROW, 4, NOWHERE(LOADED) },
};

#define NR_ENDINGS	(sizeof(endings) / sizeof(endings[0]))

static void rows_event(u64 counted)
{
	struct memtap_rec_event *e = record(MEMTAP_REC_EVENT, sizeof(*e));

	e->id = 3;
	e->unit = MEMTAP_UNIT_BYTES;
	e->way = MEMTAP_WAY_KPROBE;
	e->seen = e->counted = counted;
	e->part[MEMTAP_PART_DEPTH] = 7;
	e->part[MEMTAP_PART_FAULT] = 2;
	/* one of a user stack by rows, one of a 32-bit program */
	e->part[MEMTAP_PART_CHAIN] = 2;
	e->part[MEMTAP_PART_NOMAP] = 3;
	e->part[MEMTAP_PART_NOTABLE] = 25;
	e->part[MEMTAP_PART_NOROW] = 4;
	strcpy(e->group, "heap");
	strcpy(e->name, "brk");
	put(e);
}

static void rows_memory(void)
{
	struct memtap_rec_memory *m = record(MEMTAP_REC_MEMORY, sizeof(*m));

	m->total = 28 << 20;
	m->unwind_size = 16 << 20;
	m->unwind_used = 3 << 20;
	m->unwind_lost = 2;
	m->tables = 57;
	m->tables_wanted = 1;
	put(m);
}

/* @whole: none is cut */
static void scene_rows(const char *dir, const char *name, bool whole)
{
	const u32 flags = MEMTAP_STACK_USER | MEMTAP_STACK_ROWS;
	struct key k = { .event = 3, .task = 8 };
	const u32 nr = whole ? 2 : NR_ENDINGS;
	u64 counted = 0;

	depth = 16;
	begin(dir, name, MEMTAP_CFG_USTACK | MEMTAP_CFG_ROWS);
	for (u32 i = 0; i < nr; i++, counted += endings[i - 1].count) {
		k.ustack = 20 + i;
		counter(&k, 0, endings[i].count, endings[i].count * 4096, 4096);
		stack(k.ustack, flags | endings[i].flags, 3, LOADED + 0x120,
		      PROCESS(LOADED), endings[i].last);
	}
	if (whole) {
		event(3, "brk", MEMTAP_UNIT_BYTES, counted, 0, 0, 0);
	} else {
		k.ustack = 60;
		counter(&k, 0, 1, 4096, 4096);
		stack(60, MEMTAP_STACK_USER | MEMTAP_STACK_COMPAT | MEMTAP_STACK_CHAIN, 1,
		      LOADED + 0x120);
		rows_event(counted + 1);
		rows_memory();
	}
	common_tasks();
	end();
	tool_part();
	finish();
	depth = MEMTAP_MAX_DEPTH;
}

/* Names that would break a terminal, a page, a line. */
static void scene_hostile(const char *dir)
{
	struct key k = { .event = 0, .task = 8, .kstack = 8 };

	begin(dir, "hostile", MEMTAP_CFG_KSTACK);
	event(0, "</script><script>alert(1)</script>", MEMTAP_UNIT_NONE, 5, 0, 0, 0);
	counter(&k, 0, 5, 0, 0);
	stack(8, 0, 2, KERNEL, KERNEL + 1);
	task(8, 1, 1, 1, 0, "a;b\n\033[31m\xff\"<");
	end();
	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	ksym(KERNEL, 0, "</script><img src=x onerror=alert(2)>");
	ksym(KERNEL + 1, 0, "\xe2\x80\xae" "evil\r\n\\u0000\xc0\x80 name;x");
	end();
	finish();
}

static void scene_empty(const char *dir)
{
	begin(dir, "empty", MEMTAP_CFG_USTACK);
	event(0, "mmap", MEMTAP_UNIT_BYTES, 0, 0, 0, 0);
	end();
	finish();
}

/* Counters that do not add up to the account: the report must say so. */
static void scene_wrong(const char *dir)
{
	struct key k = { .event = 0, .task = 8, .ustack = 20 };

	begin(dir, "wrong", MEMTAP_CFG_USTACK);
	event(0, "mmap", MEMTAP_UNIT_BYTES, 9, 0, 0, 0);
	counter(&k, 0, 8, 8, 1);
	common_stacks();
	common_tasks();
	end();
	finish();
}

/* ---- the program ---- */

static const struct {
	const char *name;
	u64 at, size;
} functions[] = {
	{ "main", 0x000, 0x100 },
	{ "_Z14read_in_chunksRNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
	  0x100, 0x100 },
	{ "_ZN9Encryptor13process_chunkESt6vectorIhSaIhEE", 0x200, 0x100 },
	{ "_RNvMNtCs1234_6crypto5chunkNtB2_5Block4grow", 0x300, 0x80 },
	{ "_ZN5alloc5alloc15exchange_malloc17h0123456789abcdefE", 0x400, 0x80 },
};

#define NR_FUNCTIONS	(sizeof(functions) / sizeof(functions[0]))

struct elf_file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	Elf64_Nhdr note;
	char note_name[4];
	u8 note_id[20];
	Elf64_Sym syms[NR_FUNCTIONS + 1];
	char strings[1024];
	char names[64];
	Elf64_Shdr sh[6];
};

static void fill_symbols(struct elf_file *f)
{
	size_t at = 1;

	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		Elf64_Sym *s = &f->syms[i + 1];

		s->st_name = at;
		s->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		s->st_shndx = 1;
		s->st_value = TEXT + functions[i].at;
		s->st_size = functions[i].size;
		strcpy(f->strings + at, functions[i].name);
		at += strlen(functions[i].name) + 1;
	}
}

static void section(struct elf_file *f, int i, u32 name, u32 type, u64 offset,
		    u64 size, u64 entry)
{
	f->sh[i].sh_name = name;
	f->sh[i].sh_type = type;
	f->sh[i].sh_offset = offset;
	f->sh[i].sh_size = size;
	f->sh[i].sh_entsize = entry;
	f->sh[i].sh_addralign = 1;
}

static void fill_headers(struct elf_file *f)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab\0.note";

	memcpy(f->eh.e_ident, ELFMAG "\x02\x01\x01", 7);
	f->eh.e_type = ET_DYN;
	f->eh.e_machine = EM_X86_64;
	f->eh.e_version = 1;
	f->eh.e_phoff = offsetof(struct elf_file, ph);
	f->eh.e_shoff = offsetof(struct elf_file, sh);
	f->eh.e_ehsize = sizeof(f->eh);
	f->eh.e_phentsize = sizeof(f->ph[0]);
	f->eh.e_phnum = 2;
	f->eh.e_shentsize = sizeof(f->sh[0]);
	f->eh.e_shnum = 6;
	f->eh.e_shstrndx = 4;
	f->ph[0] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, TEXT, TEXT, TEXT, 0x1000, 0x1000, 0x1000 };
	f->ph[1] = (Elf64_Phdr){ PT_NOTE, PF_R, offsetof(struct elf_file, note),
				offsetof(struct elf_file, note), 0, 36, 36, 4 };
	f->note = (Elf64_Nhdr){ 4, sizeof(build_id), NT_GNU_BUILD_ID };
	memcpy(f->note_name, "GNU", 4);
	memcpy(f->note_id, build_id, sizeof(build_id));
	memcpy(f->names, names, sizeof(names));
	section(f, 1, 1, SHT_PROGBITS, TEXT, 0x1000, 0);
	f->sh[1].sh_addr = TEXT;
	f->sh[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	section(f, 2, 7, SHT_SYMTAB, offsetof(struct elf_file, syms), sizeof(f->syms),
		sizeof(f->syms[0]));
	f->sh[2].sh_link = 3;
	f->sh[2].sh_info = 1;
	f->sh[2].sh_addralign = 8;
	section(f, 3, 15, SHT_STRTAB, offsetof(struct elf_file, strings), sizeof(f->strings), 0);
	section(f, 4, 23, SHT_STRTAB, offsetof(struct elf_file, names), sizeof(f->names), 0);
	section(f, 5, 33, SHT_NOTE, offsetof(struct elf_file, note), 36, 0);
	f->sh[5].sh_addr = f->sh[5].sh_offset;
	f->sh[5].sh_flags = SHF_ALLOC;
	f->sh[5].sh_addralign = 4;
}

static void make_elf(const char *dir)
{
	static u8 image[2 * 0x1000];
	struct elf_file *f = (struct elf_file *)image;
	char path[4096];
	FILE *o;

	_Static_assert(sizeof(*f) <= TEXT, "the headers are in front of the code");
	fill_symbols(f);
	fill_headers(f);
	snprintf(path, sizeof(path), "%s/.build-id", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/.build-id/ab", dir);
	mkdir(path, 0755);
	strcat(path, "/cd0102030405060708090a0b0c0d0e0f101112");
	o = fopen(path, "w");
	if (!o || fwrite(image, 1, sizeof(image), o) != sizeof(image) || fclose(o))
		die(path);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_snap DIR\n");
		return 2;
	}
	make_elf(argv[1]);
	scene_brk(argv[1], "brk", 0);
	scene_brk(argv[1], "later", 12);
	scene_faults(argv[1]);
	scene_hist(argv[1]);
	scene_hostile(argv[1]);
	scene_empty(argv[1]);
	scene_wrong(argv[1]);
	scene_rows(argv[1], "rows", false);
	scene_rows(argv[1], "rows-whole", true);
	return 0;
}
