// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a process from a core file: threads and memory; see core.h. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "leaks/core_int.h"

#define BUFFER		(1UL << 20)
#define REG_SP		7
#define FS		CORE_REG_FS

/* Notes have r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs flags rsp */
const unsigned char core_regs[MEMTAP_HELD_REGS] = {
	10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16,
};

/* ---- notes ---- */

static int add_thread(struct core *c, const struct core_note *n)
{
	const unsigned char *regs = n->at + CORE_PRSTATUS_REGS;
	struct thread t = { .nr_regs = MEMTAP_HELD_REGS };

	t.tid = (pid_t)core_half(n->at + CORE_PRSTATUS_PID);
	t.ns_tid = (__u32)t.tid;
	for (size_t i = 0; i < MEMTAP_HELD_REGS; i++)
		t.regs[i] = core_word(regs + core_regs[i] * sizeof(__u64));
	t.sp = t.regs[REG_SP];
	t.base = core_word(regs + FS * sizeof(__u64));
	return threads_add(&c->layout, &t);
}

static int by_tid(const void *x, const void *y)
{
	const struct thread *a = x, *b = y;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* A core begins with the thread that died; /proc has them in another order, as a saved file. */
static int add_registers(struct core *c)
{
	struct layout *l = &c->layout;
	int err = 0;

	if (!c->told.saved && l->nr_threads)
		qsort(l->threads, l->nr_threads, sizeof(*l->threads), by_tid);
	for (size_t i = 0; !err && i < l->nr_threads; i++) {
		l->threads[i].first_word = l->words.nr;
		err = words_add(&l->words, l->threads[i].regs, l->threads[i].nr_regs);
	}
	return err;
}

static void take_process(struct core *c, const struct core_note *n)
{
	c->told.pid = (pid_t)core_half(n->at + CORE_PRPSINFO_PID);
	snprintf(c->told.comm, sizeof(c->told.comm), "%.*s", CORE_NAME_LEN,
		 (const char *)n->at + CORE_PRPSINFO_NAME);
}

static int take_note(const struct core_note *n, void *ctx)
{
	struct core *c = ctx;

	if (!strcmp(n->name, CORE_OWNER) && n->type && n->type <= CORE_SAVED_INFO)
		c->saved[n->type] = *n;
	if (strcmp(n->name, "CORE"))
		return 0;
	switch (n->type) {
	case NT_PRSTATUS:
		return n->len < CORE_PRSTATUS_LEN ? 0 : add_thread(c, n);
	case NT_PRPSINFO:
		if (n->len >= CORE_PRPSINFO_LEN)
			take_process(c, n);
		return 0;
	case NT_AUXV:
		c->auxv = *n;
		return 0;
	case NT_FILE:
		c->file = *n;
		return 0;
	default:
		return 0;
	}
}

/* ---- what only a file of core_save() has ---- */

static void take_info(struct core *c)
{
	const struct core_note *n = &c->saved[CORE_SAVED_INFO];
	char *text = n->len ? strndup((const char *)n->at, n->len) : NULL, *rest, key[32];
	unsigned long long v;

	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (sscanf(line, "%31s %llu", key, &v) != 2)
			continue;
		if (!strcmp(key, "time"))
			c->told.when = (time_t)v;
		else if (!strcmp(key, "swapped"))
			c->told.swapped = v;
	}
	free(text);
}

static int take_saved(struct core *c)
{
	const struct core_note *words = &c->saved[CORE_SAVED_WORDS];
	const struct core_note *ids = &c->saved[CORE_SAVED_IDS];
	int err = 0;

	take_info(c);
	for (size_t i = 0; i < c->layout.nr_threads && (i + 1) * sizeof(__u32) <= ids->len; i++)
		c->layout.threads[i].ns_tid = core_half(ids->at + i * sizeof(__u32));
	for (size_t at = 0; !err && words->len - at >= sizeof(__u64); at += sizeof(__u64))
		err = words_add(&c->layout.words, &(__u64){ core_word(words->at + at) }, 1);
	return err;
}

/* ---- pages ---- */

static bool is_zero(const unsigned char *page)
{
	static const unsigned char zeros[PAGES_SIZE];

	return !memcmp(page, zeros, sizeof(zeros));
}

