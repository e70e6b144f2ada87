// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>

#include "record.h"
#include "session.h"
#include "tasks.h"

#include "compat/task.h"

/* After a task came up its program is often still being mapped: wait a bit. */
#define READ_MAPS_DELAY		msecs_to_jiffies(20)
#define TASKS_CHAIN		4096
#define FILES_FIRST		8

/* What is searched for: a thread, or the process itself (tid == pid). */
struct task_key {
	pid_t pid, tid;
	u32 exec;
	u64 start_ns;
};

u64 memtap_tasks_layout(u64 bytes, u32 *nr, u32 *nr_maps, u32 *files_size)
{
	/* a process has about 8 executable mappings, a file about 200 bytes */
	*nr = max_t(u64, div_u64(bytes, 4 * sizeof(struct memtap_task)), 64);
	*nr_maps = max_t(u64, div_u64(bytes, 4 * sizeof(struct memtap_map)), 128);
	*files_size = max_t(u64, bytes / 2, 16384) & ~7U;
	return *nr * sizeof(struct memtap_task) +
	       *nr_maps * sizeof(struct memtap_map) + *files_size;
}

static u32 mm_bucket(const struct mm_struct *mm)
{
	return hash_ptr((void *)mm, ilog2(MEMTAP_TASK_HEADS));
}

static u32 task_hash(const struct task_key *k)
{
	u64 h = k->start_ns ^ ((u64)(u32)k->tid << 32 | k->exec);

	return hash_64(h + (u32)k->pid, 32);
}

static bool same_task(const struct memtap_task *e, u32 hash,
		      const struct task_key *k)
{
	return e->hash == hash && e->tid == k->tid && e->pid == k->pid &&
	       e->exec == k->exec && e->start_ns == k->start_ns;
}

static u32 find_task(const struct memtap_tasks *t, u32 hash,
		     const struct task_key *k)
{
	u32 id = smp_load_acquire(&t->heads[hash % MEMTAP_TASK_HEADS]);
	u32 steps = 0;

	while (id && steps++ < TASKS_CHAIN) {
		if (same_task(&t->slots[id], hash, k))
			return id;
		id = t->slots[id].next;
	}
	return 0;
}

static void describe(struct memtap_task *e, struct task_struct *task)
{
	struct pid_namespace *ns = task_active_pid_ns(task);
	struct task_struct *parent;
	u64 ids[FILTER_CGROUP_DEPTH];

	memcpy(e->comm, task->comm, sizeof(e->comm));
	e->comm[sizeof(e->comm) - 1] = 0;
	e->uid = from_kuid(&init_user_ns, task_uid(task));
	if (ns) {
		e->ns_pid = task_tgid_nr_ns(task, ns);
		e->ns_tid = task_pid_nr_ns(task, ns);
	}
	if (task->flags & PF_KTHREAD)
		e->flags |= MEMTAP_TASK_KTHREAD;
	if (memtap_task_compat(task))
		e->flags |= MEMTAP_TASK_COMPAT;
	rcu_read_lock();
	parent = rcu_dereference(task->real_parent);
	e->ppid = parent ? task_tgid_nr(parent) : 0;
	if (memtap_task_cgroups(task, 0, ids, 1))
		e->cgroup1 = ids[0];
	if (memtap_task_cgroups(task, 1, ids, 1))
		e->cgroup2 = ids[0];
	rcu_read_unlock();
}

/* Pin the address space, so that its pointer stays its name; see mm_gone(). */
static void describe_mm(struct memtap_tasks *t, struct memtap_task *e, u32 id)
{
	u32 *head;

	if ((current->flags & PF_KTHREAD) || !current->mm)
		return;
	mmgrab(current->mm);
	e->mm = current->mm;
	head = &t->mm_heads[mm_bucket(e->mm)];
	e->next_mm = *head;
	WRITE_ONCE(*head, id);
	WRITE_ONCE(e->dirty, 1);
	WRITE_ONCE(t->wanted, 1);
	irq_work_queue(&t->kick);
}

