// SPDX-License-Identifier: GPL-2.0-only
/* Hook the entry of kernel functions through ftrace. */
#include <linux/errno.h>
#include <linux/string.h>

#include "compat/entry.h"
#include "compat/kprobe.h"
#include "compat/removal.h"

#if MEMTAP_ENTRIES
#ifdef HAVE_FTRACE_FREGS			/* since v5.11 */
static void notrace on_entry(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			     struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
#else
static void notrace on_entry(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			     struct pt_regs *regs)
{
#endif
	const struct memtap_entry *e = container_of(ops, struct memtap_entry, ops);

	if (regs)
		e->fn(regs);
}

int memtap_entry_register(struct memtap_entry *e, const char *name)
{
	unsigned long ip;
	/* where probes of its beginning go, which is where ftrace's call is */
	int err = memtap_kprobe_place(name, &ip);

	if (err)
		return err;
	memset(&e->ops, 0, sizeof(e->ops));
	e->ops.func = on_entry;
	e->ops.flags = FTRACE_OPS_FL_SAVE_REGS;
#ifdef HAVE_FTRACE_PERMANENT			/* since v5.5: else a sysctl turns it off */
	e->ops.flags |= FTRACE_OPS_FL_PERMANENT;
#endif
	/* without a filter it would be called for all functions */
	err = ftrace_set_filter_ip(&e->ops, ip, 0, 1);
	if (err)
		return err;
	err = register_ftrace_function(&e->ops);
	if (err) {
		ftrace_set_filter_ip(&e->ops, ip, 1, 0);
		return err;
	}
	e->ip = ip;
	return 0;
}

#define TRIES	10

static bool try_unregister(void *what)
{
	struct memtap_entry *e = what;

	return !unregister_ftrace_function(&e->ops);
}

bool memtap_entry_unregister(struct memtap_entry *e, const char *name)
{
	if (!e->ip)
		return true;
	if (!memtap_unregister_retry(try_unregister, e, TRIES, name))
		return false;
	/* the last one: what the filter took is given back */
	ftrace_set_filter_ip(&e->ops, e->ip, 1, 0);
	e->ip = 0;
	return true;
}
#endif
