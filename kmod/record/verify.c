// SPDX-License-Identifier: GPL-2.0-only
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
	return scnprintf(buf, PAGE_SIZE,
			 "%d kernel %lld wrong %lld user %lld wrong %lld tail %lld wrong %lld"
			 " walk %lld wrong %lld\n",
			 memtap_verifies,
			 (long long)atomic64_read(&found[MEMTAP_VERIFY_KERNEL]),
			 (long long)atomic64_read(&wrong[MEMTAP_VERIFY_KERNEL]),
			 (long long)atomic64_read(&found[MEMTAP_VERIFY_USER]),
			 (long long)atomic64_read(&wrong[MEMTAP_VERIFY_USER]),
			 (long long)atomic64_read(&found[MEMTAP_VERIFY_TAIL]),
			 (long long)atomic64_read(&wrong[MEMTAP_VERIFY_TAIL]),
			 (long long)atomic64_read(&found[MEMTAP_VERIFY_WALK]),
			 (long long)atomic64_read(&wrong[MEMTAP_VERIFY_WALK]));
}

static const struct kernel_param_ops verify_ops = {
	.set = param_set_verify,
	.get = param_get_verify,
};

module_param_cb(verify_stacks, &verify_ops, NULL, 0600);
MODULE_PARM_DESC(verify_stacks, "for tests: walk also the stacks that are found again, compare");
