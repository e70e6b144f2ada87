// SPDX-License-Identifier: GPL-2.0-only
/* Register kprobes and kretprobes with the same errors on all kernels. */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/kernel_walk.h"
#include "compat/kprobe.h"
#include "compat/valloc.h"

/* --- what names resolved to --------------------------------------------------------- */

/*
 * Before v6.2 the kernel compares all its symbols to find one by its name, for each probe, and
 * twice for one of a return.  A function of the kernel itself stays where it is until the next
 * boot, so its address is kept; a module's is not.  That there is no function of a name is
 * true until a module comes.
 */
struct known_name {
	struct hlist_node node;
	unsigned long addr;		/* 0: there is none, while */
	u32 code;			/* this is memtap_kernel_code */
	char name[];
};

#define MOST_NAMES	512

static DEFINE_HASHTABLE(known_names, 6);
static u32 nr_known_names;
static DEFINE_MUTEX(known_names_lock);

static u32 hash_of(const char *name)
{
	return jhash(name, strlen(name), 0);
}

static struct known_name *find_known(const char *name)
{
	struct known_name *k;

	hash_for_each_possible(known_names, k, node, hash_of(name))
		if (!strcmp(k->name, name))
			return k;
	return NULL;
}

void memtap_kprobe_names_free(void)
{
	struct hlist_node *next;
	struct known_name *k;
	int i;

	mutex_lock(&known_names_lock);
	hash_for_each_safe(known_names, i, next, k, node) {
		hash_del(&k->node);
		kfree(k);
	}
	nr_known_names = 0;
	mutex_unlock(&known_names_lock);
}

/* 0: it is not known whether there is one, or @addr is where; -ENOENT: there is none. */
static int look_up(const char *name, kprobe_opcode_t **addr)
{
	const struct known_name *k;
	int err = 0;

	mutex_lock(&known_names_lock);
	k = find_known(name);
	if (k && k->addr)
		*addr = (kprobe_opcode_t *)k->addr;
	else if (k && k->code == READ_ONCE(memtap_kernel_code))
		err = -ENOENT;
	mutex_unlock(&known_names_lock);
	return err;
}

/* No module's; false where modules are among the kernel's own code. */
static bool stays(unsigned long addr)
{
#ifdef CONFIG_X86_64
	return addr < MODULES_VADDR;
#else
	return false;
#endif
}

/* @code: memtap_kernel_code before the name was looked up; @addr: NULL: there was none. */
static void keep(const char *name, const kprobe_opcode_t *addr, u32 code)
{
	const size_t len = strlen(name) + 1;
	struct known_name *k;

	if (addr && !stays((unsigned long)addr))
		return;
	mutex_lock(&known_names_lock);
	k = find_known(name);
	if (!k && nr_known_names < MOST_NAMES) {
		k = kzalloc(sizeof(*k) + len, MEMTAP_GFP);
		if (k) {
			memcpy(k->name, name, len);
			hash_add(known_names, &k->node, hash_of(name));
			nr_known_names++;
		}
	}
	if (k) {
		k->addr = (unsigned long)addr;
		k->code = code;
	}
	mutex_unlock(&known_names_lock);
}

/* @what: a kprobe, or the kretprobe that @kp is in. */
static int register_by_name(struct kprobe *kp, int (*enter)(void *what), void *what)
{
	const char *name = kp->offset || kp->addr ? NULL : kp->symbol_name;
	const u32 code = READ_ONCE(memtap_kernel_code);
	int err;

	if (!name)
		return enter(what);
	err = look_up(name, &kp->addr);
	if (err)
		return err;
	if (kp->addr) {
		kp->symbol_name = NULL;
		err = enter(what);
		kp->symbol_name = name;
		return err;
	}
	err = enter(what);
	if (!err)
		keep(name, kp->addr, code);
	else if (err == -ENOENT)
		keep(name, NULL, code);
	return err;
}

/* --- probes ----------------------------------------------------------------------- */

static int enter_kprobe(void *what)
{
	return register_kprobe(what);
}

int memtap_kprobe_register(struct kprobe *kp)
{
	memtap_kprobe_forgive(kp);
	return register_by_name(kp, enter_kprobe, kp);
}

int memtap_kprobe_place(const char *name, unsigned long *at)
{
	struct kprobe kp = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };
	int err = look_up(name, &kp.addr);

	if (!err && !kp.addr) {
		err = register_by_name(&kp, enter_kprobe, &kp);
		if (!err)
			unregister_kprobe(&kp);
	}
	*at = (unsigned long)kp.addr;
	return err;
}

/*
 * From v4.12 to v5.10 the kernel says -EINVAL of a function that there is not, as of one
 * whose beginning it does not know.  A probe of its beginning tells them apart.
 */
static int enter_kretprobe(void *what)
{
	struct kretprobe *rp = what;
	int err = register_kretprobe(rp);
	unsigned long at;

	if (err == -EINVAL && rp->kp.symbol_name &&
	    memtap_kprobe_place(rp->kp.symbol_name, &at) == -ENOENT)
		err = -ENOENT;
	return err;
}

int memtap_kretprobe_register(struct kretprobe *rp)
{
	int err = register_by_name(&rp->kp, enter_kretprobe, rp);

	/* (the kernel clears what is set before) */
	if (!err)
		memtap_kprobe_forgive(&rp->kp);
	return err;
}

#ifdef HAVE_KPROBE_FAULT_HANDLER		/* before v5.14 */
/*
 * It was counted for all probes of this place, which are in one ring with the one that
 * stands for them.  One that is being taken away is no longer in the ring, but still leads
 * into it.
 */
int memtap_kprobe_faulted(struct kprobe *kp, struct pt_regs *regs, int trap)
{
	struct kprobe *first = list_entry_rcu(kp->list.next, struct kprobe, list), *at = first;

	kp->nmissed--;
	while (at != kp) {
		if (at->fault_handler == memtap_kprobe_faulted)
			at->nmissed--;
		at = list_entry_rcu(at->list.next, struct kprobe, list);
		if (at == first)
			break;
	}
	return 0;
}
#endif
