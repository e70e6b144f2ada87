// SPDX-License-Identifier: GPL-2.0-only
/*
 * What makes the heap and the mappings grow: brk, mmap, mremap, munmap, mprotect, of
 * each ABI.  Probes on the return of the call's outermost function: the result is
 * known, and on kernels whose unwinder stops at a return trampoline nothing of
 * interest is above it.
 *
 * The value is by how much what may be written grew; for munmap(), how much of that is
 * gone.  A call that is not about such memory counts with what it mapped, and says what
 * that is: MEMTAP_KEY_READONLY or RESERVED.  Address space that is reserved first, and
 * made writable as it is needed, so counts as memory when it becomes some.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched.h>

#include "record/arch.h"
#include "live/live.h"
#include "hooks/hooks.h"
#include "hooks/mapping.h"
#include "record/record.h"

#include "compat/kernel_walk.h"

/* How a function gets the call's arguments. */
enum heap_abi {
	ABI_DIRECT,		/* as its own */
	ABI_REGS,		/* as the user's registers */
	ABI_REGS32,		/* the same, of a 32-bit call */
};

/* Candidates in order: the first that the kernel has is taken. */
struct heap_name {
	const char *symbol;
	enum heap_abi abi;
};

/* From entry to return. */
struct heap_call {
	unsigned long arg0, arg1, arg2, arg3;
	unsigned long brk;
	struct memtap_mapping_note *note;
};

struct heap_hook {
	struct memtap_hook hook;
	struct kretprobe probe;
	const struct heap_name *names;
	enum heap_abi abi;
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

static unsigned long heap_arg(const struct heap_hook *hh,
			      const struct pt_regs *regs, u32 n)
{
	const struct pt_regs *user;

	if (hh->abi == ABI_DIRECT)
		return memtap_karg(regs, n);
	user = (const struct pt_regs *)memtap_karg(regs, 0);
	return hh->abi == ABI_REGS ? memtap_sysarg(user, n) :
				     memtap_sysarg32(user, n);
}

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
	return hh->call && (hh->call != MEMTAP_CALL_MMAP || (c->arg3 & MAP_FIXED));
}

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct heap_call *c = (struct heap_call *)ri->data;
	struct heap_hook *hh;

	if (!rp || !current->mm)
		return 1;
	hh = container_of(rp, struct heap_hook, probe);
	c->arg0 = heap_arg(hh, regs, 0);
	c->arg1 = heap_arg(hh, regs, 1);
	c->arg2 = heap_arg(hh, regs, 2);
	c->arg3 = heap_arg(hh, regs, 3);
	c->brk = current->mm->brk;
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
	memtap_hit(&hh->hook.source, &hit);
	if (hh->map) {
		memset(&m, 0, sizeof(m));
		hh->map(&m, c, regs_return_value(regs));
		if (hh->call != MEMTAP_CALL_MMAP)
			m.came = ch.came.write;
		else if (c->arg2 & PROT_WRITE)
			m.came = m.end - m.start;
		m.gone = ch.gone.write;
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
	if (c->arg0 && ret != c->arg0)
		hit->key = MEMTAP_KEY_FAILED;
}

