/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HISTORY_H
#define _HISTORY_H

#include "machine/machine.h"
#include "uapi/memtap.h"

/*
 * What the machine's memory was like at earlier moments: samples in the files of a directory.
 * Nothing is judged here.  A file is a segment: it was written by one run of the service, and the
 * oldest one is deleted first.
 */
#define HISTORY_DIR	"/var/lib/memtap"
#define HISTORY_ERR	320

/* --- writing ---------------------------------------------------------------------- */

struct history_opts {
	const char *dir;
	__u64 max_bytes;		/* of all files */
	double max_age, interval;	/* seconds */
	const char *boot;		/* the kernel's boot_id */
	const char *version;		/* of the tool */
	bool pin;			/* keep the pages that are written next in memory */
};

struct history_now {
	__u64 real_ns, boot_ns;		/* CLOCK_REALTIME, CLOCK_BOOTTIME */
};

/*
 * What `memtap triage` reads, by less work: who holds shared memory without a mount is looked for
 * when there is more or less of it than there was; the log is read on (at->follow).  @last: the
 * sample before, or NULL.  -errno, as of machine_read(); @m is for machine_free() in any case.
 */
struct history_shared {
	__u64 bytes;			/* of shared memory, when it was last looked at */
	unsigned int samples;		/* since then */
};

int history_sample(const struct machine_at *at, struct machine *m, const struct machine *last,
		   struct history_shared *shared);

struct history_writer;

/* -errno, with a sentence in @err; -EBUSY: another one writes there. */
int history_begin(struct history_writer **out, const struct history_opts *o,
		  char err[HISTORY_ERR]);
/*
 * A sample more; @m belongs to the writer then, and is empty.  What cannot be written is counted
 * and told in the history as soon as that can be: -errno.  Takes no memory beyond what the first
 * samples took.
 */
int history_take(struct history_writer *w, struct machine *m, const struct history_now *now);
#define HISTORY_PROCESSES 1000		/* in a sample: those that hold or changed most */
/*
 * A record for the next sample: it stands before it.  -ENOSPC: there are too many.
 * history_note(): "key=value".
 */
int history_add(struct history_writer *w, const struct memtap_rec *rec);
int history_note(struct history_writer *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* On disk, whatever happens to the machine. */
void history_sync(struct history_writer *w);
/* The last sample that was written, or NULL. */
const struct machine *history_last(const struct history_writer *w);
void history_end(struct history_writer *w);

/* --- reading ---------------------------------------------------------------------- */

struct history_sample {
	__u64 real_ns, boot_ns, ns;	/* ns: CLOCK_MONOTONIC */
	__u32 segment;
	bool key;
	size_t offset;			/* in its segment */
};

struct history_segment {
	__u64 number, bytes;
	char boot[40], release[65], host[65], version[32];
	unsigned int page;
	double interval;
	bool closed;			/* in order */
	__u64 damaged;			/* bytes that cannot be read */
	size_t first, nr;		/* its samples */
};

/*
 * What happened before a sample: a NOTE, an OOM, names for it (KSYM, USYM), RECORDED
 * (history/recorded.h), as written.
 */
struct history_event {
	size_t sample;
	const struct memtap_rec *rec;
	const char *note;		/* of a NOTE; or NULL */
};

struct history {
	char *dir;
	struct history_segment *segments;
	size_t nr_segments;
	struct history_sample *samples;	/* as they were written */
	size_t nr_samples;
	struct history_event *events;
	size_t nr_events;
	bool running;			/* the service writes now */
};

int history_open(const char *dir, struct history **out, char err[HISTORY_ERR]);
void history_close(struct history *h);

/* What lies between a sample and the one before it. */
enum history_gap {
	GAP_NONE,
	GAP_BEGIN,			/* there is none before it */
	GAP_BOOT,			/* the machine was booted */
	GAP_SUSPEND,
	GAP_STOPPED,			/* the service was, in order */
	GAP_ENDED,			/* or not in order */
	GAP_MISSED,			/* it did not write */
	GAP_DAMAGED,			/* part of a file cannot be read */
};

enum history_gap history_gap(const struct history *h, size_t i);
/* "nothing from 03:12:10 to 03:40:02: the machine was booted anew", without an end. */
#define HISTORY_TEXT	320
const char *history_gap_text(const struct history *h, size_t i, char buf[HISTORY_TEXT]);

/*
 * The sample that ends the interval which has @real_ns: *@i, and GAP_NONE is between it and the
 * one before.  -ENOENT, with a sentence.  Where the clock was set back there may be several: the
 * last one; @err then says so.
 */
int history_find(const struct history *h, __u64 real_ns, size_t *i, char err[HISTORY_ERR]);

/* Reads samples; forward is cheap. */
struct history_cursor;
struct history_cursor *history_cursor(const struct history *h);	/* NULL: no memory */
/*
 * Sample @i, as machine_read() had it: it lives until the next call.  @ended: processes of the
 * sample before that are no more, if that was read just before; may be NULL.  -EBADMSG, -ENOMEM.
 */
int history_read(struct history_cursor *c, size_t i, const struct machine **m,
		 const struct machine_list **ended);
/* The same, but it is the caller's, for machine_free(). */
int history_copy(struct history_cursor *c, size_t i, struct machine *m);
void history_cursor_free(struct history_cursor *c);

/*
 * A moment as people write it: HH:MM, HH:MM:SS, with YYYY-MM-DD before it, -2h, -90s.  Without a
 * date it is the last one that is not after @now.  False: it is none of these.
 */
bool history_when(const char *text, __u64 now_ns, __u64 *real_ns);

#endif
