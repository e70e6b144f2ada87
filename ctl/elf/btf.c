// SPDX-License-Identifier: GPL-2.0-or-later
/* Read BTF: types of the kernel.  Whatever the bytes are, reading stays within them, and ends. */
#include <stdlib.h>
#include <string.h>

#include "elf/btf.h"

#define MAGIC		0xeb9f
#define MAX_BYTES	(256U << 20)
#define MAX_TYPES	(4U << 20)
#define MAX_CHAIN	32		/* typedefs, const, ... of one type */
#define MAX_NESTED	8		/* anonymous structures */
#define MAX_LOOKS	65536		/* members that one search looks at */

enum { INT = 1, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC,
       FUNC_PROTO, VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64, NR_KINDS };

struct header {
	__u16 magic;
	__u8 version, flags;
	__u32 hdr_len, type_off, type_len, str_off, str_len;
};

struct raw {
	__u32 name, info, size;		/* or a type's number */
};

struct raw_member {
	__u32 name, type, offset;
};

struct raw_param {
	__u32 name, type;
};

struct btf {
	char *bytes;
	const char *types, *strings;
	__u32 strings_len, nr;
	__u32 *at;			/* where type 1, ... begins */
};

static __u32 kind_of(const struct raw *t)
{
	return t->info >> 24 & 0x1f;
}

static __u32 nr_of(const struct raw *t)
{
	return t->info & 0xffff;
}

/* Bytes behind struct raw, or -1: an unknown kind. */
static long more(const struct raw *t)
{
	static const struct {
		signed char once, each;
	} size[NR_KINDS] = {
		[INT] = { 4, 0 }, [ARRAY] = { 12, 0 }, [STRUCT] = { 0, 12 }, [UNION] = { 0, 12 },
		[ENUM] = { 0, 8 }, [FUNC_PROTO] = { 0, 8 }, [VAR] = { 4, 0 },
		[DATASEC] = { 0, 12 }, [DECL_TAG] = { 4, 0 }, [ENUM64] = { 0, 12 },
	};
	const __u32 kind = kind_of(t);

	if (!kind || kind >= NR_KINDS)
		return -1;
	return size[kind].once + (long)size[kind].each * nr_of(t);
}

/* What follows an unknown kind cannot be found: it is left out. */
static bool find_types(struct btf *b, __u32 len)
{
	__u32 room = 0, at = 0;
	struct raw t;
	long behind;

	while (len - at >= sizeof(t) && b->nr < MAX_TYPES) {
		memcpy(&t, b->types + at, sizeof(t));
		behind = more(&t);
		if (behind < 0 || (unsigned long)behind > len - at - sizeof(t))
			break;
		if (b->nr == room) {
			void *grown;

			room = room ? 2 * room : 4096;
			grown = realloc(b->at, room * sizeof(*b->at));
			if (!grown)
				return false;
			b->at = grown;
		}
		b->at[b->nr++] = at;
		at += (__u32)sizeof(t) + (__u32)behind;
	}
	return b->nr;
}

static bool read_header(struct btf *b, size_t len)
{
	struct header h;
	size_t rest;

	if (len < sizeof(h))
		return false;
	memcpy(&h, b->bytes, sizeof(h));
	if (h.magic != MAGIC || h.version != 1 || h.hdr_len < sizeof(h) || h.hdr_len > len)
		return false;
	rest = len - h.hdr_len;
	if (h.type_off > rest || h.type_len > rest - h.type_off || h.type_off % 4 ||
	    h.str_off > rest || h.str_len > rest - h.str_off || !h.str_len ||
	    b->bytes[h.hdr_len + h.str_off + h.str_len - 1])
		return false;
	b->types = b->bytes + h.hdr_len + h.type_off;
	b->strings = b->bytes + h.hdr_len + h.str_off;
	b->strings_len = h.str_len;
	return find_types(b, h.type_len);
}

struct btf *btf_new(const void *bytes, size_t len)
{
	struct btf *b = len && len <= MAX_BYTES ? calloc(1, sizeof(*b)) : NULL;

	if (!b)
		return NULL;
	b->bytes = malloc(len);
	if (b->bytes) {
		memcpy(b->bytes, bytes, len);
		if (read_header(b, len))
			return b;
	}
	btf_free(b);
	return NULL;
}

void btf_free(struct btf *b)
{
	if (!b)
		return;
	free(b->at);
	free(b->bytes);
	free(b);
}

static bool raw_type(const struct btf *b, __u32 id, struct raw *t)
{
	if (!id || id > b->nr)
		return false;
	memcpy(t, b->types + b->at[id - 1], sizeof(*t));
	return true;
}

static const char *behind(const struct btf *b, __u32 id)
{
	return b->types + b->at[id - 1] + sizeof(struct raw);
}

static const char *string(const struct btf *b, __u32 at)
{
	return at < b->strings_len ? b->strings + at : "";
}

