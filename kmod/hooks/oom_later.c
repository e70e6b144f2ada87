// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of an OOM kill only files say: what a cgroup is charged for (memory.stat), and huge pages
 * that are set aside (/proc/meminfo).  The kernel exports neither, and flushes counts of cgroups
 * first, which may sleep: a work reads them when the record is made, mostly while the kernel
 * still prints its report.  How long after that is in the record.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "hooks/oom_int.h"

#include "compat/file.h"

/* Of memory.stat of v2 and v1 (with those below it), and of /proc/meminfo. */
struct line {
	const char *name;
	u32 to;
};

static const struct line v2_lines[] = {
	{ "anon", MEMTAP_CHARGED_ANON },
	{ "file", MEMTAP_CHARGED_FILE },
	{ "shmem", MEMTAP_CHARGED_SHMEM },
	{ "kernel", MEMTAP_CHARGED_KERNEL },
	{ "kernel_stack", MEMTAP_CHARGED_STACKS },
	{ "pagetables", MEMTAP_CHARGED_TABLES },
	{ "percpu", MEMTAP_CHARGED_PERCPU },
	{ "vmalloc", MEMTAP_CHARGED_VMALLOC },
	{ "slab_unreclaimable", MEMTAP_CHARGED_SLAB },
	{ "slab_reclaimable", MEMTAP_CHARGED_SLAB_RECLAIMABLE },
	{ "sock", MEMTAP_CHARGED_SOCKETS },
	{ "unevictable", MEMTAP_CHARGED_UNEVICTABLE },
};

static const struct line v1_lines[] = {
	{ "total_rss", MEMTAP_CHARGED_ANON },
	{ "total_cache", MEMTAP_CHARGED_FILE },
	{ "total_shmem", MEMTAP_CHARGED_SHMEM },
	{ "total_unevictable", MEMTAP_CHARGED_UNEVICTABLE },
};

enum { HUGE_TOTAL, HUGE_FREE, HUGE_SIZE, HUGE_ALL, PERCPU, NR_KEYS };

static const struct line info_lines[] = {
	{ "HugePages_Total:", HUGE_TOTAL },
	{ "HugePages_Free:", HUGE_FREE },
	{ "Hugepagesize:", HUGE_SIZE },
	{ "Hugetlb:", HUGE_ALL },
	{ "Percpu:", PERCPU },
};

/* The number behind the name; false: the line is of something else. */
static bool number_of(const char *text, const char *name, u64 *v)
{
	const size_t len = strlen(name);
	u64 n = 0;

	if (strncmp(text, name, len) || text[len] != ' ')
		return false;
	text += len + strspn(text + len, " ");
	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (u64)(*text - '0');
	*v = n;
	return true;
}

static void parse(const char *text, const struct line *lines, u32 nr, u64 *to)
{
	u32 i;

	while (text) {
		for (i = 0; i < nr; i++)
			if (number_of(text, lines[i].name, &to[lines[i].to]))
				break;
		text = strchr(text, '\n');
		if (text)
			text++;
	}
}

/* @inode: of the directory that it has to be in; 0: any.  0 or a negative errno. */
static int read_file(struct memtap_oom_later *l, const char *dir, const char *path,
		     const char *name, u64 inode)
{
	struct dentry *parent;
	struct file *file;
	loff_t pos = 0;
	size_t at = 0;
	ssize_t got;
	bool same;

	snprintf(l->path, sizeof(l->path), "%s%s%s", dir, path, name);
	file = filp_open(l->path, O_RDONLY | O_NONBLOCK, 0);
	if (IS_ERR(file))
		return (int)PTR_ERR(file);
	if (!memtap_is_kernels_text(file)) {
		fput(file);
		return -EMEDIUMTYPE;
	}
	parent = dget_parent(file->f_path.dentry);
	same = !inode || memtap_dentry_inode(parent)->i_ino == (unsigned long)inode;
	dput(parent);
	got = same ? 1 : -ENOENT;
	while (got > 0 && at < sizeof(l->text) - 1) {
		got = memtap_read_text(file, l->text + at, sizeof(l->text) - 1 - at, &pos);
		at += got > 0 ? (size_t)got : 0;
	}
	l->text[at] = 0;
	fput(file);
	return got < 0 ? (int)got : 0;
}

