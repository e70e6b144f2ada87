// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse /tmp/perf-PID.map, the symbols of a JIT compiler. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/openreg.h"
#include "sym/int.h"
#include "sym/jitmaps.h"

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

/* How many entries begin at @addr or before. */
static size_t entries_until(const struct perfmap *m, __u64 addr)
{
	size_t lo = 0, hi = m->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->entries[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The last line that has @addr; of those with another name than it, the last one, or NULL. */
static const struct perfmap_entry *find_entry(const struct perfmap *m, __u64 addr,
					      const struct perfmap_entry **other)
{
	const struct perfmap_entry *best = NULL, *second = NULL;
	size_t lo = entries_until(m, addr);

	for (int i = 0; i < PERFMAP_BACK && lo--; i++) {
		const struct perfmap_entry *e = &m->entries[lo], *less = e;

		if (addr - e->start >= e->size)
			continue;
		if (!best || e->line > best->line) {
			less = best;
			best = e;
		}
		if (less && (!second || less->line > second->line || !strcmp(second->name,
									     best->name)))
			second = less;
	}
	*other = second && strcmp(second->name, best->name) ? second : NULL;
	return best;
}

bool perfmap_lookup(const struct perfmap *m, __u64 addr, __u64 *start, char *name, size_t len)
{
	const struct perfmap_entry *other, *e = find_entry(m, addr, &other);

	if (!e)
		return false;
	*start = e->start;
	if (other)
		snprintf(name, len, "%.400s or %.400s", e->name, other->name);
	else
		snprintf(name, len, "%s", e->name);
	return true;
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
	__u32 exec;
	__u64 start_ns;
	__u64 read_ns;		/* the snapshot for which it was read */
	size_t len;		/* of its text then */
	struct perfmap *map;	/* NULL: it has none */
	bool noted;
};

/*
 * Anybody can write to /tmp: only a map of root or of the task's own user is
 * believed, and none that is older than the task.
 */
static char *read_map(struct sym *s, struct sym_perfmap *p, int dirfd, const char *path,
		      const struct snap *snap, const struct memtap_rec_task *task, size_t *len)
{
	int fd = open_regular_at(dirfd, path, O_NOFOLLOW);
	__u64 age = snap->header.now_ns - task->start_ns;
	struct stat st;
	char *text = NULL;

	*len = 0;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st))
		goto out;
	if (st.st_uid && st.st_uid != task->uid) {
		if (!p->noted)
			sym_note(s, "/tmp/perf-%d.map belongs to user %u, process %d to user %u: "
				 "the map is ignored, its code is shown as [jit]", task->ns_pid,
				 st.st_uid, task->pid, task->uid);
		p->noted = true;
		goto out;
	}
	if ((__u64)(st.st_mtim.tv_sec + 1) * 1000000000ULL + age < snap->header.real_ns)
		goto out;
	text = jitmaps_slurp(fd, len);
out:
	close(fd);
	return text;
}

/* Was there no execve() after which it is called otherwise? */
static bool is_last_program(const struct snap *snap, const struct memtap_rec_task *task)
{
	for (size_t i = 0; i < snap->nr_tasks; i++) {
		const struct memtap_rec_task *t = &snap->tasks[i];

		if (t->pid == task->pid && t->start_ns == task->start_ns && t->exec > task->exec)
			return false;
	}
	return true;
}

/* Its text as it is now, or was when somebody could still read it. */
static char *map_text(struct sym *s, struct sym_perfmap *p, const struct snap *snap,
		      const struct memtap_rec_task *task, size_t *len)
{
	const bool last = is_last_program(snap, task);
	char path[64];
	char *text;
	int root;

	text = jitmaps_text(s->opts.jitmaps, task, last, len);
	if (text || !last)
		return text;
	if (sym_task_lives(snap, task)) {
		snprintf(path, sizeof(path), "/proc/%d/root", task->pid);
		root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		snprintf(path, sizeof(path), "tmp/perf-%d.map", task->ns_pid);
		if (root >= 0) {
			text = read_map(s, p, root, path, snap, task, len);
			close(root);
		}
	}
	if (!text) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", task->pid);
		text = read_map(s, p, AT_FDCWD, path, snap, task, len);
	}
	return text;
}

static void load_map(struct sym *s, struct sym_perfmap *p, const struct snap *snap,
		     const struct memtap_rec_task *task)
{
	size_t len;
	char *text;

	p->read_ns = snap->header.now_ns;
	if (!sym_is_local(snap))
		return;
	text = map_text(s, p, snap, task, &len);
	if (text && (!p->map || len != p->len)) {
		perfmap_free(p->map);
		p->map = perfmap_parse(text, len);
		p->len = len;
	} else {
		free(text);
	}
}

static struct sym_perfmap *map_of(struct sym *s, const struct snap *snap,
				  const struct memtap_rec_task *task)
{
	struct sym_perfmap *p;

	for (p = s->perfmaps; p; p = p->next)
		if (p->pid == task->pid && p->start_ns == task->start_ns &&
		    p->exec == task->exec)
			break;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->pid = task->pid;
		p->exec = task->exec;
		p->start_ns = task->start_ns;
		p->next = s->perfmaps;
		s->perfmaps = p;
	} else if (p->read_ns == snap->header.now_ns) {
		return p;
	}
	/* what was made since the last report is in it now */
	load_map(s, p, snap, task);
	return p;
}

bool sym_perfmap(struct sym *s, const struct snap *snap, const struct memtap_rec_task *task,
		 __u64 addr, __u64 *start, const void **owner, char *name, size_t len)
{
	struct sym_perfmap *p = task ? map_of(s, snap, task) : NULL;
	char why[256];

	if (!p)
		return false;
	*owner = p;
	if (p->map)
		return perfmap_lookup(p->map, addr, start, name, len);
	if (!p->noted && jitmaps_why(s->opts.jitmaps, task, why, sizeof(why)))
		sym_note(s, "%s", why);
	p->noted = true;
	return false;
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
