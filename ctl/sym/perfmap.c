// SPDX-License-Identifier: GPL-2.0-or-later
/* Names that a JIT compiler left in /tmp/perf-PID.map. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/openreg.h"
#include "sym/int.h"

#define PERFMAP_MAX	(256u << 20)	/* bytes of text that are read */
#define PERFMAP_BACK	64		/* entries that may overlap an address */

struct perfmap_entry {
	__u64 start, size;
	const char *name;
	size_t line;		/* code is replaced: later lines hold */
};

struct perfmap {
	char *text;
	struct perfmap_entry *entries;
	size_t nr;
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A hex number and the blanks after it; NULL if there is none. */
static char *parse_hex(char *p, __u64 *v)
{
	char *start;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (start = p, *v = 0; hex_digit(*p) >= 0; p++)
		*v = *v << 4 | hex_digit(*p);
	if (p == start || p - start > 16 || (*p != ' ' && *p != '\t'))
		return NULL;
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static bool parse_line(char *p, struct perfmap_entry *e)
{
	p = parse_hex(p, &e->start);
	if (p)
		p = parse_hex(p, &e->size);
	if (!p || !*p || !e->size || e->start + e->size < e->start)
		return false;
	e->name = p;
	return true;
}

static int cmp_entry(const void *a, const void *b)
{
	const struct perfmap_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

struct perfmap *perfmap_parse(char *text, size_t len)
{
	struct perfmap *m = calloc(1, sizeof(*m));
	size_t lines = 1, room;
	char *p, *end;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	room = lines;
	p = realloc(text, len + 1);
	if (p)
		text = p;
	if (m)
		m->entries = calloc(room, sizeof(*m->entries));
	if (!p || !m || !m->entries) {
		free(text);
		free(m);
		return NULL;
	}
	text[len] = 0;
	m->text = text;
	for (p = text; p < text + len; p = end + 1) {
		struct perfmap_entry *e = &m->entries[m->nr];

		end = memchr(p, '\n', text + len - p);
		if (!end)
			end = text + len;
		*end = 0;
		e->line = m->nr;
		m->nr += parse_line(p, e);
	}
	qsort(m->entries, m->nr, sizeof(*m->entries), cmp_entry);
	return m;
}

const char *perfmap_lookup(const struct perfmap *m, __u64 addr, __u64 *start)
{
	const struct perfmap_entry *best = NULL;
	size_t lo = 0, hi = m->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->entries[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (int i = 0; i < PERFMAP_BACK && lo--; i++) {
		const struct perfmap_entry *e = &m->entries[lo];

		if (addr - e->start < e->size && (!best || e->line > best->line))
			best = e;
	}
	if (!best)
		return NULL;
	*start = best->start;
	return best->name;
}

void perfmap_free(struct perfmap *m)
{
	if (!m)
		return;
	free(m->entries);
	free(m->text);
	free(m);
}

/* ---- finding the map of a task ---- */

struct sym_perfmap {
	struct sym_perfmap *next;
	__s32 pid;
	__u64 start_ns;
	struct perfmap *map;	/* NULL: it has none */
};

/*
 * Anybody can write to /tmp: only a map of root or of the task's own user is
 * believed, and none that is older than the task.
 */
static char *read_map(int dirfd, const char *path, const struct snap *snap,
		      const struct memtap_rec_task *task, size_t *len)
{
	int fd = open_regular_at(dirfd, path, O_NOFOLLOW);
	__u64 age = snap->header.now_ns - task->start_ns;
	struct stat st;
	char *text = NULL;
	ssize_t n;

	*len = 0;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || st.st_size > PERFMAP_MAX ||
	    (st.st_uid && st.st_uid != task->uid) ||
	    (__u64)(st.st_mtim.tv_sec + 1) * 1000000000ULL + age < snap->header.real_ns)
		goto out;
	text = malloc(st.st_size + 1);
	while (text && *len < (size_t)st.st_size) {
		n = read(fd, text + *len, st.st_size - *len);
		if (n <= 0)
			break;
		*len += n;
	}
out:
	close(fd);
	return text;
}

static struct perfmap *load_map(const struct snap *snap,
				const struct memtap_rec_task *task)
{
	char path[64];
	char *text = NULL;
	size_t len = 0;
	int root;

	if (!sym_is_local(snap))
		return NULL;
	if (sym_task_lives(snap, task)) {
		snprintf(path, sizeof(path), "/proc/%d/root", task->pid);
		root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		snprintf(path, sizeof(path), "tmp/perf-%d.map", task->ns_pid);
		if (root >= 0) {
			text = read_map(root, path, snap, task, &len);
			close(root);
		}
	}
	if (!text) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", task->pid);
		text = read_map(AT_FDCWD, path, snap, task, &len);
	}
	return text ? perfmap_parse(text, len) : NULL;
}

const char *sym_perfmap(struct sym *s, const struct snap *snap,
			const struct memtap_rec_task *task, __u64 addr,
			__u64 *start, const void **owner)
{
	struct sym_perfmap *p;

	if (!task)
		return NULL;
	for (p = s->perfmaps; p; p = p->next)
		if (p->pid == task->pid && p->start_ns == task->start_ns)
			break;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->pid = task->pid;
		p->start_ns = task->start_ns;
		p->map = load_map(snap, task);
		p->next = s->perfmaps;
		s->perfmaps = p;
	}
	*owner = p;
	return p->map ? perfmap_lookup(p->map, addr, start) : NULL;
}

void sym_perfmaps_free(struct sym *s)
{
	struct sym_perfmap *p;

	while ((p = s->perfmaps)) {
		s->perfmaps = p->next;
		perfmap_free(p->map);
		free(p);
	}
}
