// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count calls that change the heap and the mappings: brk, mmap, mremap, munmap, mprotect, of each
 * ABI.
 *
 * The probes are on the return of the call's outermost function: there the result is known, and on
 * kernels whose unwinder stops at a return trampoline no interesting frame is above it.
 *
 * The value is the growth of writable memory; for munmap(), the amount unmapped.  A call on other
 * memory counts with what it mapped, and a flag says so (MEMTAP_KEY_READONLY or RESERVED).  So
 * address space that is reserved first counts as memory when it is made writable.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "live/live.h"
#include "hooks/calls.h"
#include "hooks/mapping.h"
#include "record/record.h"
#include "record/touched.h"

#include "compat/kernel_walk.h"
#include "compat/kprobe.h"

/* From entry to return. */
struct heap_call {
	unsigned long arg[CALL_ARGS];
	unsigned long brk;
	struct memtap_mapping_note *note;
	char path[CALL_PATH];		/* mmap() only: the last member */
};

struct heap_hook {
	struct memtap_hook hook;
	struct kretprobe probe;
	const struct call_name *names;
	enum call_abi abi;
	u32 fd_arg;		/* 1 + the argument that is a file; 0: none */
	/* @ch: what it changed, where .call says that this is asked for */
	void (*fill)(struct memtap_hit *hit, const struct heap_call *c,
		     unsigned long ret, const struct memtap_mapping_change *ch);
	enum memtap_mapping_call call;
	/* what it does to mappings, before (@ret 0) and after; NULL: nothing */
	void (*map)(struct memtap_map_call *m, const struct heap_call *c,
		    unsigned long ret);
	bool stays;		/* it could not be taken away */
	u64 missed;		/* of earlier attachments */
};

/* mmap() without MAP_FIXED cannot take anything away: nothing to do before it. */
static void on_map_entry(struct heap_hook *hh, const struct heap_call *c)
{
	struct memtap_map_call m;

	if (!hh->map)
		return;
	memset(&m, 0, sizeof(m));
	hh->map(&m, c, 0);
	if (m.op == MEMTAP_MAP_MOVE || m.op == MEMTAP_MAP_REMOVE)
		memtap_heap_map_entry(&hh->hook.source, &m);
}

/* Where nothing can have been mapped before, the arguments say it all. */
static bool asks(const struct heap_hook *hh, const struct heap_call *c)
{
	return hh->call && (hh->call != MEMTAP_CALL_MMAP || (c->arg[3] & MAP_FIXED));
}

/* Now, since it may be closed when the call returns. */
static void name_file(const struct heap_hook *hh, struct heap_call *c)
{
	c->path[0] = '\0';
	if (memtap_source_has_steps(&hh->hook.source) && !(c->arg[3] & MAP_ANONYMOUS))
		memtap_call_path((int)c->arg[hh->fd_arg - 1], c->path);
}

/* What steps read. */
static noinline void tell(const struct heap_hook *hh, const struct heap_call *c,
			  unsigned long ret, struct memtap_hit *hit)
{
	struct memtap_call_record r;
	u32 i;

	/* steps may read all of it, also behind a path's end */
	memset(&r, 0, sizeof(r));
	for (i = 0; i < CALL_ARGS; i++)
		r.arg[i] = c->arg[i];
	r.ret = ret;
	hit->record = &r;
	hit->record_len = CALL_RECORD_SHORT;
	if (hh->fd_arg) {
		r.arg[5] <<= PAGE_SHIFT;
		strscpy(r.path, c->path, sizeof(r.path));
		hit->record_len = sizeof(r);
	}
	memtap_hit(&((struct heap_hook *)hh)->hook.source, hit);
}

static void report_move(const struct heap_hook *hh, const struct memtap_map_call *m)
{
	const u64 pages = min_t(u64, m->from_end - m->from, m->end - m->start) >> PAGE_SHIFT;

	memtap_touched_moved(&hh->hook.source, m->from >> PAGE_SHIFT, m->start >> PAGE_SHIFT,
			     m->from == m->start ? 0 : pages);
}

