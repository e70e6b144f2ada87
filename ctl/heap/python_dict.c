// SPDX-License-Identifier: GPL-2.0-or-later
/* Read dicts and the text of str objects of CPython; see python.h. */
#include <stdlib.h>
#include <string.h>

#include "heap/python_int.h"

#define MOST_ENTRIES	(1ULL << 40)
#define SEARCHED	1024U	/* entries, for one key */
#define MOST_TEXT	4096

#define MA_KEYS		32
#define MA_VALUES	40
/* 2.7 */
#define MA_MASK		32
#define MA_TABLE	40

/* ---- keys ---- */

/* Before 3.11: sizes as they are. */
static bool compact_keys(struct python *py, struct python_dict *d)
{
	__u64 head[5], index;

	if (!python_read(py, d->keys, head, sizeof(head)))
		return false;
	d->nr = head[4];
	d->room = d->nr + (head[3] <= head[1] ? head[3] : 0);
	if (!head[1] || head[1] & (head[1] - 1) || head[1] > MOST_ENTRIES || d->nr > head[1])
		return false;
	index = head[1] <= 0xff ? 1 : head[1] <= 0xffff ? 2 : head[1] <= 0xffffffff ? 4 : 8;
	d->entries = d->keys + sizeof(head) + head[1] * index;
	return true;
}

static bool log_keys(struct python *py, struct python_dict *d)
{
	unsigned char head[32];

	if (!python_read(py, d->keys, head, sizeof(head)) || head[8] > 40 || head[9] > 43 ||
	    head[10] > 2)
		return false;
	memcpy(&d->nr, head + 24, sizeof(d->nr));
	memcpy(&d->room, head + 16, sizeof(d->room));
	if (d->nr > 1ULL << head[8] || d->room > 1ULL << head[8])
		return false;
	d->room += d->nr;
	d->entries = d->keys + sizeof(head) + (1ULL << head[9]);
	if (head[10]) {
		d->stride = 2 * WORD;
		d->key = 0;
		d->value = WORD;
	}
	return true;
}

bool python_keys(struct python *py, __u64 keys, struct python_dict *d)
{
	*d = (struct python_dict){ .keys = keys, .stride = 3 * WORD, .key = WORD,
				   .value = 2 * WORD };
	if (keys < PAGE || keys % WORD)
		return false;
	switch (py->layout->dict) {
	case DICT_COMPACT:
		return compact_keys(py, d);
	case DICT_LOG:
		return log_keys(py, d);
	default:
		return false;
	}
}

/* 2.7: a table, which is in the dict itself, if it is small. */
static bool open_dict(struct python *py, __u64 addr, struct python_dict *d)
{
	__u64 mask, table;

	if (!python_word(py, addr + MA_MASK, &mask) || !python_word(py, addr + MA_TABLE, &table) ||
	    mask & (mask + 1) || mask > MOST_ENTRIES || table < PAGE || table % WORD)
		return false;
	*d = (struct python_dict){ .keys = table, .entries = table, .nr = mask + 1,
				   .room = mask + 1, .stride = 3 * WORD, .key = WORD,
				   .value = 2 * WORD };
	return true;
}

bool python_dict(struct python *py, __u64 addr, struct python_dict *d)
{
	__u64 keys, values;

	if (py->layout->dict == DICT_OPEN)
		return open_dict(py, addr, d);
	if (!python_word(py, addr + MA_KEYS, &keys) ||
	    !python_word(py, addr + MA_VALUES, &values) || !python_keys(py, keys, d))
		return false;
	d->values = values;
	if (values && python_managed(py) == MANAGED_INLINE)
		d->values += WORD;
	return true;
}

bool python_entry(struct python *py, const struct python_dict *d, __u64 i,
		  struct python_entry *e)
{
	const __u64 at = d->entries + i * d->stride;

	e->key_at = at + d->key;
	e->value_at = d->values ? d->values + i * WORD : at + d->value;
	return python_word(py, e->key_at, &e->key) && python_word(py, e->value_at, &e->value);
}

__u64 python_dict_get(struct python *py, __u64 dict, const char *key)
{
	struct python_dict d;
	struct python_entry e;
	char text[64];

	if (dict < PAGE || !python_dict(py, dict, &d))
		return 0;
	for (__u64 i = 0; i < d.nr && i < SEARCHED && python_entry(py, &d, i, &e); i++)
		if (e.key && e.value && python_text(py, e.key, text, sizeof(text)) &&
		    !strcmp(text, key))
			return e.value;
	return 0;
}

/* ---- text ---- */

static size_t put_utf8(char *to, __u32 c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static bool wide_text(struct python *py, __u64 at, __u64 nr, __u32 size, char *text, size_t len)
{
	unsigned char bytes[MOST_TEXT];
	size_t used = 0;
	__u32 c;

	if (nr * size > sizeof(bytes) || !python_read(py, at, bytes, nr * size))
		return false;
	for (__u64 i = 0; i < nr; i++) {
		c = 0;
		memcpy(&c, bytes + i * size, size);
		if (used + 5 > len || !c || c > 0x10ffff)
			return false;
		used += put_utf8(text + used, c);
	}
	text[used] = '\0';
	return true;
}

/* 2.7: the bytes of a str. */
static bool old_text(struct python *py, __u64 addr, char *text, size_t len)
{
	__u64 nr;

	if (!python_word(py, addr + PY_SIZE, &nr) || nr >= len ||
	    !python_read(py, addr + 36, text, nr))
		return false;
	text[nr] = '\0';
	return strlen(text) == nr;
}

/* Subclasses of str have their text elsewhere: they are none here. */
bool python_text(struct python *py, __u64 addr, char *text, size_t len)
{
	const struct python_type *t = python_type_of(py, addr);
	__u64 nr, state;
	__u32 kind;

	if (!t || !t->exact || !(t->rule == RULE_TEXT || (t->rule == RULE_BARE &&
	    !py->layout->ascii && !strcmp(t->name, "str"))))
		return false;
	if (!py->layout->ascii)
		return old_text(py, addr, text, len);
	if (!python_word(py, addr + 16, &nr) || !python_word(py, addr + 32, &state))
		return false;
	kind = TEXT_KIND(state);
	if ((kind != 1 && kind != 2 && kind != 4) || !(state & TEXT_COMPACT) || nr >= len)
		return false;
	addr += py->layout->ascii;
	if (!(state & TEXT_ASCII))		/* not ASCII: its UTF-8 may be kept, too */
		addr += py->layout->ascii == 48 ? 24 : 16;
	return wide_text(py, addr, nr, kind, text, len);
}
