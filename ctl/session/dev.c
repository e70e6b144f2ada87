// SPDX-License-Identifier: GPL-2.0-or-later
/* Open the device, and call its ioctls. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "session/dev.h"

int dev_open(int *fd)
{
	*fd = open(MEMTAP_DEVICE, O_RDWR | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

static int command(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

int dev_info(int fd, struct memtap_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return command(fd, MEMTAP_INFO, info);
}

int dev_event(int fd, __u32 id, struct memtap_event_info *event)
{
	int err;

	memset(event, 0, sizeof(*event));
	event->size = sizeof(*event);
	event->id = id;
	err = command(fd, MEMTAP_EVENT, event);
	event->group[sizeof(event->group) - 1] = '\0';
	event->name[sizeof(event->name) - 1] = '\0';
	event->summary[sizeof(event->summary) - 1] = '\0';
	return err;
}

int dev_hook(int fd, __u32 index, struct memtap_hook_state *hook)
{
	int err;

	memset(hook, 0, sizeof(*hook));
	hook->size = sizeof(*hook);
	hook->index = index;
	err = command(fd, MEMTAP_HOOK, hook);
	hook->event[sizeof(hook->event) - 1] = '\0';
	hook->target[sizeof(hook->target) - 1] = '\0';
	return err;
}

int dev_configure(int fd, struct memtap_config *config)
{
	config->size = sizeof(*config);
	config->mem_total = 0;
	return command(fd, MEMTAP_CONFIGURE, config);
}

int dev_attach(int fd, struct memtap_attach *attach)
{
	attach->size = sizeof(*attach);
	attach->event = 0;
	attach->way = 0;
	return command(fd, MEMTAP_ATTACH, attach);
}

static int run(int fd, unsigned long cmd)
{
	struct memtap_run arg = { .size = sizeof(arg) };

	return command(fd, cmd, &arg);
}

int dev_start(int fd)
{
	return run(fd, MEMTAP_START);
}

int dev_stop(int fd)
{
	return run(fd, MEMTAP_STOP);
}

int dev_stats(int fd, __u32 event, struct memtap_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->size = sizeof(*stats);
	stats->event = event;
	return command(fd, MEMTAP_STATS, stats);
}

int dev_table(int fd, struct memtap_table *table)
{
	table->size = sizeof(*table);
	table->file = 0;
	table->bytes = 0;
	return command(fd, MEMTAP_TABLE, table);
}

int dev_wanted(int fd, struct memtap_wanted *wanted)
{
	char *path = (char *)(unsigned long)wanted->path_ptr;
	int err;

	wanted->size = sizeof(*wanted);
	err = command(fd, MEMTAP_WANTED, wanted);
	path[wanted->path_len - 1] = '\0';
	return err;
}

int dev_trace(int fd, struct memtap_trace *trace)
{
	trace->size = sizeof(*trace);
	return command(fd, MEMTAP_TRACE, trace);
}

int dev_each(int fd, struct memtap_events *events)
{
	events->size = sizeof(*events);
	events->used = 0;
	return command(fd, MEMTAP_EVENTS, events);
}

int dev_field(int fd, struct memtap_field *field)
{
	field->size = sizeof(*field);
	return command(fd, MEMTAP_FIELD, field);
}

int dev_objects(int fd, struct memtap_objects *arg)
{
	arg->size = sizeof(*arg);
	return command(fd, MEMTAP_OBJECTS, arg);
}

int dev_similar(int fd, struct memtap_similar *arg)
{
	arg->size = sizeof(*arg);
	return command(fd, MEMTAP_SIMILAR, arg);
}

int dev_symbol(int fd, __u64 addr, char text[MEMTAP_SYMBOL_LEN])
{
	struct memtap_symbol arg = { .size = sizeof(arg), .addr = addr };
	int err = command(fd, MEMTAP_SYMBOL, &arg);

	memcpy(text, arg.text, MEMTAP_SYMBOL_LEN);
	text[MEMTAP_SYMBOL_LEN - 1] = '\0';
	return err;
}

int dev_ages(int fd, struct memtap_ages *arg)
{
	arg->size = sizeof(*arg);
	return command(fd, MEMTAP_AGES, arg);
}

int dev_mark(int fd, struct memtap_mark *arg)
{
	arg->size = sizeof(*arg);
	return command(fd, MEMTAP_MARK, arg);
}

int dev_held(int fd, struct memtap_held *held)
{
	held->size = sizeof(*held);
	return command(fd, MEMTAP_HELD, held);
}

int dev_notice(int fd, struct memtap_notice *notice)
{
	notice->size = sizeof(*notice);
	return command(fd, MEMTAP_NOTICE, notice);
}

int dev_other(int fd, struct memtap_other *other)
{
	other->size = sizeof(*other);
	return command(fd, MEMTAP_OTHER, other);
}

int dev_recorded(int fd, struct memtap_recorded *recorded)
{
	recorded->size = sizeof(*recorded);
	return command(fd, MEMTAP_RECORDED, recorded);
}

int dev_oom(int fd, struct memtap_oom *oom)
{
	oom->size = sizeof(*oom);
	return command(fd, MEMTAP_OOM, oom);
}

int dev_events(int fd, struct memtap_event_info **events, __u32 *nr)
{
	struct memtap_info info;
	int err;

	err = dev_info(fd, &info);
	if (err)
		return err;
	*nr = 0;
	*events = calloc(info.nr_events + 1, sizeof(**events));
	if (!*events)
		return -ENOMEM;
	while (*nr < info.nr_events) {
		err = dev_event(fd, *nr, &(*events)[*nr]);
		if (err) {
			free(*events);
			*events = NULL;
			return err;
		}
		++*nr;
	}
	return 0;
}
