// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the segments of a directory: which samples there are, and what is between them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ids.h"
#include "base/text.h"
#include "history/int.h"

#define SEGMENT_LARGEST	(64U << 20)	/* ours have four MiB, or one sample */

/* --- the bytes of a segment -------------------------------------------------------- */

struct scan {
	char *bytes;
	size_t len;
	struct history_segment *s;
	struct code_map map;
	bool has_map;
	/* each good sample, and where the records behind the last one begin */
	int (*see)(void *ctx, const struct scan *sc, size_t since, size_t at);
	void *ctx;
};

static const struct memtap_rec *rec_at(const struct scan *sc, size_t at)
{
	return (const void *)(sc->bytes + at);
}

/* Of what @sum has and @rec, with 0 where @check, which is in it, is now. */
static bool fits(struct wire_sum *sum, const struct memtap_rec *rec, __u64 *check)
{
	const __u64 was = *check;

	*check = 0;
	wire_sum_add(sum, rec);
	*check = was;
	return sum->checksum == was;
}

static void take_note(struct history_segment *s, const struct memtap_rec *rec)
{
	const char *text = (const char *)rec + sizeof(struct memtap_rec_note);
	const size_t len = rec->len - sizeof(struct memtap_rec_note);

	if (!memchr(text, 0, len))
		return;
	if (!strncmp(text, "boot=", 5))
		snprintf(s->boot, sizeof(s->boot), "%s", text + 5);
	else if (!strncmp(text, "interval=", 9))
		s->interval = strtod(text + 9, NULL);
	if (!(s->interval >= 0 && s->interval < 1e6))
		s->interval = 0;
}

static void take_header(struct history_segment *s, const struct memtap_rec *rec)
{
	const struct memtap_rec_header *h = (const void *)rec;

	snprintf(s->release, sizeof(s->release), "%.64s", h->release);
	snprintf(s->host, sizeof(s->host), "%.64s", h->host);
	snprintf(s->version, sizeof(s->version), "%.31s", h->version);
	s->page = h->page_size;
}

/* Up to FIELDS, which its checksum is about; 0: this is no history. */
static size_t scan_head(struct scan *sc)
{
	const size_t text = offsetof(struct memtap_rec_fields, text);
	const struct memtap_rec_header *h = (const void *)sc->bytes;
	struct memtap_rec_fields *f;
	const struct memtap_rec *rec;
	struct wire_sum sum;
	u64 pos = 0;
	u32 bad;

	wire_sum_init(&sum);
	while ((rec = wire_next(sc->bytes, sc->len, &pos, &bad))) {
		if (pos == rec->len && (rec->type != MEMTAP_REC_HEADER ||
					h->magic != MEMTAP_MAGIC))
			return 0;
		if (rec->type != MEMTAP_REC_FIELDS) {
			wire_sum_add(&sum, rec);
			continue;
		}
		break;
	}
	if (!rec)
		return 0;
	f = (struct memtap_rec_fields *)(sc->bytes + pos - rec->len);
	if (!fits(&sum, rec, &f->check) ||
	    code_map_make(&sc->map, (const char *)rec + text, rec->len - text))
		return 0;
	sc->has_map = true;
	for (u64 at = 0; at < pos;) {
		rec = wire_next(sc->bytes, sc->len, &at, &bad);
		if (rec->type == MEMTAP_REC_HEADER)
			take_header(sc->s, rec);
		else if (rec->type == MEMTAP_REC_NOTE)
			take_note(sc->s, rec);
	}
	return (size_t)pos;
}

static bool is_sample(const struct scan *sc, size_t at, struct wire_sum *sum, u64 *nr, bool *key)
{
	struct memtap_rec_sample *s = (struct memtap_rec_sample *)(sc->bytes + at);

	if (s->used > s->rec.len - sizeof(*s) || !fits(sum, &s->rec, &s->check))
		return false;
	*nr = s->nr;
	*key = s->flags & MEMTAP_SAMPLE_KEY;
	return true;
}

