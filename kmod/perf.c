// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of perf, one on each online CPU, that call us for every event.
 * perf drops them when their CPU goes offline and does not make them again, so
 * hotplug does.
 *
 * perf_lock: the list and what is on it.  Taken inside the CPU hotplug lock.
 */
#include <linux/cpu.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "hooks.h"

#include "compat/cpuhp.h"

static LIST_HEAD(active);
static DEFINE_MUTEX(perf_lock);

static int add_event(struct memtap_perf *p, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = p->type,
		.config = p->config,
		.sample_period = 1,
	};
	struct perf_event *ev;

	if (p->events[cpu])
		return 0;
	ev = perf_event_create_kernel_counter(&attr, cpu, NULL, p->handler, p->hook);
	if (IS_ERR(ev))
		return PTR_ERR(ev);
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

/* An error here must not keep a CPU from coming up: its events are absent. */
static int cpu_online_event(unsigned int cpu)
{
	struct memtap_perf *p;

	mutex_lock(&perf_lock);
	list_for_each_entry(p, &active, node)
		if (add_event(p, cpu))
			p->hook->error = ENODEV;
	mutex_unlock(&perf_lock);
	return 0;
}

static int cpu_offline_event(unsigned int cpu)
{
	struct memtap_perf *p;

	mutex_lock(&perf_lock);
	list_for_each_entry(p, &active, node)
		drop_event(p, cpu);
	mutex_unlock(&perf_lock);
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
	cpus_read_lock();
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
	cpus_read_unlock();
	return err;
}

void memtap_perf_detach(struct memtap_perf *p)
{
	cpus_read_lock();
	mutex_lock(&perf_lock);
	list_del(&p->node);
	drop_all(p);
	mutex_unlock(&perf_lock);
	cpus_read_unlock();
}

int memtap_perf_init(void)
{
	return memtap_cpuhp_setup(cpu_online_event, cpu_offline_event);
}

void memtap_perf_exit(void)
{
	memtap_cpuhp_remove();
}
