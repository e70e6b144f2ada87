// SPDX-License-Identifier: GPL-2.0-only
/* For tests: verify cached and learned stacks by a full walk. */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "record/verify.h"

bool memtap_verifies;

static atomic64_t found[MEMTAP_NR_VERIFY], wrong[MEMTAP_NR_VERIFY];

void memtap_verified(enum memtap_verify what, bool same)
{
	atomic64_inc(same ? &found[what] : &wrong[what]);
}

static int param_set_verify(const char *val, const struct kernel_param *kp)
{
	bool on;
	int err, i;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	err = kstrtobool(val, &on);
	if (err)
		return err;
	for (i = 0; on && i < MEMTAP_NR_VERIFY; i++) {
		atomic64_set(&found[i], 0);
		atomic64_set(&wrong[i], 0);
	}
	WRITE_ONCE(memtap_verifies, on);
	return 0;
}

static int param_get_verify(char *buf, const struct kernel_param *kp)
{
	static const char *const names[MEMTAP_NR_VERIFY] = { "kernel", "user", "tail", "walk" };
	int i, len = scnprintf(buf, PAGE_SIZE, "%d", memtap_verifies);

	for (i = 0; i < MEMTAP_NR_VERIFY; i++)
		len += scnprintf(buf + len, PAGE_SIZE - len, " %s %lld wrong %lld", names[i],
				 (long long)atomic64_read(&found[i]),
				 (long long)atomic64_read(&wrong[i]));
	return len + scnprintf(buf + len, PAGE_SIZE - len, "\n");
}

static const struct kernel_param_ops verify_ops = {
	.set = param_set_verify,
	.get = param_get_verify,
};

module_param_cb(verify_stacks, &verify_ops, NULL, 0600);
MODULE_PARM_DESC(verify_stacks, "for tests: also walk cached stacks, and compare");
