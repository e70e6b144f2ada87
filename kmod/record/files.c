// SPDX-License-Identifier: GPL-2.0-only
/* Store each mapped file once, with its path. */
#include <linux/dcache.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "record/guard.h"
#include "record/recording.h"
#include "record/tasks.h"

#include "compat/shmem.h"

#define FILES_CHAIN	4096
/* An entry whose path is asked for later: with room for one of some 400 bytes. */
#define LATER_ENTRY	512
#define MM_TRIES	1000		/* of half a millisecond or more */

static void file_key(struct memtap_file_key *k, const struct inode *inode, u32 data)
{
	k->data = data;
	k->dev = inode->i_sb->s_dev;
	k->inode = inode->i_ino;
	k->gen = inode->i_generation;
}

static u32 *file_head(struct memtap_tasks *t, const struct memtap_file_key *k)
{
	return &t->file_heads[hash_64(k->inode ^ ((u64)k->dev << 40), 32) %
			      MEMTAP_TASK_HEADS];
}

static u32 find_file(struct memtap_tasks *t, const struct memtap_file_key *k)
{
	u32 at = smp_load_acquire(file_head(t, k)), steps = 0;
	const struct memtap_kept_file *f;

	while (at && steps++ < FILES_CHAIN) {
		f = memtap_tasks_file(t, at);
		if (f->inode == k->inode && f->inode_gen == k->gen && f->data == k->data &&
		    f->dev_major == MAJOR(k->dev) && f->dev_minor == MINOR(k->dev))
			return at;
		at = f->next;
	}
	return 0;
}

/*
 * Under the lock.  0 if there is no room, which is counted.  @file: NULL: its data;
 * @path: NULL: the work asks @file for it.
 */
static u32 add_file(struct memtap_tasks *t, const struct memtap_file_key *k,
		    struct file *file, const char *path)
{
	struct memtap_kept_file *f;
	u32 path_len = path ? strlen(path) : 0, at = t->files_used, *head;
	u32 len = path ? ALIGN(sizeof(*f) + path_len + 1, 8) : LATER_ENTRY;

	/* stacks cannot be named without the files that are mapped: these have half */
	if (k->data && len > t->files_size / 2 - min(t->data_used, t->files_size / 2))
		return 0;
	if (len > t->files_size - at) {
		t->files_lost += !k->data;
		return 0;
	}
	if (k->data)
		t->data_used += len;
	f = (struct memtap_kept_file *)(t->files + at);
	f->len = len;
	f->dev_major = MAJOR(k->dev);
	f->dev_minor = MINOR(k->dev);
	f->inode = k->inode;
	f->inode_gen = k->gen;
	f->data = k->data;
	f->path_len = path_len;
	f->nameless = !path;
	memcpy(f->path, path ? path : "", path_len);
	head = file_head(t, k);
	f->next = *head;
	smp_store_release(&t->files_used, at + len);
	smp_store_release(head, at);
	if (file && t->nr_unread < MEMTAP_MAX_UNREAD) {
		get_file(file);
		t->unread[t->nr_unread].file = file;
		t->unread[t->nr_unread].at = at;
		t->nr_unread++;
		if (!path)
			irq_work_queue(&t->kick);
	}
	return at;
}

/* Somebody maps it: who can show it to the tool, if it wants to make a table. */
static void note_mapper(struct memtap_tasks *t, u32 at, const struct memtap_mapper *m)
{
	struct memtap_kept_file *f = (struct memtap_kept_file *)(t->files + at);
	struct memtap_session *s = container_of(t, struct memtap_session, tasks);

	if (s->spaces && !f->mapped && !smp_load_acquire(&f->shared)) {
		WRITE_ONCE(t->nr_wanted, t->nr_wanted + 1);
		irq_work_queue(&t->kick);
	}
	f->mapper = *m;
	WRITE_ONCE(f->mapped, 1);
}

/* The end of a long path tells more than its beginning. */
static void put_path(struct memtap_kept_file *f, const char *path)
{
	static const char cut[] = "...";
	const u32 room = f->len - sizeof(*f) - 1, len = strlen(path);
	u32 at = 0;

	if (len > room) {
		at = sizeof(cut) - 1;
		memcpy(f->path, cut, at);
		path += len - (room - at);
	}
	memcpy(f->path + at, path, strlen(path));
	WRITE_ONCE(f->path_len, min(len, room));
}

void memtap_files_name(struct memtap_tasks *t, struct memtap_kept_file *f, const char *path)
{
	struct memtap_session *s = container_of(t, struct memtap_session, tasks);
	struct memtap_scratch *sc;
	unsigned long irqflags;

	put_path(f, path);
	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&t->lock);
	smp_store_release(&f->nameless, 0);
	/* now that it can be opened it is wanted */
	if (s->spaces)
		WRITE_ONCE(t->nr_wanted, t->nr_wanted + 1);
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
}

/*
 * NULL: not here.  d_path() asks for the root of current, which has none any more where
 * the end of a process drops the last reference to an address space.
 */
