// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of perf, one on each online CPU, whose overflow handler is our hook.
 *
 * perf stops a counter for good when its CPU goes offline.  A work creates it again when the CPU
 * comes back: creating and freeing one takes the CPU hotplug lock (for a static key), which the
 * hotplug callback must not wait for.  Events on a CPU before the work ran are missed; the
 * session's records have the number of these gaps.
 *
 * perf_lock: the list and its entries.  The CPU hotplug lock is taken inside.
 */
#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "hooks/hooks.h"

#include "compat/cpuhp.h"

static LIST_HEAD(active);
static DEFINE_MUTEX(perf_lock);
/* CPUs that came online since the work ran: their counters are dead. */
static struct cpumask came;

/* A CPU that is not online has no counter, which is no error. */
static int add_event(struct memtap_perf *p, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = p->type,
		.config = p->config,
		.sample_period = p->period ? p->period : 1,
		.freq = p->freq,
		.sample_type = p->raw ? PERF_SAMPLE_RAW : 0,
	};
	struct perf_event *ev;

	if (p->events[cpu])
		return 0;
	ev = perf_event_create_kernel_counter(&attr, cpu, NULL, p->handler, p->hook);
	if (IS_ERR(ev))
		return cpu_online(cpu) ? PTR_ERR(ev) : 0;
	p->events[cpu] = ev;
	return 0;
}

static void drop_event(struct memtap_perf *p, unsigned int cpu)
{
	struct perf_event *ev = p->events[cpu];

	p->events[cpu] = NULL;
	if (ev)
		perf_event_release_kernel(ev);
}

static void make_again(unsigned int cpu)
{
	struct memtap_perf *p;

	mutex_lock(&perf_lock);
	list_for_each_entry(p, &active, node) {
		drop_event(p, cpu);
		if (add_event(p, cpu))
			p->hook->error = ENODEV;
	}
	mutex_unlock(&perf_lock);
}

static void make_all_again(struct work_struct *work)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (cpumask_test_and_clear_cpu(cpu, &came))
			make_again(cpu);
}

static DECLARE_WORK(again, make_all_again);

static u64 nr_came;

u64 memtap_perf_came(void)
{
	return READ_ONCE(nr_came);
}

/* Hotplug does one CPU at a time.  The sooner the work runs, the less is lost. */
static int cpu_came(unsigned int cpu)
{
	WRITE_ONCE(nr_came, nr_came + 1);
	cpumask_set_cpu(cpu, &came);
	queue_work(system_highpri_wq, &again);
	return 0;
}

static void drop_all(struct memtap_perf *p)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		drop_event(p, cpu);
	kfree(p->events);
	p->events = NULL;
}

int memtap_perf_attach(struct memtap_perf *p)
{
	unsigned int cpu;
	int err = 0;

	p->events = kcalloc(nr_cpu_ids, sizeof(*p->events), GFP_KERNEL);
	if (!p->events)
		return -ENOMEM;
	mutex_lock(&perf_lock);
	for_each_online_cpu(cpu) {
		err = add_event(p, cpu);
		if (err)
			break;
	}
	if (err)
		drop_all(p);
	else
		list_add(&p->node, &active);
	mutex_unlock(&perf_lock);
	return err;
}

void memtap_perf_detach(struct memtap_perf *p)
{
	mutex_lock(&perf_lock);
	list_del(&p->node);
	drop_all(p);
	mutex_unlock(&perf_lock);
}

int memtap_perf_init(void)
{
	int err = memtap_cpuhp_setup(cpu_came);

	/* it was told of the CPUs that are there: nobody's counters are dead */
	flush_work(&again);
	return err;
}

void memtap_perf_exit(void)
{
	memtap_cpuhp_remove();
	cancel_work_sync(&again);
}