/* As the kernel rounds it: to huge pages where they are asked for. */
static unsigned long map_len(const struct heap_call *c)
{
	u32 shift = PAGE_SHIFT;

	if ((c->arg3 & (MAP_ANONYMOUS | MAP_HUGETLB)) == (MAP_ANONYMOUS | MAP_HUGETLB)) {
		shift = c->arg3 >> MAP_HUGE_SHIFT & MAP_HUGE_MASK;
		if (shift < PAGE_SHIFT || shift >= BITS_PER_LONG)
			shift = PMD_SHIFT;	/* the usual default */
	}
	return ALIGN(c->arg1, 1UL << shift);
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
	if ((c->arg3 & MAP_FIXED) && !ch->known)
		hit->key = MEMTAP_KEY_GROSS;
	hit->addr = ret;
	hit->value = -ch->gone.write;
	if (c->arg2 & PROT_WRITE) {
		hit->value += len;
	} else if (!ch->gone.write) {
		hit->value = len - ch->gone.read - ch->gone.none;
		hit->key |= c->arg2 & (PROT_READ | PROT_EXEC) ? MEMTAP_KEY_READONLY :
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
		hit->value = (s64)(PAGE_ALIGN(c->arg2) - PAGE_ALIGN(c->arg1));
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
	hit->addr = c->arg0;
	if (ch->known) {
		set_value(hit, false, &ch->gone);
	} else {
		hit->key = MEMTAP_KEY_GROSS;
		hit->value = PAGE_ALIGN(c->arg1);
	}
}

/* One that fails half way has changed the first half. */
static void fill_mprotect(struct memtap_hit *hit, const struct heap_call *c,
			  unsigned long ret, const struct memtap_mapping_change *ch)
{
	hit->addr = c->arg0;
	hit->value = ch->came.write;
	if (!ch->known)
		hit->key = MEMTAP_KEY_GROSS;
	if (IS_ERR_VALUE(ret))
		hit->key |= MEMTAP_KEY_FAILED;
}

static void map_mmap(struct memtap_map_call *m, const struct heap_call *c,
		     unsigned long ret)
{
	m->op = MEMTAP_MAP_ADD;
	m->start = ret;
	m->end = ret + map_len(c);
	m->anonymous = c->arg3 & MAP_ANONYMOUS;
}

static void map_mremap(struct memtap_map_call *m, const struct heap_call *c,
		       unsigned long ret)
{
	m->op = MEMTAP_MAP_MOVE;
	m->start = ret;
	m->end = ret + PAGE_ALIGN(c->arg2);
	m->from = c->arg0;
	m->from_end = c->arg0 + PAGE_ALIGN(c->arg1);
	m->keep = c->arg3 & 4;		/* MREMAP_DONTUNMAP, since v5.7 */
}

/* What the kernel will refuse changes nothing. */
static void map_munmap(struct memtap_map_call *m, const struct heap_call *c,
		       unsigned long ret)
{
	m->op = MEMTAP_MAP_REMOVE;
	m->start = c->arg0;
	m->end = c->arg0;
	if (!(c->arg0 & ~PAGE_MASK) && c->arg0 < TASK_SIZE &&
	    c->arg1 <= TASK_SIZE - c->arg0)
		m->end += PAGE_ALIGN(c->arg1);
}

static void map_mprotect(struct memtap_map_call *m, const struct heap_call *c,
			 unsigned long ret)
{
	m->op = MEMTAP_MAP_PROTECT;
	m->start = c->arg0;
	m->end = c->arg0 + PAGE_ALIGN(c->arg1);
}

static int try_name(struct heap_hook *hh, const struct heap_name *name)
{
	memset(&hh->probe, 0, sizeof(hh->probe));
	hh->probe.kp.symbol_name = name->symbol;
	hh->probe.entry_handler = on_entry;
	hh->probe.handler = on_return;
	hh->probe.data_size = sizeof(struct heap_call);
	/* these calls wait for the mmap lock, with many threads at once */
	hh->probe.maxactive = max_t(int, 512, 8 * num_possible_cpus());
	hh->abi = name->abi;
	return register_kretprobe(&hh->probe);
}

static int attach(struct memtap_hook *h)
{
	struct heap_hook *hh = container_of(h, struct heap_hook, hook);
	const struct heap_name *name;
	int err = -ENOENT;

	if (hh->stays)
		return -EBUSY;
	if (hh->call)
		memtap_mapping_get();
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
		memtap_mapping_put();
	strscpy(h->target, hh->names[0].symbol, sizeof(h->target));
	return err;
}

static void detach(struct memtap_hook *h)
{
	struct heap_hook *hh = container_of(h, struct heap_hook, hook);

	hh->stays = !memtap_kretprobe_unregister(&hh->probe);
	hh->missed += hh->probe.nmissed;
	hh->probe.nmissed = 0;
	if (hh->call)
		memtap_mapping_put();
}

static u64 missed(struct memtap_hook *h)
{
	struct heap_hook *hh = container_of(h, struct heap_hook, hook);

	return hh->missed + hh->probe.nmissed;
}

static const struct memtap_hook_ops heap_ops = {
	.attach = attach,
	.detach = detach,
	.missed = missed,
};

#define HEAP_HOOK(_var, _fill, _call, _map, ...)			\
static const struct heap_name _var##_names[] = { __VA_ARGS__, { NULL, 0 } }; \
static struct heap_hook _var = {					\
	.hook = { .ops = &heap_ops, .way = MEMTAP_WAY_KRETPROBE },	\
	.names = _var##_names,						\
	.fill = _fill,							\
	.call = _call,							\
	.map = _map,							\
}

/*
 * Before v4.17 one function served all ABIs (4.4 and 3.10 know it as SyS_ too);
 * since then each has its own, that takes the user's registers.
 */
#define NATIVE(call)							\
	{ "__x64_sys_" call, ABI_REGS }, { "__arm64_sys_" call, ABI_REGS }, \
	{ "sys_" call, ABI_DIRECT }, { "SyS_" call, ABI_DIRECT }

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

/* All ABIs' mmap calls meet in one function, whose arguments never changed. */
HEAP_HOOK(mmap_all, fill_mmap, MEMTAP_CALL_MMAP, map_mmap,
	  { "ksys_mmap_pgoff", ABI_DIRECT },
	  { "sys_mmap_pgoff", ABI_DIRECT },
	  { "SyS_mmap_pgoff", ABI_DIRECT });

#define HEAP_EVENT(_var, _name, _summary, _follows, _maps, _nr, ...)	\
const struct memtap_builtin _var = {					\
	.name = _name,							\
	.group = _name,							\
	.summary = _summary,						\
	.unit = MEMTAP_UNIT_BYTES,					\
	.maps = _maps,							\
	.follows = _follows,						\
	.nr_hooks = _nr,						\
	.hooks = { __VA_ARGS__ },					\
}

HEAP_EVENT(memtap_brk, "brk", "brk() calls, by growth of the heap", false, 0, 2,
	   &brk_native.hook, &brk_ia32.hook);
HEAP_EVENT(memtap_mmap, "mmap", "mmap() calls, by growth of what may be written", true,
	   MEMTAP_HEAP_ALLOC, 1, &mmap_all.hook);
HEAP_EVENT(memtap_mremap, "mremap", "mremap() calls, by growth of the mapping", true,
	   MEMTAP_HEAP_REALLOC, 2, &mremap_native.hook, &mremap_ia32.hook);
HEAP_EVENT(memtap_munmap, "munmap", "munmap() calls, by bytes unmapped", true,
	   MEMTAP_HEAP_FREE, 2, &munmap_native.hook, &munmap_ia32.hook);
HEAP_EVENT(memtap_mprotect, "mprotect", "mprotect() calls, by what they make writable", true,
	   0, 4, &mprotect_native.hook, &mprotect_ia32.hook, &pkey_native.hook,
	   &pkey_ia32.hook);
