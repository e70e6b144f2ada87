// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy the user stack of the task that ran out of memory, so that the tool can unwind it by call
 * frame information when the process is gone.  Nothing is allocated, no page is faulted in, and of
 * locks the mapping lock alone is tried.  Of the executable mappings those are kept that a word of
 * the copy points into: no other can be in the stack.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "hooks/oom_int.h"
#include "record/record.h"

#include "compat/memory.h"
#include "compat/task.h"
#include "compat/uprobe.h"
#include "compat/user_regs.h"
#include "compat/user_words.h"

#define RED_ZONE	128		/* bytes below the stack pointer that a leaf may use */

u32 memtap_oom_file(struct memtap_oom_file *files, u32 *nr, u32 room, struct file *file, char *buf)
{
	const struct inode *inode = file_inode(file);
	const u32 major = MAJOR(inode->i_sb->s_dev), minor = MINOR(inode->i_sb->s_dev);
	struct memtap_oom_file *f;
	const char *path;
	size_t len;
	u32 i;

	for (i = 0; i < *nr; i++) {
		f = &files[i];
		if (f->inode == inode->i_ino && f->dev_major == major && f->dev_minor == minor)
			return i + 1;
	}
	if (*nr == room)
		return 0;
	f = &files[(*nr)++];
	f->inode = inode->i_ino;
	f->dev_major = major;
	f->dev_minor = minor;
	path = buf ? d_path(&file->f_path, buf, MEMTAP_PATH_BUF) : NULL;
	if (!IS_ERR_OR_NULL(path)) {
		len = strlen(path);
		if (len >= sizeof(f->path))
			path += len - (sizeof(f->path) - 1);
		strscpy(f->path, path, sizeof(f->path));
	}
	return *nr;
}

static void copy_registers(struct memtap_oom_stack *c, const struct memtap_uregs *u)
{
	c->ip = u->ip;
	c->sp = u->sp;
	c->fp = u->fp;
	c->bx = u->bx;
	c->known = (u->known & MEMTAP_UREGS_FP ? MEMTAP_OOM_KNOWN_FP : 0) |
		   (u->known & MEMTAP_UREGS_BX ? MEMTAP_OOM_KNOWN_BX : 0);
	if (!(u->known & MEMTAP_UREGS_ALL))
		return;
	c->known |= MEMTAP_OOM_KNOWN_ALL;
	c->nr_regs = memtap_task_user_regs(current, c->regs, MEMTAP_OOM_REGS);
}

/* Page by page, up to @end: a page that is away does not hide the next one. */
static void copy_bytes(struct memtap_oom_stack *c, u64 end)
{
	u64 at = c->start;
	u32 page, len;

	for (page = 0; at < end; page++, at += len) {
		len = MEMTAP_OOM_COPY_PAGE - (at & (MEMTAP_OOM_COPY_PAGE - 1));
		len = min_t(u64, len, end - at);
		if (!memtap_user_bytes(c->bytes + (at - c->start), at, len)) {
			memset(c->bytes + (at - c->start), 0, len);
			c->missing |= 1U << page;
		}
	}
	c->len = end - c->start;
}

/* Return addresses that the kernel's trampoline replaced, of probes on returns. */
static void fix_returns(struct memtap_oom_stack *c)
{
	u64 word, real;
	u32 i;

	if (!memtap_uretprobes_pending() || (c->flags & MEMTAP_OOM_COPY_COMPAT))
		return;
	for (i = -c->start & 7; i + sizeof(word) <= c->len; i += sizeof(word)) {
		memcpy(&word, c->bytes + i, sizeof(word));
		real = memtap_uretprobe_fix(c->start + i, word);
		/* one that is not known leads nowhere */
		if (!real && word)
			real = 1;
		memcpy(c->bytes + i, &real, sizeof(real));
	}
}

