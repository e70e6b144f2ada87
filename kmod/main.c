// SPDX-License-Identifier: GPL-2.0-only
/* Module init and exit: an ordered list of steps, undone in reverse order. */
#include <linux/module.h>

#include "session/chardev.h"
#include "recorder/debugfs.h"
#include "hooks/hooks.h"
#include "hooks/oom.h"
#include "record/guard.h"
#include "session/notices.h"
#include "session/session.h"
#include "core/version.h"
#include "recorder/watch.h"

#include "compat/kprobe.h"
#include "compat/uprobe.h"
#include "compat/user_regs.h"

#if !defined(CONFIG_KPROBES) || !defined(CONFIG_KRETPROBES) ||		\
	!defined(CONFIG_UPROBES) || !defined(CONFIG_PERF_EVENTS) ||	\
	!defined(CONFIG_TRACEPOINTS) || !defined(CONFIG_STACKTRACE)
#error "memtap needs a kernel with kprobes, uprobes, perf events, tracepoints and stack traces"
#endif

static int __init memtap_init(void)
{
	int err;

	memtap_user_regs_init();
	memtap_uprobe_init();
	err = memtap_guard_init();
	if (err)
		return err;
	err = memtap_hooks_init();
	if (err)
		goto err_guard;
	err = memtap_perf_init();
	if (err)
		goto err_hooks;
	err = memtap_oom_init();
	if (err)
		goto err_perf;
	memtap_notices_init();
	err = memtap_watch_init();
	if (err)
		goto err_notices;
	err = memtap_chardev_init();
	if (err)
		goto err_watch;
	err = memtap_gone_init();
	if (err)
		goto err_chardev;
	memtap_debugfs_init();
	memtap_panic_init();
	return 0;

err_chardev:
	memtap_chardev_exit();
err_watch:
	memtap_watch_exit();
err_notices:
	memtap_notices_exit();
	memtap_oom_exit();
err_perf:
	memtap_perf_exit();
err_hooks:
	memtap_hooks_exit();
err_guard:
	memtap_kprobe_names_free();
	memtap_guard_exit();
	return err;
}

/* The device's file operations hold the module: no session is left but ours. */
static void __exit memtap_exit(void)
{
	memtap_panic_exit();
	memtap_debugfs_exit();
	memtap_gone_exit();
	memtap_chardev_exit();
	memtap_watch_exit();
	memtap_notices_exit();
	memtap_oom_exit();
	memtap_perf_exit();
	memtap_death_hook_exit();
	memtap_hooks_exit();
	memtap_guard_exit();
	memtap_kprobe_names_free();
	/* listeners are freed by RCU callbacks of the kernel's, not ours */
}

module_init(memtap_init);
module_exit(memtap_exit);
MODULE_LICENSE("GPL v2");
MODULE_DESCRIPTION("Who uses memory, and why it grows");
MODULE_VERSION(MEMTAP_VERSION);
