// SPDX-License-Identifier: GPL-2.0-or-later
/* Write samples to the segments of a directory, and delete the oldest ones. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/int.h"

#define LOCK_TRIES	20		/* in a second */
#define KEYS		60		/* samples from one that stands for itself to the next */
#define SEGMENT_MOST	(4U << 20)
#define SEGMENT_LEAST	(64U << 10)
#define SEGMENTS	64		/* of all bytes, one has this part */
#define SEGMENT_NS	(6 * 3600 * 1000000000ULL)
#define PENDING_MOST	(256U << 10)
#define HEAD_MOST	(64U << 10)	/* of what stands before the first sample */
#define KEPT_ZEROS	4096		/* more than a sample ends with */
#define WINDOW		(256U << 10)	/* of the file, kept in memory */

struct history_writer {
	struct history_opts o;
	int dir, fd;
	__u64 number, begun_ns;		/* of the segment; CLOCK_BOOTTIME */
	__u64 at, room;			/* bytes that are written; that it has */
	__u64 most;			/* that one may have */
	__u64 nr;			/* samples in it */
	struct wire_sum all, since;	/* of the tool's records; of those since a sample */
	struct machine before;
	bool has_before;
	__u64 missed, missed_real_ns;	/* samples since then */
	int missed_err;
	__u64 dropped;			/* records for which there was no room */
	__u8 *buf;			/* records for the next sample, and behind them that */
	__u8 *head;
	size_t pending;
	void *window;
	__u64 window_at;
};

void segment_name(__u64 number, char name[SEGMENT_NAME])
{
	snprintf(name, SEGMENT_NAME, "history-%08llu.memtap", (unsigned long long)number);
}

__u64 segment_number(const char *name)
{
	char same[SEGMENT_NAME];
	unsigned long long nr;

	if (sscanf(name, "history-%llu.memtap", &nr) != 1)
		return 0;
	segment_name(nr, same);
	return strcmp(name, same) ? 0 : nr;
}

/* --- the directory -------------------------------------------------------------- */

struct stock {
	__u64 bytes, first, last;	/* of all; numbers; 0: there is none */
	__s64 first_s;			/* when the first was written last */
};