/* The mapping that the stack pointer is in, up to its end; false: there is none. */
static bool copy_stack(struct memtap_oom_stack *c, struct mm_struct *mm)
{
	struct vm_area_struct *vma = find_vma(mm, c->sp);
	u64 end;

	if (!vma || vma->vm_start > c->sp)
		return false;
	c->start = max_t(u64, (c->sp & ~7ULL) - RED_ZONE, vma->vm_start);
	end = min_t(u64, c->start + MEMTAP_OOM_COPIED, vma->vm_end);
	if (end == vma->vm_end)
		c->flags |= MEMTAP_OOM_COPY_ALL;
	copy_bytes(c, end);
	fix_returns(c);
	return true;
}

/* The part of the address space around an address that was just looked at. */
struct looked {
	u64 start, end;
};

static void add_map(struct memtap_oom_stack *c, const struct vm_area_struct *vma, char *buf)
{
	unsigned long vdso;
	struct memtap_oom_map *m;

	if (c->nr_maps == MEMTAP_OOM_MAPS) {
		c->flags |= MEMTAP_OOM_COPY_MORE;
		return;
	}
	m = &c->maps[c->nr_maps++];
	m->start = vma->vm_start;
	m->end = vma->vm_end;
	m->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	if (vma->vm_file) {
		m->file = memtap_oom_file(c->files, &c->nr_files, MEMTAP_OOM_MAP_FILES,
					  vma->vm_file, buf);
		if (!m->file)
			c->flags |= MEMTAP_OOM_COPY_MORE;
	} else if (memtap_mm_vdso(vma->vm_mm, &vdso) && vdso == vma->vm_start) {
		m->file = MEMTAP_OOM_MAP_VDSO;
		m->offset = 0;
	}
}

/* Most words are no addresses, or in the mapping of the word before. */
static void look_at_word(struct memtap_oom_stack *c, struct mm_struct *mm, u64 word,
			 struct looked *last, char *buf)
{
	struct vm_area_struct *vma;
	u32 i;

	if (word < PAGE_SIZE || word >= TASK_SIZE ||
	    (word >= last->start && word < last->end))
		return;
	for (i = 0; i < c->nr_maps; i++)
		if (word >= c->maps[i].start && word < c->maps[i].end)
			return;
	vma = find_vma(mm, word);
	last->start = vma && vma->vm_start <= word ? vma->vm_start : word;
	last->end = !vma ? TASK_SIZE : vma->vm_start <= word ? vma->vm_end : vma->vm_start;
	if (vma && vma->vm_start <= word && (vma->vm_flags & VM_EXEC))
		add_map(c, vma, buf);
}

static void find_maps(struct memtap_oom_stack *c, struct mm_struct *mm)
{
	char *buf = memtap_plain_spinlocks() ? memtap_path_buf() : NULL;
	struct looked last = { 0, 0 };
	const u32 word = c->flags & MEMTAP_OOM_COPY_COMPAT ? 4 : 8;
	u64 v;
	u32 i;

	look_at_word(c, mm, c->ip, &last, buf);
	for (i = 0; i + word <= c->len; i += word) {
		v = 0;
		memcpy(&v, c->bytes + i, word);
		look_at_word(c, mm, v, &last, buf);
	}
}

void memtap_oom_copy_stack(struct memtap_oom_stack *c, u64 nr)
{
	struct mm_struct *mm = current->mm;
	struct memtap_uregs u;

	memset(c, 0, sizeof(*c));
	c->size = sizeof(*c);
	c->nr = nr;
	if (!mm || (current->flags & PF_KTHREAD) || !memtap_user_regs(&u, NULL))
		return;
	copy_registers(c, &u);
	if (memtap_task_compat(current))
		c->flags |= MEMTAP_OOM_COPY_COMPAT;
	if (!mmap_read_trylock(mm)) {
		c->flags |= MEMTAP_OOM_COPY_NO_MAPS;
		return;
	}
	if (copy_stack(c, mm))
		find_maps(c, mm);
	mmap_read_unlock(mm);
}
