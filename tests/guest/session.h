/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SESSION_H
#define _SESSION_H

/* The device, as a test sees it: nothing between it and the calls. */
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <memtap.h>

#include "tap.h"

/* From here on no brk() but the test's own: the heap has what it will need. */
static inline void heap_stays(void)
{
	void *volatile first;

	mallopt(M_TOP_PAD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	first = malloc(1);
	free(first);
}

/* The bytes of one snapshot. */
struct bytes {
	char *at;
	size_t len;
};

static inline int session_open(void)
{
	int fd = open(MEMTAP_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		bail_out(MEMTAP_DEVICE);
	return fd;
}

/* The id of a built-in event. */
static inline unsigned int event_id(int fd, const char *name)
{
	struct memtap_event_info ev = { .size = sizeof(ev) };

	for (ev.id = 0; !ioctl(fd, MEMTAP_EVENT, &ev); ev.id++)
		if (!strcmp(ev.name, name))
			return ev.id;
	bail_out(name);
	return 0;
}

static inline int session_run(int fd, unsigned long cmd)
{
	struct memtap_run run = { .size = sizeof(run) };

	return ioctl(fd, cmd, &run);
}

/* A session on some built-in events of this process, which did not start yet. */
static inline struct memtap_config config_self(struct memtap_filter_item *me, uint64_t events)
{
	struct memtap_config config = {
		.size = sizeof(config),
		.flags = MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK,
		.events = events,
		.filter_ptr = (uintptr_t)me,
		.filter_nr = 1,
	};

	*me = (struct memtap_filter_item){ .kind = MEMTAP_FILTER_PID, .value = getpid() };
	return config;
}

static inline void session_must(int ret, const char *what)
{
	if (ret < 0)
		bail_out(what);
}

static inline int session_start_self(uint64_t events)
{
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, events);
	int fd = session_open();

	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "MEMTAP_CONFIGURE");
	session_must(session_run(fd, MEMTAP_START), "MEMTAP_START");
	return fd;
}

/* Reads one snapshot in pieces of @piece bytes. */
static inline struct bytes session_read(int fd, size_t piece)
{
	struct bytes b = { NULL, 0 };
	size_t room = 0;
	ssize_t n;

	for (;;) {
		if (room - b.len < piece) {
			room = room * 2 + piece;
			b.at = realloc(b.at, room);
			if (!b.at)
				bail_out("memory");
		}
		n = read(fd, b.at + b.len, piece);
		if (n < 0)
			bail_out("read");
		if (!n)
			return b;
		b.len += n;
	}
}

/* The record at *@pos, and the next position; NULL at the end or in a muddle. */
static inline const struct memtap_rec *next_record(const struct bytes *b, size_t *pos)
{
	const struct memtap_rec *rec = (const void *)(b->at + *pos);

	if (b->len - *pos < sizeof(*rec) || rec->len < sizeof(*rec) || rec->len % 8 ||
	    rec->len > b->len - *pos)
		return NULL;
	*pos += rec->len;
	return rec;
}

/* The first record of @type (and for events, of that name), or NULL. */
static inline const void *find_record(const struct bytes *b, uint32_t type)
{
	const struct memtap_rec *rec;
	size_t pos = 0;

	while ((rec = next_record(b, &pos)))
		if (rec->type == type)
			return rec;
	return NULL;
}

static inline const struct memtap_rec_event *find_event(const struct bytes *b, const char *name)
{
	const struct memtap_rec *rec;
	size_t pos = 0;

	while ((rec = next_record(b, &pos)))
		if (rec->type == MEMTAP_REC_EVENT &&
		    !strcmp(((const struct memtap_rec_event *)rec)->name, name))
			return (const void *)rec;
	return NULL;
}

static inline uint64_t sum_lost(const struct memtap_rec_event *ev)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < MEMTAP_LOST_SLOTS; i++)
		sum += ev->lost[i];
	return sum;
}

static inline const char *whole(const struct bytes *b)
{
	const struct memtap_rec_header *head = (const void *)b->at;
	const struct memtap_rec_end *end = NULL;
	uint64_t hash = 0xcbf29ce484222325ULL, records = 0, count = 0;
	const struct memtap_rec *rec;
	size_t pos = 0, at, i;

	if (b->len < sizeof(*head) || head->rec.type != MEMTAP_REC_HEADER ||
	    head->magic != MEMTAP_MAGIC)
		return "it does not begin with HEADER";
	while (pos < b->len) {
		at = pos;
		rec = next_record(b, &pos);
		if (!rec || end)
			return end ? "something follows END" : "a record has no good length";
		records++;
		if (rec->type == MEMTAP_REC_COUNTER)
			count += ((const struct memtap_rec_counter *)rec)->count;
		if (rec->type == MEMTAP_REC_END) {
			end = (const void *)rec;
			continue;
		}
		for (i = at; i < pos; i += 8)
			hash = (hash ^ *(const uint64_t *)(b->at + i)) * 0x100000001b3ULL;
	}
	if (!end)
		return "END is missing";
	if (end->records != records)
		return "END counts other records";
	if (end->count != count)
		return "END has another sum of counts";
	return end->checksum == hash ? NULL : "the checksum is wrong";
}

static inline void is_whole(const struct bytes *b, const char *name)
{
	const char *why = whole(b);

	if (!ok(!why, "%s", name))
		diag("%s", why);
}

/*
 * seen == counted + filtered + sum(lost), and the counters add up to counted, but for
 * what is kept as live, or one by one.
 */
static inline bool sums_hold(const struct bytes *b)
{
	const struct memtap_rec *rec;
	const struct memtap_rec_event *ev;
	uint64_t sums[MEMTAP_MAX_EVENTS] = { 0 };
	size_t pos = 0;
	uint64_t live = 0;
	bool fine = true, apart = false, touched = false;

	while ((rec = next_record(b, &pos))) {
		if (rec->type == MEMTAP_REC_HEADER) {
			const __u32 flags = ((const struct memtap_rec_header *)rec)->flags;

			apart = flags & (MEMTAP_CFG_RING | MEMTAP_CFG_OBJECTS | MEMTAP_CFG_LIVE);
			touched = flags & MEMTAP_CFG_TOUCHED;
		} else if (rec->type == MEMTAP_REC_COUNTER)
			sums[((const struct memtap_rec_counter *)rec)->event % MEMTAP_MAX_EVENTS] +=
				((const struct memtap_rec_counter *)rec)->count;
		else if (rec->type == MEMTAP_REC_HEAP)
			live |= 1ULL << ((const struct memtap_rec_heap *)rec)->event;
	}
	for (pos = 0; (rec = next_record(b, &pos));) {
		if (rec->type != MEMTAP_REC_EVENT)
			continue;
		ev = (const void *)rec;
		if (ev->seen == ev->counted + ev->filtered + sum_lost(ev) &&
		    (apart || live >> ev->id & 1 ||
		     /* (it moves what is remembered of pages, and counts nothing) */
		     (touched && !strcmp(ev->name, "mremap")) ||
		     ev->counted == sums[ev->id % MEMTAP_MAX_EVENTS]))
			continue;
		fine = false;
		diag("%s: seen %llu, counted %llu (counters: %llu), filtered %llu, lost %llu",
		     ev->name, (unsigned long long)ev->seen, (unsigned long long)ev->counted,
		     (unsigned long long)sums[ev->id % MEMTAP_MAX_EVENTS],
		     (unsigned long long)ev->filtered, (unsigned long long)sum_lost(ev));
	}
	return fine;
}

static inline void adds_up(const struct bytes *b, const char *name)
{
	ok(sums_hold(b), "%s", name);
}

#endif