/* Under the lock.  space: of the process, 0 if this is the process. */
static u32 add_task(struct memtap_tasks *t, u32 hash, const struct task_key *k,
		    struct task_struct *task, u32 space)
{
	u32 *head = &t->heads[hash % MEMTAP_TASK_HEADS];
	struct memtap_task *e;
	u32 id = t->used;

	if (id >= t->nr)
		return MEMTAP_TASK_LOST;
	t->used++;
	e = &t->slots[id];
	e->hash = hash;
	e->pid = k->pid;
	e->tid = k->tid;
	e->exec = k->exec;
	e->start_ns = k->start_ns;
	e->space = space ? space : id;
	describe(e, task);
	if (!space)
		describe_mm(t, e, id);
	e->next = *head;
	smp_store_release(head, id);
	return id;
}

static u32 get_task(struct memtap_tasks *t, const struct task_key *k,
		    struct task_struct *task, u32 space)
{
	u32 hash = task_hash(k);
	u32 id = find_task(t, hash, k);

	if (likely(id))
		return id;
	raw_spin_lock(&t->lock);
	id = find_task(t, hash, k);
	if (!id)
		id = add_task(t, hash, k, task, space);
	raw_spin_unlock(&t->lock);
	return id;
}

static u32 find_current(struct memtap_session *s, u32 exec)
{
	struct task_struct *leader = current->group_leader;
	struct task_key k;
	u32 space;

	k.pid = current->tgid;
	k.tid = k.pid;
	k.exec = exec;
	k.start_ns = memtap_task_start_ns(leader);
	space = get_task(&s->tasks, &k, leader, 0);
	if (!(s->flags & MEMTAP_CFG_THREADS) || space == MEMTAP_TASK_LOST ||
	    leader == current)
		return space;
	k.tid = current->pid;
	k.start_ns = memtap_task_start_ns(current);
	return get_task(&s->tasks, &k, current, space);
}

u32 memtap_tasks_current(struct memtap_session *s, struct memtap_session_cpu *c,
			 u32 *space)
{
	u32 exec = memtap_task_exec_id(current);
	u64 start = memtap_task_start_ns(current);

	if (unlikely(!current->pid)) {
		*space = 0;
		return MEMTAP_TASK_NONE;
	}
	if (c->task != current || c->task_start != start ||
	    c->task_exec != exec) {
		c->task_id = find_current(s, exec);
		c->task = current;
		c->task_start = start;
		c->task_exec = exec;
	}
	*space = c->task_id == MEMTAP_TASK_LOST ? 0 :
		 s->tasks.slots[c->task_id].space;
	return c->task_id;
}

void memtap_tasks_dirty(struct memtap_session *s, u32 space)
{
	struct memtap_tasks *t = &s->tasks;

	if (READ_ONCE(t->slots[space].dirty))
		return;
	WRITE_ONCE(t->slots[space].dirty, 1);
	WRITE_ONCE(t->wanted, 1);
	irq_work_queue(&t->kick);
}

/* --- files ------------------------------------------------------------- */

/* What tells files apart; the generation because inodes are used again. */
struct file_key {
	dev_t dev;
	u64 inode, gen;
};

static void file_key(struct file_key *k, struct file *file)
{
	struct inode *inode = file_inode(file);

	k->dev = inode->i_sb->s_dev;
	k->inode = inode->i_ino;
	k->gen = inode->i_generation;
}

static u32 *file_head(struct memtap_tasks *t, const struct file_key *k)
{
	return &t->file_heads[hash_64(k->inode ^ ((u64)k->dev << 40), 32) %
			      MEMTAP_TASK_HEADS];
}

static u32 find_file(struct memtap_tasks *t, const struct file_key *k)
{
	u32 at = smp_load_acquire(file_head(t, k)), steps = 0;
	const struct memtap_kept_file *f;

	while (at && steps++ < TASKS_CHAIN) {
		f = memtap_tasks_file(t, at);
		if (f->inode == k->inode && f->inode_gen == k->gen &&
		    f->dev_major == MAJOR(k->dev) && f->dev_minor == MINOR(k->dev))
			return at;
		at = f->next;
	}
	return 0;
}