static char *path_of(const struct file *file, char *buf, u32 size)
{
	char *path;

	if (!buf || !current->fs)
		return NULL;
	path = d_path(&file->f_path, buf, size);
	return IS_ERR(path) ? "" : path;
}

u32 memtap_files_keep(struct memtap_tasks *t, struct file *file,
		      const struct inode *inode, const struct memtap_mapper *mapper,
		      char *buf, u32 size)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	struct memtap_file_key k;
	char *path = "";
	u32 at;

	file_key(&k, inode, 0);
	/* before the lock is taken, and only for a file that is new */
	if (!find_file(t, &k))
		path = path_of(file, buf, size);
	sc = memtap_enter(&irqflags);
	if (!sc)
		return 0;
	raw_spin_lock(&t->lock);
	at = find_file(t, &k);
	if (!at && (path || t->nr_unread < MEMTAP_MAX_UNREAD))
		at = add_file(t, &k, file, path);
	else if (!at && buf)
		t->files_lost++;
	if (at && mapper)
		note_mapper(t, at, mapper);
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
	return at;
}

#define DATA_PATH	256
#define DATA_DIRS	32

/*
 * What of a dentry is needed.  Of pseudo file systems (memfd) they are freed without a grace
 * period, and while a page is read back (swapoff) nobody holds the file: so all is read as if
 * it were not there any more.
 */
struct dentry_seen {
	const struct dentry *parent;
	const unsigned char *name;
	u32 len;
};

static bool see_dentry(const struct dentry *d, struct dentry_seen *to)
{
	return !copy_from_kernel_nofault(&to->parent, &d->d_parent, sizeof(to->parent)) &&
	       !copy_from_kernel_nofault(&to->name, &d->d_name.name, sizeof(to->name)) &&
	       !copy_from_kernel_nofault(&to->len, &d->d_name.len, sizeof(to->len));
}

/* In front of *at, with what was there before behind a slash.  False: no room. */
static bool put_name(char *buf, u32 *at, const struct dentry_seen *d)
{
	const u32 slash = *at < DATA_PATH - 1;

	if (d->len > *at || d->len + slash > *at)
		return false;
	if (slash)
		buf[--*at] = '/';
	*at -= d->len;
	/* it may be renamed just now, and then is another name, or a mixture */
	if (copy_from_kernel_nofault(buf + *at, d->name, d->len))
		memset(buf + *at, '?', d->len);
	return true;
}

/*
 * From the root of its file system; what has no directory (memfd) has only its name.
 * Under RCU, which directories are freed after.  No lock: on a real-time kernel the
 * inode's sleeps.  A dentry leaves its inode before it is freed: one that is still its
 * first when the name was read was there meanwhile.
 */
static const char *data_path(const struct inode *inode, char buf[DATA_PATH])
{
	const struct dentry *first = memtap_first_alias(inode), *d = first;
	struct dentry_seen seen;
	u32 at = DATA_PATH - 1, i;

	buf[at] = '\0';
	for (i = 0; d && i < DATA_DIRS && see_dentry(d, &seen); i++) {
		if (seen.parent == d && i)
			break;
		if (!put_name(buf, &at, &seen) || seen.parent == d)
			break;
		d = seen.parent;
	}
	smp_rmb();
	return buf + (memtap_first_alias(inode) == first ? at : DATA_PATH - 1);
}

u32 memtap_files_of_inode(struct memtap_tasks *t, const struct inode *inode)
{
	char buf[DATA_PATH];
	const char *path;
	struct memtap_file_key k;
	u32 at;

	file_key(&k, inode, 1);
	at = find_file(t, &k);
	if (likely(at))
		return at;
	rcu_read_lock();
	path = data_path(inode, buf);
	rcu_read_unlock();
	raw_spin_lock(&t->lock);
	at = find_file(t, &k);
	if (!at)
		at = add_file(t, &k, NULL, path);
	raw_spin_unlock(&t->lock);
	return at ? at : MEMTAP_FILE_LOST;
}

void memtap_file_key(struct memtap_file_key *k, const struct inode *inode)
{
	file_key(k, inode, 1);
}

u32 memtap_files_of_key(struct memtap_tasks *t, const struct memtap_file_key *k)
{
	const u32 at = k->inode ? find_file(t, k) : MEMTAP_FILE_NONE;

	return at || !k->inode ? at : MEMTAP_FILE_LOST;
}

static void mapper_of(struct memtap_mapper *m, pid_t pid,
		      const struct vm_area_struct *vma)
{
	m->pid = pid;
	m->start = vma->vm_start;
	m->end = vma->vm_end;
}

u32 memtap_files_of_vma(struct memtap_tasks *t, const struct vm_area_struct *vma,
			pid_t pid, char *buf, u32 size)
{
	struct memtap_mapper m;

	mapper_of(&m, pid, vma);
	return memtap_files_keep(t, vma->vm_file, file_inode(vma->vm_file), &m,
				 buf, size);
}

bool memtap_mm_lock(struct mm_struct *mm)
{
	u32 i;

	for (i = 0; i < MM_TRIES; i++) {
		if (mmap_read_trylock(mm))
			return true;
		usleep_range(500, 1000);
	}
	return false;
}