/* Up to where the file has something of [@start, @end). */
static __u64 known_end(const struct core *c, __u64 start, __u64 end)
{
	size_t low = 0, high = c->in.nr;
	__u64 last = start;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (c->in.segments[middle].start < end)
			low = middle + 1;
		else
			high = middle;
	}
	/* the last one that has bytes; those behind it have none */
	while (low-- && c->in.segments[low].end > start && last == start)
		if (c->in.segments[low].there)
			last = (c->in.segments[low].start + c->in.segments[low].there +
				PAGES_SIZE - 1) & ~(PAGES_SIZE - 1);
	return last < end ? last : end;
}

static int reserve(struct core *c)
{
	int err = 0;

	for (size_t i = 0; i < c->nr_maps && !err; i++) {
		const struct area a = { .start = c->maps[i].start,
					.end = known_end(c, c->maps[i].start, c->maps[i].end) };

		/* (what is longer is no memory: a process that runs is not copied there, either) */
		if (a.end > a.start && a.end - a.start <= RESERVED)
			err = pages_reserve(&c->pages, &a);
	}
	return err;
}

/* What remains behind the last whole page is not there. */
static int load(struct core *c, struct core_segment *s, unsigned char *buf, __u64 most)
{
	__u64 at = 0;

	while (at < s->there) {
		const __u64 next = core_file_data(&c->in, s->offset + at, s->offset + s->there) -
				   s->offset;
		size_t len, got;

		at = next & ~(PAGES_SIZE - 1);
		if (at >= s->there)
			break;
		len = s->there - at < BUFFER ? (size_t)(s->there - at) : BUFFER;
		got = core_file_read(&c->in, s->offset + at, buf, len) & ~(size_t)(PAGES_SIZE - 1);
		for (size_t i = 0; i < got; i += PAGES_SIZE)
			if (!is_zero(buf + i))
				pages_put(&c->pages, s->start + at + i, buf + i);
		at += got;
		if (got < len) {
			s->there = at;
			break;
		}
		if (c->pages.bytes > most)
			return -ENOBUFS;
	}
	return 0;
}

static int by_offset(const void *x, const void *y)
{
	const struct core_segment *a = *(struct core_segment *const *)x;
	const struct core_segment *b = *(struct core_segment *const *)y;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* In the order of the file, since it may be compressed. */
static int load_all(struct core *c, __u64 most)
{
	struct core_segment **order = calloc(c->in.nr + 1, sizeof(struct core_segment *));
	unsigned char *buf = malloc(BUFFER);
	int err = order && buf ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < c->in.nr; i++)
		order[i] = &c->in.segments[i];
	if (!err && c->in.nr)
		qsort(order, c->in.nr, sizeof(struct core_segment *), by_offset);
	for (size_t i = 0; !err && i < c->in.nr; i++) {
		err = load(c, order[i], buf, most);
		c->told.truncated += order[i]->bytes - order[i]->there;
	}
	free(order);
	free(buf);
	return err;
}

/* ---- as struct image has it ---- */

static struct core *core_of(const struct image *i)
{
	return (struct core *)(unsigned long)i;
}

static int each_map(const struct image *i, int (*fn)(const struct procmap *m, void *ctx),
		    void *ctx)
{
	const struct core *c = core_of(i);
	int ret = 0;

	for (size_t at = 0; !ret && at < c->nr_maps; at++)
		ret = fn(&c->maps[at], ctx);
	return ret;
}

/* A page that was not kept: of zeros. */
static size_t read_zeros(const struct core *c, __u64 addr, void *buf, size_t len)
{
	const struct core_segment *s = core_file_find(&c->in, addr);
	const size_t page = (size_t)(PAGES_SIZE - addr % PAGES_SIZE);

	if (!s || addr - s->start >= s->there)
		return 0;
	if (len > page)
		len = page;
	memset(buf, 0, len);
	return len;
}

static size_t read_constants(struct core *c, __u64 addr, void *buf, size_t len)
{
	const struct procmap *m = core_find_map(c, addr);
	const struct core_mapped *f;
	__u64 at;
	ssize_t n;

	if (!m || m->path[0] != '/' || !m->readable || m->shared)
		return 0;
	f = core_file_of(c, m->path);
	at = addr - m->start + m->offset;
	if (!f || !core_file_is_good(f) || (m->writable && !core_file_has_data(f, at)))
		return 0;
	if (len > m->end - addr)
		len = (size_t)(m->end - addr);
	n = pread(f->fd, buf, len, (off_t)at);
	return n > 0 ? (size_t)n : 0;
}