/* Behind damage: a sample that does not need what is damaged; or the end. */
static size_t find_key(const struct scan *sc, size_t at)
{
	struct wire_sum sum;
	u64 pos, nr;
	bool key;
	u32 bad;

	for (; at + sizeof(struct memtap_rec_sample) <= sc->len; at += 8) {
		if (rec_at(sc, at)->type != MEMTAP_REC_SAMPLE)
			continue;
		pos = at;
		wire_sum_init(&sum);
		if (wire_next(sc->bytes, sc->len, &pos, &bad) &&
		    is_sample(sc, at, &sum, &nr, &key) && key)
			return at;
	}
	return sc->len;
}

/* Zeros up to the end are room that was not needed. */
static size_t end_of(const struct scan *sc, size_t at)
{
	size_t end = sc->len;

	while (end > at && !sc->bytes[end - 1])
		end--;
	return end;
}

/* -errno of what @see returned */
static int scan(struct scan *sc)
{
	size_t at = scan_head(sc), since = at;
	const struct memtap_rec *rec;
	struct wire_sum sum;
	u64 nr = 0, next = 0;
	bool key, lost = false;
	u64 pos = at;
	u32 bad;
	int err = 0;

	sc->s->damaged = 0;
	sc->s->closed = false;
	if (!at) {
		sc->s->damaged = end_of(sc, 0);
		return 0;
	}
	wire_sum_init(&sum);
	while (!err && at < sc->len) {
		rec = wire_next(sc->bytes, sc->len, &pos, &bad);
		if (rec && rec->type == MEMTAP_REC_END && pos == sc->len) {
			sc->s->closed = true;
			break;
		}
		if (rec && rec->type != MEMTAP_REC_SAMPLE) {
			wire_sum_add(&sum, rec);
			at = (size_t)pos;
			continue;
		}
		if (rec && is_sample(sc, at, &sum, &nr, &key) && (key || (!lost && nr == next))) {
			err = sc->see(sc->ctx, sc, since, at);
			next = nr + 1;
			lost = false;
			at = since = (size_t)pos;
			wire_sum_init(&sum);
			continue;
		}
		if (!rec && end_of(sc, since) == since)
			break;
		lost = true;
		at = find_key(sc, since + 8);
		sc->s->damaged += (at == sc->len ? end_of(sc, since) : at) - since;
		pos = since = at;
		wire_sum_init(&sum);
	}
	return err;
}

static int read_segment(const char *dir, __u64 number, char **bytes, size_t *len)
{
	char path[4096], name[SEGMENT_NAME];
	struct stat st;
	ssize_t n;
	int fd;

	segment_name(number, name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > SEGMENT_LARGEST) {
		close(fd);
		return -EFBIG;
	}
	*bytes = malloc((size_t)st.st_size + 8);
	for (*len = 0; *bytes && *len < (size_t)st.st_size; *len += (size_t)n) {
		n = read(fd, *bytes + *len, (size_t)st.st_size - *len);
		if (n <= 0)
			break;
	}
	close(fd);
	return *bytes ? 0 : -ENOMEM;
}

/* --- the index ------------------------------------------------------------------- */

struct indexing {
	struct history *h;
	size_t room_samples, room_segments, room_events;
};

static int add_event(struct indexing *x, const struct memtap_rec *rec)
{
	struct history *h = x->h;
	struct history_event *more = ids_grow(h->events, h->nr_events, &x->room_events,
					      sizeof(*more)), *e;
	struct memtap_rec *copy = malloc(rec->len);

	if (!more || !copy) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, rec, rec->len);
	h->events = more;
	e = &more[h->nr_events++];
	e->sample = h->nr_samples;
	e->rec = copy;
	e->note = rec->type == MEMTAP_REC_NOTE ?
		  (const char *)copy + sizeof(struct memtap_rec_note) : NULL;
	return 0;
}

/* What happened before a sample. */
static int add_events(struct indexing *x, const struct scan *sc, size_t from, size_t to)
{
	const size_t head = sizeof(struct memtap_rec_note);
	const struct memtap_rec *rec;
	int err = 0;

	for (; !err && from < to; from += rec->len) {
		rec = rec_at(sc, from);
		if (rec->type == MEMTAP_REC_NOTE ?
		    !!memchr((const char *)rec + head, 0, rec->len - head) :
		    rec->type == MEMTAP_REC_OOM || rec->type == MEMTAP_REC_KSYM ||
		    rec->type == MEMTAP_REC_USYM ||
		    (rec->type == MEMTAP_REC_RECORDED &&
		     rec->len >= sizeof(struct memtap_rec_recorded)))
			err = add_event(x, rec);
	}
	return err;
}