static int take_stock(const struct history_writer *w, struct stock *s)
{
	const int fd = openat(w->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	struct stat st;
	__u64 nr;

	memset(s, 0, sizeof(*s));
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while ((d = readdir(dir))) {
		nr = segment_number(d->d_name);
		if (!nr || fstatat(w->dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		s->bytes += (__u64)st.st_size;
		if (nr > s->last)
			s->last = nr;
		if (!s->first || nr < s->first) {
			s->first = nr;
			s->first_s = st.st_mtim.tv_sec;
		}
	}
	closedir(dir);
	return 0;
}

static bool delete_segment(const struct history_writer *w, __u64 number)
{
	char name[SEGMENT_NAME];

	segment_name(number, name);
	return !unlinkat(w->dir, name, 0);
}

/*
 * Room for a segment more.  By age one at a time: a clock that is wrong for a moment shall not
 * cost the whole history.
 */
static int make_room(struct history_writer *w, __u64 real_ns, struct stock *s)
{
	bool old_one = true;
	int err;

	while (!(err = take_stock(w, s)) && s->first) {
		const bool old = old_one && (double)(real_ns / 1000000000) - (double)s->first_s >
				 w->o.max_age;

		if (!old && s->bytes + w->most <= w->o.max_bytes)
			break;
		old_one = old_one && !old;
		if (!delete_segment(w, s->first))
			return errno ? -errno : -EIO;
	}
	return err;
}

/* --- a segment -------------------------------------------------------------------- */

static int write_at(struct history_writer *w, const void *from, size_t len)
{
	const char *p = from;
	__u64 at = w->at;
	ssize_t n;

	while (len) {
		n = pwrite(w->fd, p, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		p += n;
		at += (__u64)n;
		len -= (size_t)n;
	}
	w->at = at;
	return 0;
}

/*
 * The next pages of the file, so that writing into them takes none.  Where that does not work,
 * the kernel makes them when they are written.
 */
static void pin(struct history_writer *w)
{
	const __u64 from = w->at & ~(__u64)(WINDOW / 2 - 1);

	if (!w->o.pin || (w->window && from == w->window_at))
		return;
	if (w->window)
		munmap(w->window, WINDOW);
	w->window = from + WINDOW > w->room ? MAP_FAILED :
		    mmap(NULL, WINDOW, PROT_READ, MAP_SHARED | MAP_POPULATE, w->fd, (off_t)from);
	if (w->window == MAP_FAILED)
		w->window = NULL;
	w->window_at = from;
}

static size_t put_rec(struct history_writer *w, size_t at, __u32 type, size_t len)
{
	const struct memtap_rec *rec = wire_begin(w->head + at, HEAD_MOST - at, type, len);

	return rec ? rec->len : 0;
}

static void put_note(struct history_writer *w, size_t *at, const char *key, const char *value)
{
	struct memtap_rec_note *n = (struct memtap_rec_note *)(w->head + *at);
	const size_t len = strlen(key) + strlen(value) + 2, used = put_rec(w, *at,
		MEMTAP_REC_NOTE, sizeof(*n) + len);

	if (used)
		snprintf((char *)(n + 1), len, "%s=%s", key, value);
	*at += used;
}

static void put_header(struct memtap_rec_header *h, const struct machine *m,
		       const struct history_now *now, const char *version)
{
	h->magic = MEMTAP_MAGIC;
	h->page_size = m->page;
	h->nr_cpus = m->cpus;
#if defined(__aarch64__)
	h->machine = EM_AARCH64;
#elif defined(__x86_64__)
	h->machine = EM_X86_64;
#endif
	h->start_ns = h->now_ns = m->ns;
	h->real_ns = now->real_ns;
	snprintf(h->release, sizeof(h->release), "%.63s", m->release);
	snprintf(h->version, sizeof(h->version), "%s", version);
	snprintf(h->host, sizeof(h->host), "%.63s", m->host);
}

/* What stands before the first sample. */
static int write_head(struct history_writer *w, const struct machine *m,
		      const struct history_now *now)
{
	struct memtap_rec_fields *f;
	struct wire_sum sum, half;
	struct memtap_rec_end end;
	char text[32];
	u64 pos = 0;
	size_t at;
	u32 bad;
	const struct memtap_rec *rec;

	at = put_rec(w, 0, MEMTAP_REC_HEADER, sizeof(struct memtap_rec_header));
	put_header((struct memtap_rec_header *)w->head, m, now, w->o.version);
	wire_sum_init(&half);
	wire_sum_add(&half, (const struct memtap_rec *)w->head);
	wire_end(&half, &end);
	memcpy(w->head + at, &end, sizeof(end));
	at += sizeof(end);
	put_note(w, &at, "kind", "history");
	put_note(w, &at, "boot", w->o.boot);
	snprintf(text, sizeof(text), "%.3f", w->o.interval);
	put_note(w, &at, "interval", text);
	f = (struct memtap_rec_fields *)(w->head + at);
	put_rec(w, at, MEMTAP_REC_FIELDS, HEAD_MOST - at);
	f->rec.len = (__u32)(sizeof(*f) + code_fields(f->text, HEAD_MOST - at - sizeof(*f)) +
			     7) & ~7U;
	at += f->rec.len;
	wire_sum_init(&sum);
	while ((rec = wire_next(w->head, at, &pos, &bad)))
		wire_sum_add(&sum, rec);
	f->check = sum.checksum;
	/* what END is about */
	wire_sum_init(&w->all);
	pos = ((struct memtap_rec *)w->head)->len + sizeof(end);
	while ((rec = wire_next(w->head, at, &pos, &bad)))
		wire_sum_add(&w->all, rec);
	wire_sum_init(&w->since);
	return write_at(w, w->head, at);
}

static void close_segment(struct history_writer *w)
{
	struct memtap_rec_end end;

	if (w->fd < 0)
		return;
	wire_end(&w->all, &end);
	/* a segment without it was not closed in order, and that is what is told then */
	if (!write_at(w, &end, sizeof(end)) && !ftruncate(w->fd, (off_t)w->at))
		fdatasync(w->fd);
	if (w->window)
		munmap(w->window, WINDOW);
	w->window = NULL;
	close(w->fd);
	w->fd = -1;
}

static void drop_segment(struct history_writer *w, __u64 number)
{
	close(w->fd);
	w->fd = -1;
	delete_segment(w, number);
}

/*
 * A full disk is seen now, and not in the middle of what matters; where little is left, that will
 * do.  Some filesystems cannot do it.
 */
static int take_room(struct history_writer *w)
{
	for (w->room = w->most; fallocate(w->fd, 0, 0, (off_t)w->room); w->room /= 4) {
		if (errno == EOPNOTSUPP || errno == ENOSYS)
			return 0;
		if (errno != ENOSPC || w->room / 4 < SEGMENT_LEAST)
			return -errno;
	}
	return 0;
}

static int open_segment(struct history_writer *w, const struct machine *m,
			const struct history_now *now)
{
	char name[SEGMENT_NAME];
	struct stock s;
	int err = make_room(w, now->real_ns, &s);
	const __u64 number = (s.last > w->number ? s.last : w->number) + 1;

	if (err)
		return err;
	segment_name(number, name);
	w->fd = openat(w->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (w->fd < 0)
		return -errno;
	err = take_room(w);
	if (err) {
		drop_segment(w, number);
		return err;
	}
	w->at = w->nr = 0;
	w->begun_ns = now->boot_ns;
	err = write_head(w, m, now);
	if (err) {
		drop_segment(w, number);
		return err;
	}
	w->number = number;
	fsync(w->fd);
	fsync(w->dir);
	pin(w);
	return 0;
}

/* --- samples ---------------------------------------------------------------------- */

int history_add(struct history_writer *w, const struct memtap_rec *rec)
{
	if (rec->len > PENDING_MOST - w->pending) {
		w->dropped++;
		return -ENOSPC;
	}
	memcpy(w->buf + w->pending, rec, rec->len);
	w->pending += rec->len;
	return 0;
}

int history_note(struct history_writer *w, const char *fmt, ...)
{
	__u64 room[128] = { 0 };
	struct memtap_rec_note *n = (struct memtap_rec_note *)room;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(n->text, sizeof(room) - sizeof(*n), fmt, ap);
	va_end(ap);
	n->rec.type = MEMTAP_REC_NOTE;
	n->rec.len = (__u32)(sizeof(*n) + strlen(n->text) + 8) & ~7U;
	return history_add(w, &n->rec);
}

/* The sample behind the records that wait for it; its bytes, or 0: it is too large. */
static size_t put_sample(struct history_writer *w, const struct machine *m,
			 const struct history_now *now)
{
	struct memtap_rec_sample *s = (struct memtap_rec_sample *)(w->buf + w->pending);
	const bool key = w->nr % KEYS == 0 || !w->has_before;
	const size_t used = code_put(key ? NULL : &w->before, m, s->data, SAMPLE_MOST);
	const size_t len = (sizeof(*s) + used + 7) & ~7UL;

	if (!used)
		return 0;
	memset(s, 0, sizeof(*s));
	memset(s->data + used, 0, len - sizeof(*s) - used);
	s->rec.type = MEMTAP_REC_SAMPLE;
	s->rec.len = (__u32)len;
	s->nr = w->nr;
	s->ns = m->ns;
	s->boot_ns = now->boot_ns;
	s->real_ns = now->real_ns;
	s->flags = key ? MEMTAP_SAMPLE_KEY : 0;
	s->used = (__u32)used;
	return len;
}

/* Checksums of all that is in the buffer. */
static void seal(struct history_writer *w, size_t len)
{
	struct memtap_rec_sample *s = (struct memtap_rec_sample *)(w->buf + w->pending);
	const struct memtap_rec *rec;
	u64 pos = 0;
	u32 bad;

	wire_sum_init(&w->since);
	while ((rec = wire_next(w->buf, len, &pos, &bad)))
		wire_sum_add(&w->since, rec);
	s->check = w->since.checksum;
}

static void sum_up(struct history_writer *w, size_t len)
{
	const struct memtap_rec *rec;
	u64 pos = 0;
	u32 bad;

	while ((rec = wire_next(w->buf, len, &pos, &bad)))
		wire_sum_add(&w->all, rec);
}

static int take(struct history_writer *w, const struct machine *m, const struct history_now *now)
{
	const __u64 was = w->at;
	size_t len;
	int err;

	if (w->fd >= 0 && now->boot_ns - w->begun_ns > SEGMENT_NS)
		close_segment(w);
	err = w->fd < 0 ? open_segment(w, m, now) : 0;
	if (err)
		return err;
	len = put_sample(w, m, now);
	if (!len)
		return -E2BIG;
	len += w->pending;
	if (w->nr && w->at + len + sizeof(struct memtap_rec_end) > w->room) {
		close_segment(w);
		return take(w, m, now);
	}
	seal(w, len);
	err = write_at(w, w->buf, len);
	if (err) {
		/* what is half there would be damage */
		w->at = was;
		if (ftruncate(w->fd, (off_t)was))
			close_segment(w);
		return err;
	}
	sum_up(w, len);
	w->pending = 0;
	w->nr++;
	pin(w);
	return 0;
}

int history_take(struct history_writer *w, struct machine *m, const struct history_now *now)
{
	const size_t pending = w->pending;
	int err;

	if (w->missed)
		history_note(w, "missed=%llu,%d,%llu", (unsigned long long)w->missed,
			     -w->missed_err, (unsigned long long)w->missed_real_ns);
	if (w->dropped)
		history_note(w, "dropped=%llu", (unsigned long long)w->dropped);
	sample_select(m, w->has_before ? &w->before : NULL, (__u64 *)(w->buf + PENDING_MOST),
		      SAMPLE_MOST / sizeof(__u64));
	err = take(w, m, now);
	if (err) {
		/* the notes are made anew */
		w->pending = pending;
		if (!w->missed++) {
			w->missed_err = err;
			w->missed_real_ns = now->real_ns;
		}
		machine_free(m);
		return err;
	}
	w->missed = w->dropped = 0;
	machine_free(&w->before);
	sample_drop(m);
	w->before = *m;
	w->has_before = true;
	memset(m, 0, sizeof(*m));
	return 0;
}

void history_sync(struct history_writer *w)
{
	if (w->fd >= 0)
		fdatasync(w->fd);
}

const struct machine *history_last(const struct history_writer *w)
{
	return w->has_before ? &w->before : NULL;
}

/* --- begin and end ------------------------------------------------------------------ */

static int fail_dir(char err[HISTORY_ERR], const char *what, const char *dir)
{
	const int e = errno;

	snprintf(err, HISTORY_ERR, "%s: %s: %s", dir, what, strerror(e));
	return -e;
}

static int open_dir(struct history_writer *w, char err[HISTORY_ERR])
{
	const char *dir = w->o.dir;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return fail_dir(err, "cannot be made", dir);
	w->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->dir < 0)
		return fail_dir(err, "cannot be opened", dir);
	/* who reads looks for a moment whether the service runs */
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(w->dir, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK)
			return fail_dir(err, "cannot be locked", dir);
		usleep(50000);
	}
	snprintf(err, HISTORY_ERR, "%s: another `memtap history start` writes there", dir);
	return -EBUSY;
}

/* Behind the last byte of the first @len that is not 0. */
static off_t end_of_data(const struct history_writer *w, int fd, off_t len)
{
	ssize_t n;

	while (len) {
		const off_t from = len > PENDING_MOST ? len - PENDING_MOST : 0;

		n = pread(fd, w->buf, (size_t)(len - from), from);
		if (n <= 0)
			return -1;
		for (; n; n--)
			if (w->buf[n - 1])
				return from + n;
		len = from;
	}
	return 0;
}

/*
 * A segment that was not closed still has all the room that it took: a service that is killed
 * again and again would so cost the history.  The zeros that a sample ends with are left.
 */
static void give_back(struct history_writer *w)
{
	char name[SEGMENT_NAME];
	struct timespec times[2];
	struct stock s;
	struct stat st;
	off_t end;
	int fd;

	if (take_stock(w, &s) || !s.last)
		return;
	segment_name(s.last, name);
	fd = openat(w->dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		end = end_of_data(w, fd, st.st_size);
		times[0] = st.st_atim;
		times[1] = st.st_mtim;
		/* (when it was written last decides when it is deleted) */
		if (end >= 0 && end + KEPT_ZEROS < st.st_size && !ftruncate(fd, end + KEPT_ZEROS))
			futimens(fd, times);
	}
	close(fd);
}

int history_begin(struct history_writer **out, const struct history_opts *o,
		  char err[HISTORY_ERR])
{
	struct history_writer *w = calloc(1, sizeof(*w));
	int ret;

	*out = NULL;
	if (w)
		w->buf = malloc(PENDING_MOST + sizeof(struct memtap_rec_sample) + SAMPLE_MOST + 8 +
				HEAD_MOST);
	if (!w || !w->buf) {
		free(w);
		snprintf(err, HISTORY_ERR, "no memory");
		return -ENOMEM;
	}
	w->head = w->buf + PENDING_MOST + sizeof(struct memtap_rec_sample) + SAMPLE_MOST + 8;
	w->o = *o;
	w->fd = w->dir = -1;
	w->most = o->max_bytes / SEGMENTS & ~4095ULL;
	w->most = w->most > SEGMENT_MOST ? SEGMENT_MOST : w->most < SEGMENT_LEAST ? SEGMENT_LEAST :
		  w->most;
	ret = open_dir(w, err);
	if (ret) {
		history_end(w);
		return ret;
	}
	give_back(w);
	*out = w;
	return 0;
}

void history_end(struct history_writer *w)
{
	close_segment(w);
	if (w->dir >= 0)
		close(w->dir);
	machine_free(&w->before);
	free(w->buf);
	free(w);
}
