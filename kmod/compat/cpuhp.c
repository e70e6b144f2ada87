// SPDX-License-Identifier: GPL-2.0-only
/* Call back for CPUs that come online, by the CPU hotplug interface of this kernel. */
#include <linux/cpu.h>

#include "compat/cpuhp.h"

#if defined(HAVE_CPUHP_STATE)			/* since v4.10 */
static int state;

int memtap_cpuhp_setup(int (*online)(unsigned int cpu))
{
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "memtap:online", online,
				  NULL);
	return state < 0 ? state : 0;
}

void memtap_cpuhp_remove(void)
{
	cpuhp_remove_state_nocalls(state);
}
#elif defined(HAVE_CPU_NOTIFIER)		/* before v4.10 */
static int (*on_online)(unsigned int cpu);

static int notify(struct notifier_block *nb, unsigned long action, void *hcpu)
{
	action &= ~CPU_TASKS_FROZEN;
	/* one that stays after all has lost its counters, too */
	if (action == CPU_ONLINE || action == CPU_DOWN_FAILED)
		on_online((unsigned long)hcpu);
	return NOTIFY_OK;
}

static struct notifier_block notifier = {
	.notifier_call = notify,
};

int memtap_cpuhp_setup(int (*online)(unsigned int cpu))
{
	unsigned int cpu;
	int err = 0;

	on_online = online;
	cpu_notifier_register_begin();
	for_each_online_cpu(cpu) {
		err = online(cpu);
		if (err)
			break;
	}
	if (!err)
		__register_hotcpu_notifier(&notifier);
	cpu_notifier_register_done();
	return err;
}

void memtap_cpuhp_remove(void)
{
	unregister_hotcpu_notifier(&notifier);
}
#else
#error "CPU hotplug: unknown way, add a probe in compat/probe"
#endif
