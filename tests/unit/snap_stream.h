/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SNAP_STREAM_H
#define _SNAP_STREAM_H

/* A stream of records under construction, for tests of what is made of it. */
#include <stdlib.h>
#include <string.h>

#include "snap/snap.h"
#include "wire.h"

static char *stream;
static size_t stream_len;
static struct wire_sum sum;

static inline void *add(u32 type, size_t len)
{
	size_t room = (len + 7) & ~(size_t)7;

	stream = realloc(stream, stream_len + room);
	stream_len += room;
	return wire_begin(stream + stream_len - room, room, type, len);
}

static inline void start(void)
{
	struct memtap_rec_header *h;

	free(stream);
	stream = NULL;
	stream_len = 0;
	h = add(MEMTAP_REC_HEADER, sizeof(*h));
	h->magic = MEMTAP_MAGIC;
	memset(h->host, 'x', sizeof(h->host));
}

/* Ends the records from @from on. */
static inline void add_end(size_t from)
{
	struct memtap_rec_end e, *end;
	const struct memtap_rec *rec;
	u64 pos = 0;
	u32 bad;

	wire_sum_init(&sum);
	while ((rec = wire_next(stream + from, stream_len - from, &pos, &bad)))
		wire_sum_add(&sum, rec);
	wire_end(&sum, &e);
	end = add(MEMTAP_REC_END, sizeof(*end));
	*end = e;
}

static char err[256];

/* Decodes the first @len bytes of the stream. */
static inline int decode(size_t len, struct snap **s)
{
	char *copy = malloc(len + 1);

	memcpy(copy, stream, len);
	return snap_decode(copy, len, s, err);
}

static inline int verdict(void)
{
	struct snap *s;
	int ret;

	add_end(0);
	ret = decode(stream_len, &s);
	snap_free(s);
	return ret;
}

#endif