/* --- a cgroup -------------------------------------------------------------- */

static u64 single(struct memtap_oom_later *l, const char *name, u64 inode)
{
	u64 v;

	if (read_file(l, "/sys/fs/cgroup/memory", l->cgroup, name, inode) ||
	    kstrtoull(strim(l->text), 10, &v))
		return MEMTAP_OOM_UNKNOWN;
	return v;
}

static int read_charged(struct memtap_oom_later *l, u64 inode)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	int err = -ENOENT;
	u32 i;

	for (i = 0; i < MEMTAP_NR_CHARGED; i++)
		l->charged[i] = MEMTAP_OOM_UNKNOWN;
	if (!l->cgroup[0])
		return -ENAMETOOLONG;
	for (i = 0; i < ARRAY_SIZE(mounts); i++) {
		err = read_file(l, mounts[i], l->cgroup, "/memory.stat", inode);
		if (err == -ENOENT)
			continue;
		if (!err)
			parse(l->text, v2_lines, ARRAY_SIZE(v2_lines), l->charged);
		return err;
	}
	err = read_file(l, "/sys/fs/cgroup/memory", l->cgroup, "/memory.stat", inode);
	if (err)
		return err;
	parse(l->text, v1_lines, ARRAY_SIZE(v1_lines), l->charged);
	l->charged[MEMTAP_CHARGED_KERNEL] = single(l, "/memory.kmem.usage_in_bytes", inode);
	l->charged[MEMTAP_CHARGED_SOCKETS] = single(l, "/memory.kmem.tcp.usage_in_bytes", inode);
	return 0;
}

/* --- the machine ------------------------------------------------------------ */

static int read_info(struct memtap_oom_later *l)
{
	u64 v[NR_KEYS] = { 0 };
	int err = read_file(l, "/proc", "/meminfo", "", 0);

	if (err)
		return err;
	v[PERCPU] = MEMTAP_OOM_UNKNOWN;
	parse(l->text, info_lines, ARRAY_SIZE(info_lines), v);
	/* before v4.19 only those of the usual size are there */
	l->huge = (v[HUGE_ALL] ? v[HUGE_ALL] : v[HUGE_TOTAL] * v[HUGE_SIZE]) << 10;
	l->huge_free = (v[HUGE_FREE] * v[HUGE_SIZE]) << 10;
	l->percpu = v[PERCPU] == MEMTAP_OOM_UNKNOWN ? v[PERCPU] : v[PERCPU] << 10;
	return 0;
}

void memtap_oom_later(struct memtap_oom_later *l, u32 constraint, u64 inode)
{
	const bool memcg = constraint == MEMTAP_CONSTRAINT_MEMCG;
	/* a few pages of the reserves: this must not wait for reclaim, nor kill one more */
	const unsigned int flags = memalloc_noreclaim_save();

	l->memcg = memcg;
	l->errno_is = (u32)-(memcg ? read_charged(l, inode) : read_info(l));
	memalloc_noreclaim_restore(flags);
}

void memtap_oom_later_to(const struct memtap_oom_later *l, struct memtap_oom_record *r)
{
	r->later_errno = l->errno_is;
	if (l->errno_is)
		return;
	if (l->memcg) {
		memcpy(r->charged, l->charged, MEMTAP_NR_CHARGED * sizeof(r->charged[0]));
		r->nr_charged = MEMTAP_NR_CHARGED;
	} else {
		r->counters[MEMTAP_VM_HUGE] = l->huge;
		r->counters[MEMTAP_VM_HUGE_FREE] = l->huge_free;
		r->counters[MEMTAP_VM_PERCPU] = l->percpu;
	}
}