/* Did current cause it for nobody?  Preemption is off in a probe's handler. */
static bool is_filtered(struct heap_hook *hh)
{
	bool filtered;

	rcu_read_lock();
	filtered = memtap_hit_filtered(&hh->hook.source);
	rcu_read_unlock();
	return filtered;
}

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct heap_call *c = (struct heap_call *)ri->data;
	struct heap_hook *hh;
	u32 i;

	if (!rp || !current->mm)
		return 1;
	hh = container_of(rp, struct heap_hook, probe);
	/* (its return is not hooked then, which is most of the cost) */
	if (is_filtered(hh))
		return 1;
	for (i = 0; i < CALL_ARGS; i++)
		c->arg[i] = memtap_call_arg(hh->abi, regs, i);
	c->brk = current->mm->brk;
	if (hh->fd_arg)
		name_file(hh, c);
	c->note = asks(hh, c) ? memtap_mapping_begin(hh->call) : NULL;
	on_map_entry(hh, c);
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct memtap_hit hit = {
		.flags = MEMTAP_HIT_USER | MEMTAP_HIT_TASK | MEMTAP_HIT_SYSCALL | MEMTAP_HIT_VALUE,
	};
	struct heap_call *c = (struct heap_call *)ri->data;
	struct memtap_mapping_change ch;
	struct memtap_map_call m;
	struct heap_hook *hh;

	memtap_mapping_end(c->note, &ch);
	if (!rp)
		return 0;
	memtap_note_trampoline(regs);
	hh = container_of(rp, struct heap_hook, probe);
	hit.sym = (unsigned long)rp->kp.addr;
	hh->fill(&hit, c, regs_return_value(regs), &ch);
	if (unlikely(memtap_source_has_steps(&hh->hook.source)))
		tell(hh, c, regs_return_value(regs), &hit);
	else
		memtap_hit(&hh->hook.source, &hit);
	if (hh->map) {
		memset(&m, 0, sizeof(m));
		hh->map(&m, c, regs_return_value(regs));
		if (hh->call != MEMTAP_CALL_MMAP)
			m.came = ch.came.write;
		else if (c->arg[2] & PROT_WRITE)
			m.came = m.end - m.start;
		m.gone = ch.gone.write;
		if (m.op == MEMTAP_MAP_MOVE && !(hit.key & MEMTAP_KEY_FAILED))
			report_move(hh, &m);
		memtap_heap_map_return(&hh->hook.source, &m, hit.key & MEMTAP_KEY_FAILED);
	}
	return 0;
}

/*
 * brk() returns the break that holds afterwards; it failed if that is not the
 * one asked for.  The growth is signed: a shrinking heap counts as negative.
 */
static void fill_brk(struct memtap_hit *hit, const struct heap_call *c,
		     unsigned long ret, const struct memtap_mapping_change *ch)
{
	hit->addr = ret;
	hit->value = (s64)(ret - c->brk);
	if (c->arg[0] && ret != c->arg[0])
		hit->key = MEMTAP_KEY_FAILED;
}

/* As the kernel rounds it: to huge pages where they are asked for. */
static unsigned long map_len(const struct heap_call *c)
{
	u32 shift = PAGE_SHIFT;

	if ((c->arg[3] & (MAP_ANONYMOUS | MAP_HUGETLB)) == (MAP_ANONYMOUS | MAP_HUGETLB)) {
		shift = c->arg[3] >> MAP_HUGE_SHIFT & MAP_HUGE_MASK;
		if (shift < PAGE_SHIFT || shift >= BITS_PER_LONG)
			shift = PMD_SHIFT;	/* the usual default */
	}
	return ALIGN(c->arg[1], 1UL << shift);
}

/* What may be written, if it is about that; else what it is about. */
static void set_value(struct memtap_hit *hit, bool writes, const struct memtap_mapped *m)
{
	hit->value = m->write;
	if (writes || m->write)
		return;
	hit->value = m->read + m->none;
	if (m->read)
		hit->key |= MEMTAP_KEY_READONLY;
	else if (m->none)
		hit->key |= MEMTAP_KEY_RESERVED;
}

static void fill_mmap(struct memtap_hit *hit, const struct heap_call *c,
		      unsigned long ret, const struct memtap_mapping_change *ch)
{
	const s64 len = map_len(c);

	if (IS_ERR_VALUE(ret)) {
		hit->key = MEMTAP_KEY_FAILED;
		return;
	}
	if ((c->arg[3] & MAP_FIXED) && !ch->known)
		hit->key = MEMTAP_KEY_GROSS;
	hit->addr = ret;
	hit->value = -ch->gone.write;
	if (c->arg[2] & PROT_WRITE) {
		hit->value += len;
	} else if (!ch->gone.write) {
		hit->value = len - ch->gone.read - ch->gone.none;
		hit->key |= c->arg[2] & (PROT_READ | PROT_EXEC) ? MEMTAP_KEY_READONLY :
								MEMTAP_KEY_RESERVED;
	}
}

