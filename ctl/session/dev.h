/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _DEV_H
#define _DEV_H

#include "uapi/memtap.h"

/*
 * The device: one function for each ioctl.  Returns a negative errno or 0, and prints
 * nothing.  The function sets the structure's size; the caller fills in the rest.
 */
int dev_open(int *fd);
int dev_info(int fd, struct memtap_info *info);
int dev_event(int fd, __u32 id, struct memtap_event_info *event);
int dev_hook(int fd, __u32 index, struct memtap_hook_state *hook);
int dev_configure(int fd, struct memtap_config *config);
int dev_attach(int fd, struct memtap_attach *attach);
int dev_start(int fd);
int dev_stop(int fd);
int dev_stats(int fd, __u32 event, struct memtap_stats *stats);
int dev_table(int fd, struct memtap_table *table);
/* @wanted has the last file's id, and where its path goes; all else is 0. */
int dev_wanted(int fd, struct memtap_wanted *wanted);

int dev_trace(int fd, struct memtap_trace *trace);
int dev_each(int fd, struct memtap_events *events);
/* @field has the event and the index */
int dev_field(int fd, struct memtap_field *field);
/* MEMTAP_OBJECTS; its size is filled in */
int dev_objects(int fd, struct memtap_objects *arg);
/* MEMTAP_SIMILAR; its size is filled in */
int dev_similar(int fd, struct memtap_similar *arg);
/* MEMTAP_MARK; its size is filled in */
int dev_mark(int fd, struct memtap_mark *arg);
/* MEMTAP_SYMBOL */
int dev_symbol(int fd, __u64 addr, char text[MEMTAP_SYMBOL_LEN]);
/* MEMTAP_AGES; its size is filled in */
int dev_ages(int fd, struct memtap_ages *arg);
int dev_held(int fd, struct memtap_held *held);
/* @notice has the number */
int dev_notice(int fd, struct memtap_notice *notice);
/* @other has the last number, and where its rows go. */
int dev_other(int fd, struct memtap_other *other);
/* MEMTAP_RECORDED; its size is filled in.  -ENOTTY: the module is older */
int dev_recorded(int fd, struct memtap_recorded *recorded);
int dev_oom(int fd, struct memtap_oom *oom);

/* All built-in events, malloc'ed. */
int dev_events(int fd, struct memtap_event_info **events, __u32 *nr);

#endif
