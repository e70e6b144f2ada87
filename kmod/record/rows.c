// SPDX-License-Identifier: GPL-2.0-only
/* Handle MEMTAP_TABLE and MEMTAP_WANTED: load unwind tables, and report which are missing. */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "record/record.h"
#include "record/rows.h"
#include "record/recording.h"
#include "record/spaces.h"
#include "record/tables.h"
#include "record/tasks.h"

#include "compat/file.h"
#include "compat/valloc.h"

int memtap_maps_make(struct memtap_session *s)
{
	int err = 0;

	if (!s->tasks.slots) {
		err = memtap_tasks_init(s, s->mem_tasks);
		if (!err)
			memtap_maps_init(&s->tasks);
	}
	if (!err && (s->flags & MEMTAP_CFG_ROWS) && !s->spaces)
		err = memtap_spaces_init(s);
	return err;
}

int memtap_rows_check(const struct memtap_session *s, const struct memtap_table *a)
{
	if (!(s->flags & MEMTAP_CFG_ROWS) || s->state < MEMTAP_CONFIGURED ||
	    s->state > MEMTAP_RUNNING)
		return -EBUSY;
	if (a->flags & ~MEMTAP_TABLE_VDSO)
		return -EOPNOTSUPP;
	if (!a->nr_rows || a->nr_rows > MEMTAP_MAX_ROWS || !a->nr_rules ||
	    a->nr_rules > MEMTAP_MAX_RULES)
		return -EINVAL;
	if ((a->flags & MEMTAP_TABLE_VDSO) && a->fd != -1)
		return -EINVAL;
	if (memtap_shared_bytes(a->nr_rows, a->nr_rules) > s->mem_unwind)
		return -EDQUOT;
	return 0;
}

/* The entry of the file that is open at @fd. */
static int find_file(struct memtap_session *s, int fd, u32 *at)
{
	struct file *file = fget(fd);
	const struct inode *inode;
	char *page;

	if (!file)
		return -EBADF;
	/* as its mappings have it: below an overlay */
	inode = memtap_file_inode(file);
	/* no code is in anything else; a session would hold itself */
	if (!S_ISREG(inode->i_mode)) {
		fput(file);
		return -EBADF;
	}
	page = (char *)__get_free_page(MEMTAP_GFP);
	if (!page) {
		fput(file);
		return -ENOMEM;
	}
	*at = memtap_files_keep(&s->tasks, file, inode, NULL, page, MEMTAP_PATH_PAGE);
	free_page((unsigned long)page);
	fput(file);
	return *at ? 0 : -ENOSPC;
}

static int find_place(struct memtap_session *s, struct memtap_table *a,
		      struct memtap_shared ***place)
{
	struct memtap_kept_file *f;
	int err;

	a->file = 0;
	if (a->flags & MEMTAP_TABLE_VDSO) {
		*place = &s->spaces->vdso;
	} else {
		err = find_file(s, a->fd, &a->file);
		if (err)
			return err;
		f = (struct memtap_kept_file *)(s->tasks.files + a->file);
		*place = &f->shared;
	}
	return **place ? -EEXIST : 0;
}

int memtap_rows_table(struct memtap_session *s, struct memtap_table *a,
		      struct memtap_shared *sh)
{
	struct memtap_shared **place;
	int err;

	err = memtap_maps_make(s);
	if (!err)
		err = find_place(s, a, &place);
	if (!err)
		err = memtap_spaces_charge(s, sh->bytes);
	if (err) {
		memtap_shared_free(sh);
		return err;
	}
	a->bytes = sh->bytes;
	sh = memtap_shared_get(sh);
	if (IS_ERR(sh)) {
		memtap_spaces_uncharge(s, a->bytes);
		a->bytes = 0;
		return PTR_ERR(sh);
	}
	s->table = sh;
	s->table_place = place;
	return 0;
}

void memtap_rows_publish(struct memtap_session *s, bool told)
{
	struct memtap_shared *sh = s->table;

	s->table = NULL;
	if (told) {
		s->spaces->nr_tables++;
		/* from here on walks may use it, and remember what they found */
		smp_store_release(s->table_place, sh);
		return;
	}
	memtap_spaces_uncharge(s, sh->bytes);
	memtap_shared_put(sh);
}

static pid_t visible_pid(pid_t pid)
{
	struct pid *p;
	pid_t nr = 0;

	rcu_read_lock();
	p = find_pid_ns(pid, &init_pid_ns);
	if (p)
		nr = pid_vnr(p);
	rcu_read_unlock();
	return nr;
}

static bool is_wanted(const struct memtap_kept_file *f)
{
	return READ_ONCE(f->mapped) && !smp_load_acquire(&f->nameless) &&
	       !smp_load_acquire(&f->shared);
}

static u32 next_wanted(const struct memtap_tasks *t, u32 last)
{
	u32 at = MEMTAP_FILES_FIRST, end = smp_load_acquire(&t->files_used);
	const struct memtap_kept_file *f;

	for (; at < end; at += f->len) {
		f = memtap_tasks_file(t, at);
		if (at > last && is_wanted(f))
			return at;
	}
	return 0;
}

/* Hooks on mappings write it meanwhile.  PID 0: not known. */
static void read_mapper(struct memtap_tasks *t, const struct memtap_kept_file *f,
			struct memtap_mapper *m)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;

	memset(m, 0, sizeof(*m));
	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&t->lock);
	*m = f->mapper;
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
}

int memtap_rows_wanted(struct memtap_session *s, struct memtap_wanted *a,
		       const char **path)
{
	struct memtap_tasks *t = &s->tasks;
	const struct memtap_kept_file *f;
	u32 seen = READ_ONCE(t->nr_wanted), at;
	struct memtap_mapper m;

	if (!(s->flags & MEMTAP_CFG_ROWS) || s->state != MEMTAP_RUNNING)
		return -EBUSY;
	if (a->flags)
		return -EOPNOTSUPP;
	if (a->path_len < 16 || a->path_len > 4096 || a->reserved)
		return -EINVAL;
	at = next_wanted(t, a->file);
	if (!at) {
		t->asked_wanted = seen;
		return -ENOENT;
	}
	f = memtap_tasks_file(t, at);
	read_mapper(t, f, &m);
	a->file = at;
	a->pid = visible_pid(m.pid);
	a->start = m.start;
	a->end = m.end;
	a->cut = atomic64_read(&f->cut);
	*path = f->path;
	return 0;
}

u32 memtap_rows_nr_wanted(const struct memtap_session *s)
{
	const struct memtap_tasks *t = &s->tasks;
	u32 at = MEMTAP_FILES_FIRST, end = smp_load_acquire(&t->files_used), nr = 0;

	for (; t->files && at < end; at += memtap_tasks_file(t, at)->len)
		nr += is_wanted(memtap_tasks_file(t, at));
	return nr;
}