static int add_sample(void *ctx, const struct scan *sc, size_t since, size_t at)
{
	const struct memtap_rec_sample *s = (const void *)rec_at(sc, at);
	struct indexing *x = ctx;
	struct history *h = x->h;
	struct history_sample *more = ids_grow(h->samples, h->nr_samples, &x->room_samples,
					       sizeof(*more));
	int err;

	if (!more)
		return -ENOMEM;
	h->samples = more;
	err = add_events(x, sc, since, at);
	if (err)
		return err;
	more[h->nr_samples++] = (struct history_sample){
		.real_ns = s->real_ns, .boot_ns = s->boot_ns, .ns = s->ns,
		.segment = (__u32)h->nr_segments, .key = s->flags & MEMTAP_SAMPLE_KEY,
		.offset = at,
	};
	sc->s->nr++;
	return 0;
}

static int add_segment(struct indexing *x, __u64 number)
{
	struct scan sc = { .see = add_sample, .ctx = x };
	struct history *h = x->h;
	struct history_segment *more = ids_grow(h->segments, h->nr_segments, &x->room_segments,
						sizeof(*more));
	char *bytes = NULL;
	int err;

	if (!more)
		return -ENOMEM;
	h->segments = more;
	err = read_segment(h->dir, number, &bytes, &sc.len);
	if (err == -ENOENT)
		return 0;	/* it was the oldest */
	if (err)
		return err;
	sc.bytes = bytes;
	sc.s = &more[h->nr_segments];
	memset(sc.s, 0, sizeof(*sc.s));
	sc.s->number = number;
	sc.s->bytes = sc.len;
	sc.s->first = h->nr_samples;
	err = scan(&sc);
	h->nr_segments++;
	free(bytes);
	return err;
}