/* Under the lock.  0 if there is no room, which is counted. */
static u32 add_file(struct memtap_tasks *t, const struct file_key *k,
		    struct file *file, const char *path)
{
	struct memtap_kept_file *f;
	u32 path_len = strlen(path), at = t->files_used, *head;
	u32 len = ALIGN(sizeof(*f) + path_len + 1, 8);

	if (len > t->files_size - at) {
		t->maps_lost++;
		return 0;
	}
	f = (struct memtap_kept_file *)(t->files + at);
	f->len = len;
	f->dev_major = MAJOR(k->dev);
	f->dev_minor = MINOR(k->dev);
	f->inode = k->inode;
	f->inode_gen = k->gen;
	f->path_len = path_len;
	memcpy(f->path, path, path_len);
	head = file_head(t, k);
	f->next = *head;
	smp_store_release(&t->files_used, at + len);
	smp_store_release(head, at);
	if (t->nr_unread < MEMTAP_MAX_UNREAD) {
		get_file(file);
		t->unread[t->nr_unread].file = file;
		t->unread[t->nr_unread].at = at;
		t->nr_unread++;
		WRITE_ONCE(t->wanted, 1);
	}
	return at;
}

/* --- mappings ---------------------------------------------------------- */

const struct memtap_map *memtap_tasks_map(const struct memtap_tasks *t,
					  u32 space, u64 addr)
{
	u32 i, steps = 0;

	if (space < MEMTAP_TASK_FIRST || space >= t->nr)
		return NULL;
	i = smp_load_acquire(&t->slots[space].maps);
	while (i && steps++ < TASKS_CHAIN) {
		if (addr >= t->maps[i].start && addr < t->maps[i].end)
			return &t->maps[i];
		i = t->maps[i].next;
	}
	return NULL;
}

static bool has_map(struct memtap_tasks *t, u32 space,
		    const struct memtap_map *m)
{
	const struct memtap_map *e;
	u32 i = t->slots[space].maps, steps = 0;

	while (i && steps++ < TASKS_CHAIN) {
		e = &t->maps[i];
		if (e->start == m->start && e->end == m->end &&
		    e->offset == m->offset && e->file == m->file)
			return true;
		i = e->next;
	}
	return false;
}

/* Under the lock. */
static void add_map(struct memtap_tasks *t, u32 space, struct memtap_map *m)
{
	u32 i = t->used_maps;

	if (has_map(t, space, m))
		return;
	if (i >= t->nr_maps) {
		t->maps_lost++;
		return;
	}
	m->next = t->slots[space].maps;
	t->maps[i] = *m;
	smp_store_release(&t->used_maps, i + 1);
	smp_store_release(&t->slots[space].maps, i);
}

/*
 * Keep one executable mapping.  The path is made before the lock is taken, and
 * only for a file that is new; anonymous code (a JIT's) is kept as a range.
 */
static void keep_vma(struct memtap_tasks *t, u32 space,
		     struct vm_area_struct *vma, char *buf, u32 size)
{
	struct file *file = vma->vm_file;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	struct memtap_map m;
	struct file_key k;
	char *path = NULL;
	unsigned long vdso;

	memset(&m, 0, sizeof(m));
	m.start = vma->vm_start;
	m.end = vma->vm_end;
	if (file) {
		m.offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
		file_key(&k, file);
		if (!find_file(t, &k)) {
			path = d_path(&file->f_path, buf, size);
			if (IS_ERR(path))
				path = "";
		}
	} else if (memtap_mm_vdso(vma->vm_mm, &vdso) && vdso >= m.start &&
		   vdso < m.end) {
		m.flags = MEMTAP_MAP_VDSO;
	}

	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&t->lock);
	if (file) {
		m.file = find_file(t, &k);
		if (!m.file)
			m.file = add_file(t, &k, file, path ? path : "");
	}
	add_map(t, space, &m);
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
}

static void keep_vmas(struct memtap_tasks *t, u32 space, struct mm_struct *mm,
		      char *buf, u32 size)
{
	struct vm_area_struct *vma;
	unsigned long addr = 0;

	while ((vma = find_vma(mm, addr)) != NULL && vma->vm_end > addr) {
		if (vma->vm_flags & VM_EXEC)
			keep_vma(t, space, vma, buf, size);
		addr = vma->vm_end;
	}
}

