// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the records of invented recordings. */
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "records.h"

static const u8 build_id[20] = {
	0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
};

static FILE *out;
static struct wire_sum sum;
struct made made = { "golden.example", "6.1.0-golden", 100 * SEC, 110 * SEC + SEC / 4,
		     1767225600 * SEC };	/* 2026-01-01 00:00:00 UTC */
u32 depth = MEMTAP_MAX_DEPTH;
bool running;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

void put(void *rec)
{
	const struct memtap_rec *r = rec;

	wire_sum_add(&sum, r);
	if (fwrite(r, 1, r->len, out) != r->len)
		die("write");
	free(rec);
}

void *record(u32 type, size_t len)
{
	size_t room = (len + 7) & ~(size_t)7;
	void *buf = malloc(room);

	if (!buf || !wire_begin(buf, room, type, len))
		die("record");
	return buf;
}

void end(void)
{
	struct memtap_rec_end e;

	wire_end(&sum, &e);
	if (fwrite(&e, 1, sizeof(e), out) != sizeof(e))
		die("write");
	wire_sum_init(&sum);
}

void begin_sampled(const char *dir, const char *name, u32 flags, u64 bytes, u32 rate)
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
	h->running = running;
	h->page_size = 4096;
	h->nr_cpus = 4;
	h->machine = EM_X86_64;
	h->start_ns = made.start_ns;
	h->now_ns = made.now_ns;
	h->real_ns = made.real_ns;
	h->addr_shift = 12;
	strcpy(h->release, made.release);
	strcpy(h->version, "0.1");
	strcpy(h->host, made.host);
	h->sample_bytes = bytes;
	h->sample_rate = rate;
	put(h);
}

void begin(const char *dir, const char *name, u32 flags)
{
	begin_sampled(dir, name, flags, 0, 0);
}

void finish(void)
{
	if (fclose(out))
		die("close");
}

void event(u32 id, const char *name, u32 unit, u64 counted, u64 filtered,
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

void hook(u32 ev, const char *target, u32 error)
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

void stack(u32 id, u32 flags, u32 nr, ...)
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

void task(u32 id, u32 space, s32 pid, s32 tid, u32 flags, const char *comm)
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

void map(u32 space, u32 file, u64 start)
{
	struct memtap_rec_map *m = record(MEMTAP_REC_MAP, sizeof(*m));

	m->space = space;
	m->file = file;
	m->start = start;
	m->end = start + 0x1000;
	m->offset = TEXT;
	put(m);
}

void file(u32 id, const char *path, bool has_id)
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

void memory(void)
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

void ksym(u64 addr, u64 offset, const char *name)
{
	struct memtap_rec_ksym *k = record(MEMTAP_REC_KSYM, sizeof(*k) + strlen(name) + 1);

	k->addr = addr;
	k->offset = offset;
	strcpy(k->name, name);
	put(k);
}

void note(const char *text)
{
	struct memtap_rec_note *n = record(MEMTAP_REC_NOTE, sizeof(*n) + strlen(text) + 1);

	strcpy(n->text, text);
	put(n);
}

void tool_part(void)
{
	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	ksym(KERNEL + 0x100, 0, "__x64_sys_brk");
	ksym(KERNEL + 0x200, 0x35, "do_syscall_64");
	ksym(KERNEL + 0x300, 0x63, "entry_SYSCALL_64_after_hwframe");
	ksym(KERNEL + 0x400, 0x10, "helper [some_module]");
	ksym(KERNEL + 0x600, 0x20, "leaky_irq [leaky]");
	ksym(KERNEL + 0x640, 0x31, "leaky_run [leaky]");
	ksym(KERNEL + 0x700, 0x20, "__alloc_pages");
	ksym(KERNEL + 0x740, 0x20, "allocate_slab");
	ksym(KERNEL + 0x780, 0x20, "__vmalloc_node_range");
	note("command=memtap brk -p 4711");
	note("cgroup.4242=/system.slice/encryptor.service");
	end();
}

void common_stacks(void)
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

void common_tasks(void)
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
	{ "malloc", 0x500, 0x40 },
	{ "free", 0x540, 0x40 },
	{ "mmap", 0x580, 0x40 },
	{ "_Z4leakv", 0x5c0, 0x40 },
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

void make_elf(const char *dir)
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