static void fill_mremap(struct memtap_hit *hit, const struct heap_call *c,
			unsigned long ret, const struct memtap_mapping_change *ch)
{
	struct memtap_mapped m;

	if (IS_ERR_VALUE(ret)) {
		hit->key = MEMTAP_KEY_FAILED;
		return;
	}
	hit->addr = ret;
	if (!ch->known) {
		hit->key = MEMTAP_KEY_GROSS;
		hit->value = (s64)(PAGE_ALIGN(c->arg[2]) - PAGE_ALIGN(c->arg[1]));
		return;
	}
	m.write = ch->came.write - ch->gone.write;
	m.read = ch->came.read - ch->gone.read;
	m.none = ch->came.none - ch->gone.none;
	set_value(hit, ch->came.write || ch->gone.write, &m);
}

static void fill_munmap(struct memtap_hit *hit, const struct heap_call *c,
			unsigned long ret, const struct memtap_mapping_change *ch)
{
	if (IS_ERR_VALUE(ret)) {
		hit->key = MEMTAP_KEY_FAILED;
		return;
	}
	hit->addr = c->arg[0];
	if (ch->known) {
		set_value(hit, false, &ch->gone);
	} else {
		hit->key = MEMTAP_KEY_GROSS;
		hit->value = PAGE_ALIGN(c->arg[1]);
	}
}

/* One that fails half way has changed the first half. */
static void fill_mprotect(struct memtap_hit *hit, const struct heap_call *c,
			  unsigned long ret, const struct memtap_mapping_change *ch)
{
	hit->addr = c->arg[0];
	hit->value = ch->came.write;
	if (!ch->known)
		hit->key = MEMTAP_KEY_GROSS;
	if (IS_ERR_VALUE(ret))
		hit->key |= MEMTAP_KEY_FAILED;
}

/* What is given up, or asked for, is not known: what it is about. */
static void fill_madvise(struct memtap_hit *hit, const struct heap_call *c,
			 unsigned long ret, const struct memtap_mapping_change *ch)
{
	hit->addr = c->arg[0];
	if (IS_ERR_VALUE(ret))
		hit->key = MEMTAP_KEY_FAILED;
	else
		hit->value = PAGE_ALIGN(c->arg[1]);
}

static void map_mmap(struct memtap_map_call *m, const struct heap_call *c,
		     unsigned long ret)
{
	m->op = MEMTAP_MAP_ADD;
	m->start = ret;
	m->end = ret + map_len(c);
	m->anonymous = c->arg[3] & MAP_ANONYMOUS;
}

static void map_mremap(struct memtap_map_call *m, const struct heap_call *c,
		       unsigned long ret)
{
	m->op = MEMTAP_MAP_MOVE;
	m->start = ret;
	m->end = ret + PAGE_ALIGN(c->arg[2]);
	m->from = c->arg[0];
	m->from_end = c->arg[0] + PAGE_ALIGN(c->arg[1]);
	m->keep = c->arg[3] & 4;		/* MREMAP_DONTUNMAP, since v5.7 */
}

/* What the kernel will refuse changes nothing. */
static void map_munmap(struct memtap_map_call *m, const struct heap_call *c,
		       unsigned long ret)
{
	m->op = MEMTAP_MAP_REMOVE;
	m->start = c->arg[0];
	m->end = c->arg[0];
	if (!(c->arg[0] & ~PAGE_MASK) && c->arg[0] < TASK_SIZE &&
	    c->arg[1] <= TASK_SIZE - c->arg[0])
		m->end += PAGE_ALIGN(c->arg[1]);
}

static void map_mprotect(struct memtap_map_call *m, const struct heap_call *c,
			 unsigned long ret)
{
	m->op = MEMTAP_MAP_PROTECT;
	m->start = c->arg[0];
	m->end = c->arg[0] + PAGE_ALIGN(c->arg[1]);
}

static struct heap_hook pkey_native;		/* since v4.9 */