/* An address space goes: last chance, and nobody else can change it any more. */
static void mm_gone(struct memtap_tasks *t, u32 id, struct mm_struct *mm,
		    char *buf, u32 size)
{
	struct memtap_scratch *sc;
	struct memtap_task *e;
	unsigned long irqflags;
	bool read = buf && mmap_read_trylock(mm);

	if (read) {
		keep_vmas(t, id, mm, buf, size);
		mmap_read_unlock(mm);
	}
	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&t->lock);
	e = &t->slots[id];
	e->flags |= MEMTAP_TASK_EXITED;
	if (e->maps && (e->flags & MEMTAP_TASK_NOMAPS)) {
		/* the work was too late for it, we are not */
		e->flags &= ~MEMTAP_TASK_NOMAPS;
		t->spaces_missed--;
	} else if (!read || !e->maps) {
		t->spaces_missed += !(e->flags & MEMTAP_TASK_NOMAPS);
		e->flags |= MEMTAP_TASK_NOMAPS;
	}
	WRITE_ONCE(t->slots[id].mm, NULL);
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
	mmdrop(mm);
}

void memtap_tasks_mm_gone(struct memtap_session *s, struct mm_struct *mm,
			  char *buf, u32 size)
{
	struct memtap_tasks *t = &s->tasks;
	u32 id = READ_ONCE(t->mm_heads[mm_bucket(mm)]), next, steps = 0;

	while (id && steps++ < TASKS_CHAIN) {
		next = t->slots[id].next_mm;
		if (READ_ONCE(t->slots[id].mm) == mm)
			mm_gone(t, id, mm, buf, size);
		id = next;
	}
}

/* --- the work: where sleeping is allowed -------------------------------- */

/* The GNU build-id note, from the first page of an ELF file. */
static u32 parse_build_id(const u8 *p, u32 len, u8 *id)
{
	u32 phoff, phnum, phsize, i, off, size, n, d;
	bool is64;

	if (len < 64 || memcmp(p, "\177ELF", 4))
		return 0;
	is64 = p[4] == 2;
	phoff = is64 ? *(const u64 *)(p + 32) : *(const u32 *)(p + 28);
	phsize = *(const u16 *)(p + (is64 ? 54 : 42));
	phnum = *(const u16 *)(p + (is64 ? 56 : 44));
	for (i = 0; i < phnum && i < 64; i++, phoff += phsize) {
		if (phoff > len - 56 || *(const u32 *)(p + phoff) != 4)
			continue;
		off = is64 ? *(const u64 *)(p + phoff + 8) :
			     *(const u32 *)(p + phoff + 4);
		size = is64 ? *(const u64 *)(p + phoff + 32) :
			      *(const u32 *)(p + phoff + 16);
		while (size >= 16 && off < len && len - off >= 16) {
			n = *(const u32 *)(p + off);
			d = *(const u32 *)(p + off + 4);
			if (n > 64 || d > 1024)
				break;
			if (*(const u32 *)(p + off + 8) == 3 && n == 4 &&
			    !memcmp(p + off + 12, "GNU", 4) && d <= 24 &&
			    off + 16 + d <= len) {
				memcpy(id, p + off + 16, d);
				return d;
			}
			n = 12 + ALIGN(n, 4) + ALIGN(d, 4);
			if (n > size)
				break;
			size -= n;
			off += n;
		}
	}
	return 0;
}

static void read_build_id(struct memtap_tasks *t, struct memtap_unread *u,
			  u8 *page)
{
	struct memtap_kept_file *f = (void *)(t->files + u->at);
	loff_t pos = 0;
	ssize_t got;
	u32 len;

	got = kernel_read(u->file, page, PAGE_SIZE, &pos);
	if (got > 0) {
		len = parse_build_id(page, got, f->build_id);
		smp_store_release(&f->build_id_len, len);
	}
	fput(u->file);
}