static size_t read_image(const struct image *i, __u64 addr, void *buf, size_t len)
{
	struct core *c = core_of(i);
	size_t n = pages_read(&c->pages, addr, buf, len);

	if (!n)
		n = read_zeros(c, addr, buf, len);
	return n ? n : read_constants(c, addr, buf, len);
}

static const char *why_not(const struct image *i, __u64 addr)
{
	const struct core *c = core_of(i);
	const struct core_segment *s = core_file_find(&c->in, addr);
	const __u64 at = s ? addr - s->start : 0;

	if (s && at >= s->there && at < s->bytes)
		return c->in.damaged ? "the file is damaged" : "the core file is truncated";
	/* (what a process never touched is not saved) */
	if (c->told.saved && !c->told.swapped)
		return NULL;
	return !s || at >= s->bytes ? "the core file does not have it" : NULL;
}

/* ---- all of it ---- */

static int make_layout(struct core *c)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->nr_maps; i++)
		err = layout_add(&c->maps[i], &c->layout);
	return err || !c->brk ? err : layout_cut_heap(&c->layout, c->brk);
}

static int read_all(struct core *c, __u64 most, char why[CORE_WHY])
{
	int err = core_file_notes(&c->in, take_note, c);

	c->told.saved = c->saved[CORE_SAVED_MAPS].len;
	if (!err)
		err = add_registers(c);
	if (!err && c->told.saved)
		err = take_saved(c);
	if (!err)
		err = core_read_maps(c);
	if (!err)
		err = reserve(c);
	if (!err)
		err = load_all(c, most);
	if (!err)
		err = core_name_maps(c);
	if (!err)
		err = make_layout(c);
	c->told.bytes = c->pages.bytes;
	c->told.damaged = c->in.damaged;
	if (!err && !c->layout.nr) {
		snprintf(why, CORE_WHY, "it has no memory of a process");
		err = -EINVAL;
	}
	return err;
}

int core_open(const char *path, const char *exe, __u64 most, struct core **out,
	      char why[CORE_WHY])
{
	struct core *c = calloc(1, sizeof(*c));
	int err;

	why[0] = '\0';
	if (!c)
		return -ENOMEM;
	c->exe = exe;
	c->image = (struct image){ each_map, read_image, core_image_open, core_image_is_program,
				   why_not, 0 };
	snprintf(c->told.comm, sizeof(c->told.comm), "?");
	err = core_file_open(path, &c->in, why);
	if (!err)
		err = read_all(c, most, why);
	c->image.pid = c->told.pid;
	if (err)
		core_close(c);
	else
		*out = c;
	return err;
}

void core_close(struct core *c)
{
	if (!c)
		return;
	pages_free(&c->pages);
	layout_free(&c->layout);
	core_free_files(c);
	free(c->maps);
	free(c->ranges);
	free(c->maps_text);
	if (c->in.in)
		core_file_close(&c->in);
	free(c);
}

const struct image *core_image(const struct core *c)
{
	return &c->image;
}

const struct core_told *core_told(const struct core *c)
{
	return &c->told;
}

struct pages *core_pages(struct core *c)
{
	return &c->pages;
}

struct layout core_layout(struct core *c)
{
	const struct layout l = c->layout;

	memset(&c->layout, 0, sizeof(c->layout));
	return l;
}

const struct core_mapped *core_files(const struct core *c, size_t *nr)
{
	*nr = c->nr_files;
	return c->files;
}

void core_anonymous(const struct core *c, __u64 *there, __u64 *all)
{
	*there = *all = 0;
	for (size_t i = 0; i < c->nr_maps; i++) {
		const struct procmap *m = &c->maps[i];
		size_t len;

		if (m->path[0] == '/' || !m->writable || m->shared || !strcmp(m->path, "[stack]"))
			continue;
		*all += m->end - m->start;
		for (__u64 at = m->start; at < m->end; at += len) {
			len = (size_t)(m->end - at);
			*there += pages_at(&((struct core *)(unsigned long)c)->pages, at, &len) ?
				  len : 0;
		}
	}
}