static int try_name(struct heap_hook *hh, const struct call_name *name)
{
	memset(&hh->probe, 0, sizeof(hh->probe));
	hh->probe.kp.symbol_name = name->symbol;
	hh->probe.entry_handler = on_entry;
	hh->probe.handler = on_return;
	hh->probe.data_size = hh->fd_arg ? sizeof(struct heap_call) :
				offsetof(struct heap_call, path);
	/* these calls wait for the mmap lock, with many threads at once */
	hh->probe.maxactive = max_t(int, 512, 8 * num_possible_cpus());
	hh->abi = name->abi;
	return memtap_kretprobe_register(&hh->probe);
}

static int attach(struct memtap_hook *h)
{
	struct heap_hook *hh = container_of(h, struct heap_hook, hook);
	const struct call_name *name;
	int err = -ENOENT;

	if (hh->stays)
		return -EBUSY;
	if (hh->call)
		memtap_mapping_get(hh->call);
	for (name = hh->names; name->symbol; name++) {
		err = try_name(hh, name);
		if (!err) {
			strscpy(h->target, name->symbol, sizeof(h->target));
			return 0;
		}
		/* the others' names would only hide why */
		if (err == -ENOMEM)
			break;
	}
	if (hh->call)
		memtap_mapping_put(hh->call);
	strscpy(h->target, hh->names[0].symbol, sizeof(h->target));
	/* (a call that it does not have, nobody makes) */
	if (err == -ENOENT && (hh == &pkey_native || memtap_call_needs_none(hh->names)))
		return MEMTAP_NEEDS_NONE;
	return err;
}

static void detach(struct memtap_hook *h)
{
	struct heap_hook *hh = container_of(h, struct heap_hook, hook);

	hh->stays = !memtap_kretprobe_unregister(&hh->probe);
	hh->missed += memtap_kretprobe_missed(&hh->probe);
	hh->probe.nmissed = 0;
	hh->probe.kp.nmissed = 0;
	if (hh->call)
		memtap_mapping_put(hh->call);
}

static u64 missed(struct memtap_hook *h)
{
	struct heap_hook *hh = container_of(h, struct heap_hook, hook);

	return hh->missed + memtap_kretprobe_missed(&hh->probe);
}

static const struct memtap_hook_ops heap_ops = {
	.attach = attach,
	.detach = detach,
	.missed = missed,
};

#define HEAP_HOOK(_var, _fill, _call, _map, ...)			\
	HEAP_HOOK_FD(_var, _fill, _call, _map, 0, __VA_ARGS__)

#define HEAP_HOOK_FD(_var, _fill, _call, _map, _fd, ...)		\
static const struct call_name _var##_names[] = { __VA_ARGS__, { NULL, 0 } }; \
static struct heap_hook _var = {					\
	.hook = { .ops = &heap_ops, .way = MEMTAP_WAY_KRETPROBE },	\
	.names = _var##_names,						\
	.fill = _fill,							\
	.call = _call,							\
	.map = _map,							\
	.fd_arg = _fd,							\
}

HEAP_HOOK(brk_native, fill_brk, 0, NULL, NATIVE("brk"));
HEAP_HOOK(brk_ia32, fill_brk, 0, NULL, { "__ia32_sys_brk", ABI_REGS32 });
HEAP_HOOK(mremap_native, fill_mremap, MEMTAP_CALL_MREMAP, map_mremap,
	  NATIVE("mremap"));
HEAP_HOOK(mremap_ia32, fill_mremap, MEMTAP_CALL_MREMAP, map_mremap,
	  { "__ia32_sys_mremap", ABI_REGS32 });
HEAP_HOOK(munmap_native, fill_munmap, MEMTAP_CALL_MUNMAP, map_munmap,
	  NATIVE("munmap"));
HEAP_HOOK(munmap_ia32, fill_munmap, MEMTAP_CALL_MUNMAP, map_munmap,
	  { "__ia32_sys_munmap", ABI_REGS32 });
HEAP_HOOK(mprotect_native, fill_mprotect, MEMTAP_CALL_MPROTECT, map_mprotect,
	  NATIVE("mprotect"));
HEAP_HOOK(mprotect_ia32, fill_mprotect, MEMTAP_CALL_MPROTECT, map_mprotect,
	  { "__ia32_sys_mprotect", ABI_REGS32 });
/* since v4.9; no caller goes through the other one */
HEAP_HOOK(pkey_native, fill_mprotect, MEMTAP_CALL_MPROTECT, map_mprotect,
	  NATIVE("pkey_mprotect"));