static bool take_unread(struct memtap_tasks *t, struct memtap_unread *u)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	bool got;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return false;
	raw_spin_lock(&t->lock);
	got = t->nr_unread > 0;
	if (got)
		*u = t->unread[--t->nr_unread];
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
	return got;
}

static struct mm_struct *take_mm(struct memtap_tasks *t, u32 id)
{
	struct mm_struct *mm = NULL;
	struct memtap_scratch *sc;
	struct memtap_task *e;
	unsigned long irqflags;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return NULL;
	raw_spin_lock(&t->lock);
	e = &t->slots[id];
	WRITE_ONCE(e->dirty, 0);
	if (e->mm && mmget_not_zero(e->mm)) {
		mm = e->mm;
	} else if (e->mm && !e->maps && !(e->flags & MEMTAP_TASK_NOMAPS)) {
		/* it ends right now: the hook on its end may be missing */
		e->flags |= MEMTAP_TASK_NOMAPS;
		t->spaces_missed++;
	}
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
	return mm;
}

static void read_maps(struct memtap_tasks *t, u32 id, char *buf)
{
	struct mm_struct *mm = take_mm(t, id);

	if (!mm)
		return;
	mmap_read_lock(mm);
	keep_vmas(t, id, mm, buf, PAGE_SIZE);
	mmap_read_unlock(mm);
	mmput(mm);
}

static void tasks_work(struct work_struct *work)
{
	struct memtap_tasks *t = container_of(work, struct memtap_tasks,
					      work.work);
	struct memtap_unread u;
	char *page;
	u32 id;

	page = (char *)__get_free_page(GFP_KERNEL);
	if (!page)
		return;
	WRITE_ONCE(t->wanted, 0);
	for (id = MEMTAP_TASK_FIRST; id < READ_ONCE(t->used); id++) {
		if (READ_ONCE(t->slots[id].dirty))
			read_maps(t, id, page);
		cond_resched();
	}
	while (take_unread(t, &u))
		read_build_id(t, &u, page);
	free_page((unsigned long)page);
}

/* The hot path may hold any lock: from there only an irq_work can be queued. */
static void tasks_kick(struct irq_work *kick)
{
	struct memtap_tasks *t = container_of(kick, struct memtap_tasks, kick);

	schedule_delayed_work(&t->work, READ_MAPS_DELAY);
}

/* --- life -------------------------------------------------------------- */

int memtap_tasks_init(struct memtap_session *s, u64 bytes)
{
	struct memtap_tasks *t = &s->tasks;

	raw_spin_lock_init(&t->lock);
	init_irq_work(&t->kick, tasks_kick);
	INIT_DELAYED_WORK(&t->work, tasks_work);
	memtap_tasks_layout(bytes, &t->nr, &t->nr_maps, &t->files_size);
	t->used = MEMTAP_TASK_FIRST;
	t->used_maps = 1;
	t->files_used = FILES_FIRST;
	t->slots = vzalloc(t->nr * sizeof(*t->slots));
	t->maps = vzalloc(t->nr_maps * sizeof(*t->maps));
	t->files = vzalloc(t->files_size);
	if (t->slots && t->maps && t->files)
		return 0;
	memtap_tasks_free(s);
	return -ENOMEM;
}

/* After the grace period of STOP: the hot path queues nothing any more. */
void memtap_tasks_stop(struct memtap_session *s)
{
	struct memtap_tasks *t = &s->tasks;

	if (!t->slots)
		return;
	irq_work_sync(&t->kick);
	cancel_delayed_work_sync(&t->work);
	tasks_work(&t->work.work);
}

void memtap_tasks_free(struct memtap_session *s)
{
	struct memtap_tasks *t = &s->tasks;
	u32 id;

	while (t->nr_unread)	/* the work had no memory */
		fput(t->unread[--t->nr_unread].file);
	for (id = MEMTAP_TASK_FIRST; t->slots && id < t->used; id++)
		if (t->slots[id].mm)
			mmdrop(t->slots[id].mm);
	vfree(t->slots);
	vfree(t->maps);
	vfree(t->files);
	t->slots = NULL;
	t->maps = NULL;
	t->files = NULL;
}