static bool is_name(const struct btf *b, __u32 at, const char *name, size_t len)
{
	const char *s = string(b, at);

	return strlen(s) == len && !memcmp(s, name, len);
}

/* Without what does not change how it looks in memory. */
static bool strip(const struct btf *b, __u32 *id, struct raw *t)
{
	for (int i = 0; i < MAX_CHAIN; i++) {
		if (!raw_type(b, *id, t))
			return false;
		switch (kind_of(t)) {
		case TYPEDEF:
		case VOLATILE:
		case CONST:
		case RESTRICT:
		case TYPE_TAG:
			*id = t->size;
			break;
		default:
			return true;
		}
	}
	return false;
}

static void set_int(const struct btf *b, __u32 id, struct ctype *type)
{
	__u32 more;

	memcpy(&more, behind(b, id), sizeof(more));
	type->kind = CTYPE_NUMBER;
	type->is_signed = more >> 24 & 1;
	type->is_char = type->size == 1;
}

struct ctype btf_type(const struct btf *b, __u32 id)
{
	struct ctype type = { .id = 0 };
	__u32 array[3];
	struct raw t;

	if (!strip(b, &id, &t))
		return type;
	type.id = id;
	type.size = t.size;
	switch (kind_of(&t)) {
	case INT:
		set_int(b, id, &type);
		break;
	case ENUM:
	case ENUM64:
		type.kind = CTYPE_NUMBER;
		type.is_signed = t.info >> 31;
		break;
	case PTR:
		type.kind = CTYPE_POINTER;
		type.size = 8;
		type.to = t.size;
		break;
	case ARRAY:
		memcpy(array, behind(b, id), sizeof(array));
		type.kind = CTYPE_ARRAY;
		type.to = array[0];
		type.count = array[2];
		break;
	case STRUCT:
	case UNION:
		type.kind = CTYPE_RECORD;
		break;
	default:
		break;
	}
	if (type.kind == CTYPE_NUMBER && type.size != 1 && type.size != 2 && type.size != 4 &&
	    type.size != 8)
		type.kind = CTYPE_OTHER;
	return type;
}

bool btf_param(const struct btf *b, const char *function, const char *name, size_t len, int *n,
	       struct ctype *type)
{
	const size_t function_len = strlen(function);
	struct raw t, proto;
	struct raw_param p;

	for (__u32 id = 1; id <= b->nr; id++) {
		raw_type(b, id, &t);
		if (kind_of(&t) != FUNC || !is_name(b, t.name, function, function_len))
			continue;
		if (!raw_type(b, t.size, &proto) || kind_of(&proto) != FUNC_PROTO)
			return false;
		if (!name && *n < 0) {
			*type = btf_type(b, proto.size);
			return true;
		}
		for (__u32 i = 0; i < nr_of(&proto); i++) {
			memcpy(&p, behind(b, t.size) + i * sizeof(p), sizeof(p));
			if (name ? !is_name(b, p.name, name, len) : (int)i != *n)
				continue;
			*n = (int)i;
			*type = btf_type(b, p.type);
			return true;
		}
		return false;
	}
	return false;
}

static bool search(const struct btf *b, __u32 id, const char *name, size_t len,
		   struct cmember *m, int nested, unsigned int *looks)
{
	struct raw_member member;
	bool fields;
	struct raw t;

	if (nested > MAX_NESTED || !strip(b, &id, &t) ||
	    (kind_of(&t) != STRUCT && kind_of(&t) != UNION))
		return false;
	fields = t.info >> 31;
	for (__u32 i = 0; i < nr_of(&t); i++) {
		if (++*looks > MAX_LOOKS)
			return false;
		memcpy(&member, behind(b, id) + i * sizeof(member), sizeof(member));
		m->offset = fields ? member.offset & 0xffffff : member.offset;
		m->bits = fields ? member.offset >> 24 : 0;
		if (is_name(b, member.name, name, len)) {
			m->type = btf_type(b, member.type);
			return true;
		}
		if (!*string(b, member.name)) {
			const __u64 offset = m->offset;

			if (search(b, member.type, name, len, m, nested + 1, looks)) {
				m->offset += offset;
				return true;
			}
		}
	}
	return false;
}

bool btf_member(const struct btf *b, const struct ctype *record, const char *name, size_t len,
		struct cmember *m)
{
	unsigned int looks = 0;

	memset(m, 0, sizeof(*m));
	return len && search(b, record->id, name, len, m, 0, &looks);
}

static struct ctype type_of(void *from, __u32 id)
{
	return btf_type(from, id);
}

static bool member_of(void *from, const struct ctype *record, const char *name, size_t len,
		      struct cmember *m)
{
	return btf_member(from, record, name, len, m);
}

struct ctypes btf_types(const struct btf *b)
{
	return (struct ctypes){ (void *)b, false, false, type_of, member_of };
}
