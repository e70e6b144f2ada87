// SPDX-License-Identifier: GPL-2.0-or-later
/* Reuse unwind tables that were built before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "unwind/int.h"

#define MAGIC	0x0a0d53574f52544dULL	/* "MTROWS\r\n" */
/* Of this format, and of what is made: changes with each change of the rules. */
#define VERSION	7

struct header {
	__u64 magic;
	__u32 version;
	__u32 nr_rows, nr_rules;
	__u32 frame_pointers;
	struct unwind_id id;
	__u64 functions, bytes, covered, none, none_rows, damaged;
	__u64 checksum;			/* of all that follows, and of this with 0 here */
};

static __u64 checksum_of(const struct header *h, const struct memtap_rule *rules,
			 const __u32 *rows, const __u16 *kinds)
{
	struct header plain = *h;
	__u64 sum;

	plain.checksum = 0;
	sum = unwind_digest(UNWIND_DIGEST, &plain, sizeof(plain));
	sum = unwind_digest(sum, rules, h->nr_rules * sizeof(*rules));
	sum = unwind_digest(sum, rows, h->nr_rows * sizeof(*rows));
	return unwind_digest(sum, kinds, h->nr_rows * sizeof(*kinds));
}

static int copy_arrays(const struct header *h, const char *p, struct unwind_table *t)
{
	t->rules = malloc(h->nr_rules * sizeof(*t->rules));
	t->rows = malloc(h->nr_rows * sizeof(*t->rows));
	t->kinds = malloc(h->nr_rows * sizeof(*t->kinds));
	if (!t->rules || !t->rows || !t->kinds)
		return -ENOMEM;
	memcpy(t->rules, p, h->nr_rules * sizeof(*t->rules));
	p += h->nr_rules * sizeof(*t->rules);
	memcpy(t->rows, p, h->nr_rows * sizeof(*t->rows));
	p += h->nr_rows * sizeof(*t->rows);
	memcpy(t->kinds, p, h->nr_rows * sizeof(*t->kinds));
	t->nr_rows = h->nr_rows;
	t->nr_rules = h->nr_rules;
	return 0;
}

static int parse(const char *buf, size_t len, const struct unwind_id *id,
		 struct unwind_table *t)
{
	struct header h;
	int err;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, buf, sizeof(h));
	if (h.magic != MAGIC || h.version != VERSION || memcmp(&h.id, id, sizeof(*id)))
		return -ESTALE;
	if (!h.nr_rows || h.nr_rows > MEMTAP_MAX_ROWS || !h.nr_rules ||
	    h.nr_rules > MEMTAP_MAX_RULES ||
	    len != sizeof(h) + h.nr_rules * sizeof(*t->rules) +
		   h.nr_rows * (sizeof(*t->rows) + sizeof(*t->kinds)))
		return -EBADMSG;
	err = copy_arrays(&h, buf + sizeof(h), t);
	if (!err && (checksum_of(&h, t->rules, t->rows, t->kinds) != h.checksum ||
		     !unwind_is_sound(t)))
		err = -EBADMSG;
	if (err) {
		unwind_free(t);
		return err;
	}
	t->coverage = (struct unwind_coverage) {
		.functions = h.functions,
		.bytes = h.bytes,
		.covered = h.covered,
		.none = h.none,
		.none_rows = h.none_rows,
		.damaged = h.damaged,
		.frame_pointers = h.frame_pointers,
	};
	t->cached = true;
	return 0;
}

static int load(const char *name, const struct unwind_id *id, struct unwind_table *t)
{
	char *buf;
	size_t len;
	int err = unwind_store_read(UNWIND_TABLES, name, &buf, &len);

	if (err)
		return err;
	memset(t, 0, sizeof(*t));
	err = parse(buf, len, id, t);
	free(buf);
	return err;
}

static void keep(const char *name, const struct unwind_id *id, const struct unwind_table *t)
{
	const struct unwind_coverage *c = &t->coverage;
	struct header h = {
		.magic = MAGIC,
		.version = VERSION,
		.nr_rows = t->nr_rows,
		.nr_rules = t->nr_rules,
		.frame_pointers = c->frame_pointers,
		.id = *id,
		.functions = c->functions,
		.bytes = c->bytes,
		.covered = c->covered,
		.none = c->none,
		.none_rows = c->none_rows,
		.damaged = c->damaged,
	};
	const struct iovec iov[] = {
		{ &h, sizeof(h) },
		{ t->rules, t->nr_rules * sizeof(*t->rules) },
		{ t->rows, t->nr_rows * sizeof(*t->rows) },
		{ t->kinds, t->nr_rows * sizeof(*t->kinds) },
	};

	h.checksum = checksum_of(&h, t->rules, t->rows, t->kinds);
	unwind_store_write(UNWIND_TABLES, name, iov, 4);
}

int unwind_get(int fd, struct unwind_table *t)
{
	char name[UNWIND_NAME_MAX];
	struct unwind_id id, after;
	int err;

	if (unwind_id_get(fd, &id))
		return unwind_compile(fd, t);
	unwind_id_name(&id, name);
	if (!load(name, &id, t))
		return 0;
	err = unwind_compile(fd, t);
	/* a file that was changed in the meantime is not what it was called */
	if (!err && !unwind_id_get(fd, &after) && !memcmp(&id, &after, sizeof(id)))
		keep(name, &id, t);
	return err;
}