HEAP_HOOK(pkey_ia32, fill_mprotect, MEMTAP_CALL_MPROTECT, map_mprotect,
	  { "__ia32_sys_pkey_mprotect", ABI_REGS32 });

HEAP_HOOK(madvise_native, fill_madvise, 0, NULL, NATIVE("madvise"));
HEAP_HOOK(madvise_ia32, fill_madvise, 0, NULL, { "__ia32_sys_madvise", ABI_REGS32 });

/* All ABIs' mmap calls meet in one function, whose arguments never changed. */
HEAP_HOOK_FD(mmap_all, fill_mmap, MEMTAP_CALL_MMAP, map_mmap, 5,
	     { "ksys_mmap_pgoff", ABI_DIRECT },
	     { "sys_mmap_pgoff", ABI_DIRECT },
	     { "SyS_mmap_pgoff", ABI_DIRECT });

static const struct memtap_builtin_field brk_fields[] = {
	CALL_FIELD("addr", 0, 8, MEMTAP_FIELD_ADDRESS),
	CALL_RET(S64, MEMTAP_FIELD_ADDRESS),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field mmap_fields[] = {
	CALL_FIELD("addr", 0, 8, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD("len", 1, 8, 0),
	CALL_FIELD("prot", 2, 4, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD("flags", 3, 4, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD("fd", 4, S32, 0),
	CALL_FIELD("offset", 5, 8, 0),
	CALL_RET(S64, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD_PATH("file"),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field mremap_fields[] = {
	CALL_FIELD("addr", 0, 8, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD("old_len", 1, 8, 0),
	CALL_FIELD("len", 2, 8, 0),
	CALL_FIELD("flags", 3, 4, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD("new_addr", 4, 8, MEMTAP_FIELD_ADDRESS),
	CALL_RET(S64, MEMTAP_FIELD_ADDRESS),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field munmap_fields[] = {
	CALL_FIELD("addr", 0, 8, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD("len", 1, 8, 0),
	CALL_RET(S64, 0),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field mprotect_fields[] = {
	CALL_FIELD("addr", 0, 8, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD("len", 1, 8, 0),
	CALL_FIELD("prot", 2, 4, MEMTAP_FIELD_ADDRESS),
	CALL_RET(S64, 0),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field madvise_fields[] = {
	CALL_FIELD("addr", 0, 8, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD("len", 1, 8, 0),
	CALL_FIELD("advice", 2, S32, 0),
	CALL_RET(S64, 0),
	{ NULL, 0, 0, 0, 0 },
};

#define HEAP_EVENT(_var, _name, _summary, _follows, _maps, _fields, _nr, ...) \
const struct memtap_builtin _var = {					\
	.name = _name,							\
	.group = _name,							\
	.summary = _summary,						\
	.unit = MEMTAP_UNIT_BYTES,					\
	.maps = _maps,							\
	.follows = _follows,						\
	.fields = _fields,						\
	.nr_hooks = _nr,						\
	.hooks = { __VA_ARGS__ },					\
}

HEAP_EVENT(memtap_brk, "brk", "brk() calls, by growth of the heap", false, 0,
	   brk_fields, 2, &brk_native.hook, &brk_ia32.hook);
HEAP_EVENT(memtap_mmap, "mmap", "mmap() calls, by growth of what may be written", true,
	   MEMTAP_HEAP_ALLOC, mmap_fields, 1, &mmap_all.hook);
HEAP_EVENT(memtap_mremap, "mremap", "mremap() calls, by growth of the mapping", true,
	   MEMTAP_HEAP_REALLOC, mremap_fields, 2, &mremap_native.hook, &mremap_ia32.hook);
HEAP_EVENT(memtap_munmap, "munmap", "munmap() calls, by bytes unmapped", true,
	   MEMTAP_HEAP_FREE, munmap_fields, 2, &munmap_native.hook, &munmap_ia32.hook);
HEAP_EVENT(memtap_mprotect, "mprotect", "mprotect() calls, by what they make writable", true,
	   0, mprotect_fields, 4, &mprotect_native.hook, &mprotect_ia32.hook, &pkey_native.hook,
	   &pkey_ia32.hook);
HEAP_EVENT(memtap_madvise, "madvise", "madvise() calls, by the bytes that they are about", false, 0,
	   madvise_fields, 2, &madvise_native.hook, &madvise_ia32.hook);