static int by_number(const void *a, const void *b)
{
	const __u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

static int list_segments(DIR *dir, __u64 **out, size_t *nr)
{
	size_t room = 0;
	struct dirent *d;
	__u64 *more, n;

	*nr = 0;
	while ((d = readdir(dir))) {
		n = segment_number(d->d_name);
		if (!n)
			continue;
		more = ids_grow(*out, *nr, &room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		*out = more;
		more[(*nr)++] = n;
	}
	if (*nr)
		qsort(*out, *nr, sizeof(**out), by_number);
	return 0;
}

static int index_all(struct history *h, DIR *dir)
{
	struct indexing x = { .h = h };
	__u64 *numbers = NULL;
	size_t nr = 0;
	int err = list_segments(dir, &numbers, &nr);

	/* who holds the lock writes */
	h->running = flock(dirfd(dir), LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	/* a service that starts now is not in our way */
	flock(dirfd(dir), LOCK_UN);
	for (size_t i = 0; !err && i < nr; i++)
		err = add_segment(&x, numbers[i]);
	/* of the last one a sample may be on its way */
	if (h->running && h->nr_segments)
		h->segments[h->nr_segments - 1].damaged = 0;
	free(numbers);
	return err;
}

int history_open(const char *path, struct history **out, char err[HISTORY_ERR])
{
	struct history *h;
	DIR *dir = opendir(path);
	int ret;

	*out = NULL;
	if (!dir) {
		ret = -errno;
		snprintf(err, HISTORY_ERR, ret == -ENOENT ? "there is no history: %s does not "
			 "exist; `memtap history start` records one" : "%s: cannot be read: %s",
			 path, strerror(-ret));
		return ret;
	}
	h = calloc(1, sizeof(*h));
	if (h)
		h->dir = strdup(path);
	ret = h && h->dir ? index_all(h, dir) : -ENOMEM;
	closedir(dir);
	if (!ret && !h->nr_samples) {
		ret = -ENODATA;
		snprintf(err, HISTORY_ERR, "there is no history in %s; `memtap history start` "
			 "records one", path);
	} else if (ret) {
		snprintf(err, HISTORY_ERR, "%s: %s", path, strerror(-ret));
	}
	if (ret)
		history_close(h);
	else
		*out = h;
	return ret;
}

void history_close(struct history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->nr_events; i++)
		free((void *)h->events[i].rec);
	free(h->events);
	free(h->segments);
	free(h->samples);
	free(h->dir);
	free(h);
}

/* --- a sample --------------------------------------------------------------------- */

struct history_cursor {
	const struct history *h;
	char *bytes;
	size_t len, segment;		/* of these bytes; NONE */
	struct code_map map;
	struct history_segment dummy;
	size_t at;			/* the sample that @now is; NONE */
	struct machine before, now;
	struct machine_list ended;
};

#define NONE	((size_t)-1)

struct history_cursor *history_cursor(const struct history *h)
{
	struct history_cursor *c = calloc(1, sizeof(*c));

	if (c) {
		c->h = h;
		c->segment = c->at = NONE;
	}
	return c;
}

static int load(struct history_cursor *c, size_t segment)
{
	struct scan sc = { .s = &c->dummy };
	int err;

	if (c->segment == segment)
		return 0;
	free(c->bytes);
	c->bytes = NULL;
	c->segment = NONE;
	err = read_segment(c->h->dir, c->h->segments[segment].number, &c->bytes, &c->len);
	if (err)
		return err;
	sc.bytes = c->bytes;
	sc.len = c->len;
	if (!scan_head(&sc))
		return -EBADMSG;
	c->map = sc.map;
	c->segment = segment;
	return 0;
}

/* Sample @i from the one before it, or from nothing. */
static int step(struct history_cursor *c, size_t i)
{
	const struct history_sample *s = &c->h->samples[i];
	const struct history_segment *seg = &c->h->segments[s->segment];
	const struct memtap_rec_sample *rec;
	struct machine now;
	u64 pos = s->offset;
	u32 bad;
	int err;

	rec = (const void *)wire_next(c->bytes, c->len, &pos, &bad);
	if (!rec || rec->rec.type != MEMTAP_REC_SAMPLE ||
	    rec->used > rec->rec.len - sizeof(*rec))
		return -EBADMSG;
	c->ended.nr = 0;
	err = code_get(&c->map, s->key ? NULL : &c->now, rec->data, rec->used, &now,
		       s->key ? NULL : &c->ended);
	snprintf(now.release, sizeof(now.release), "%s", seg->release);
	snprintf(now.host, sizeof(now.host), "%s", seg->host);
	machine_free(&c->before);
	c->before = c->now;
	c->now = now;
	c->at = err ? NONE : i;
	return err;
}

int history_read(struct history_cursor *c, size_t i, const struct machine **m,
		 const struct machine_list **ended)
{
	const struct history_sample *all = c->h->samples;
	size_t from = i;
	int err = 0;

	if (c->at != i) {
		while (!all[from].key && c->at != from - 1)
			from--;
		err = load(c, all[i].segment);
	}
	for (; !err && c->at != i; from++)
		err = step(c, from);
	*m = &c->now;
	if (ended)
		*ended = &c->ended;
	return err;
}

int history_copy(struct history_cursor *c, size_t i, struct machine *m)
{
	const struct machine *now;
	struct rows_row *r;
	int err = history_read(c, i, &now, NULL);

	memset(m, 0, sizeof(*m));
	r = err ? NULL : malloc(sizeof(*r));
	if (!err && !r)
		err = -ENOMEM;
	for (int t = 0; !err && t < NR_ROWS_TABLES; t++)
		for (size_t k = 0; !err && k < rows_nr(now, (enum rows_table)t); k++) {
			rows_get(now, (enum rows_table)t, k, r);
			err = rows_add(m, (enum rows_table)t, r);
			err = err == -E2BIG ? 0 : err;
		}
	if (!err) {
		memcpy(m->release, now->release, sizeof(m->release));
		memcpy(m->host, now->host, sizeof(m->host));
	}
	free(r);
	return err;
}

void history_cursor_free(struct history_cursor *c)
{
	if (!c)
		return;
	machine_free(&c->before);
	machine_free(&c->now);
	free(c->ended.at);
	free(c->bytes);
	free(c);
}
