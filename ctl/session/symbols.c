// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the names of flags and constants from a tracepoint's format. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/symbols.h"

#define MAX_DEPTH	64

/* An expression of C, as far as the kernel's headers need it for constants. */
struct expression {
	const char *pos, *end;
	bool bad;
	int depth;
};

static void blanks(struct expression *e)
{
	while (e->pos < e->end && isspace((unsigned char)*e->pos))
		e->pos++;
}

static bool take(struct expression *e, const char *token)
{
	const size_t n = strlen(token);

	blanks(e);
	if ((size_t)(e->end - e->pos) < n || strncmp(e->pos, token, n))
		return false;
	e->pos += n;
	return true;
}

static __u64 any(struct expression *e);

/* "(unsigned long)": words and blanks alone */
static bool take_cast(struct expression *e)
{
	const char *before = e->pos;
	size_t words = 0;

	if (!take(e, "("))
		return false;
	for (blanks(e); e->pos < e->end && (isalpha((unsigned char)*e->pos) || *e->pos == '_');
	     blanks(e), words++)
		while (e->pos < e->end && (isalnum((unsigned char)*e->pos) || *e->pos == '_'))
			e->pos++;
	if (words && take(e, ")"))
		return true;
	e->pos = before;
	return false;
}

static __u64 number(struct expression *e)
{
	char digits[32];
	size_t n = 0;
	__u64 v = 0;
	char *end;

	blanks(e);
	while (e->pos < e->end && n + 1 < sizeof(digits) && isalnum((unsigned char)*e->pos))
		digits[n++] = *e->pos++;
	digits[n] = '\0';
	if (!isdigit((unsigned char)digits[0])) {
		e->bad = true;
		return 0;
	}
	v = strtoull(digits, &end, 0);
	if (strspn(end, "uUlL") != strlen(end))
		e->bad = true;
	return v;
}

static __u64 unary(struct expression *e)
{
	__u64 v;

	if (++e->depth > MAX_DEPTH || e->bad) {
		e->bad = true;
		return 0;
	}
	if (take(e, "~")) {
		v = ~unary(e);
	} else if (take(e, "-")) {
		v = 0 - unary(e);
	} else if (take_cast(e)) {
		v = unary(e);
	} else if (take(e, "(")) {
		v = any(e);
		e->bad |= !take(e, ")");
	} else {
		v = number(e);
	}
	e->depth--;
	return v;
}

static __u64 sum(struct expression *e)
{
	__u64 v = unary(e);

	for (;;)
		if (take(e, "+"))
			v += unary(e);
		else if (take(e, "-"))
			v -= unary(e);
		else
			return v;
}

static __u64 shift(struct expression *e)
{
	__u64 v = sum(e);

	while (take(e, "<<"))
		v <<= sum(e) & 63;
	return v;
}

static __u64 conjunction(struct expression *e)
{
	__u64 v = shift(e);

	while (take(e, "&"))
		v &= shift(e);
	return v;
}

static __u64 any(struct expression *e)
{
	__u64 v = conjunction(e);

	while (take(e, "|"))
		v |= conjunction(e);
	return v;
}

static bool evaluate(const char *begin, const char *end, __u64 *v)
{
	struct expression e = { .pos = begin, .end = end };

	*v = any(&e);
	blanks(&e);
	return !e.bad && e.pos == e.end;
}

/* Behind the next "NAME", quoted; its bounds in *begin and *end, or NULL. */
static const char *quoted(const char *s, const char **begin, const char **end)
{
	*begin = strchr(s, '"');
	*end = *begin ? strchr(*begin + 1, '"') : NULL;
	if (!*end)
		return NULL;
	(*begin)++;
	return *end + 1;
}

/* { VALUE, "NAME" }: behind it, or NULL. */
static const char *entry(const char *s, struct symbols *out)
{
	const char *begin, *end, *comma, *next = quoted(s, &begin, &end);
	size_t len;

	if (!next)
		return NULL;
	for (comma = begin - 2; comma > s && *comma != ','; comma--)
		;
	len = (size_t)(end - begin);
	if (comma > s && out->nr < SYMBOLS_MAX && len && len < SYMBOLS_NAME &&
	    evaluate(s, comma, &out->at[out->nr].value)) {
		memcpy(out->at[out->nr].name, begin, len);
		out->at[out->nr++].name[len] = '\0';
	}
	next = strchr(next, '}');
	return next ? next + 1 : NULL;
}

/* Behind "__print_flags(" or "__print_symbolic(": is it about this field? */
static const char *about(const char *s, const char *field)
{
	const char *comma = strchr(s, ','), *rec = strstr(s, "REC->");
	const size_t n = strlen(field);

	if (!comma || !rec || rec > comma)
		return NULL;
	rec += 5;
	if (strncmp(rec, field, n) || isalnum((unsigned char)rec[n]) || rec[n] == '_')
		return NULL;
	return comma + 1;
}

static bool list(const char *s, struct symbols *out)
{
	out->nr = 0;
	for (;;) {
		/* the list ends where something else than a brace follows */
		s += strspn(s, ", \t");
		if (out->flags && *s == '"') {	/* what stands between them */
			s = strchr(s + 1, '"');
			if (!s)
				break;
			s++;
			continue;
		}
		if (*s != '{')
			break;
		s = entry(s + 1, out);
		if (!s)
			break;
	}
	return out->nr;
}

bool symbols_parse(const char *format, const char *field, struct symbols *out)
{
	static const char *const calls[] = { "__print_flags(", "__print_symbolic(" };
	const char *fmt = strstr(format, "print fmt:"), *s, *first;

	out->nr = 0;
	for (size_t i = 0; fmt && i < 2; i++)
		for (s = fmt; (s = strstr(s, calls[i]));) {
			s += strlen(calls[i]);
			first = about(s, field);
			out->flags = !i;
			if (first && list(first, out))
				return true;
		}
	return false;
}

struct kept {
	struct kept *next;
	struct symbols symbols;
};

static bool same(const struct symbols *a, const struct symbols *b)
{
	if (a->flags != b->flags || a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (a->at[i].value != b->at[i].value || strcmp(a->at[i].name, b->at[i].name))
			return false;
	return true;
}

const struct symbols *symbols_of(const char *format, const char *field)
{
	static struct kept *first;
	struct kept *k = calloc(1, sizeof(*k));

	if (!k || !symbols_parse(format, field, &k->symbols)) {
		free(k);
		return NULL;
	}
	for (struct kept *old = first; old; old = old->next)
		if (same(&old->symbols, &k->symbols)) {
			free(k);
			return &old->symbols;
		}
	k->next = first;
	first = k;
	return &k->symbols;
}

bool symbols_value(const struct symbols *s, const char *name, size_t len, __u64 *v)
{
	for (size_t i = 0; s && i < s->nr; i++)
		if (strlen(s->at[i].name) == len && !strncmp(s->at[i].name, name, len)) {
			*v = s->at[i].value;
			return true;
		}
	return false;
}

static int put_number(__u64 v, char *buf, size_t len, const char *before)
{
	return snprintf(buf, len, "%s0x%llx", before, (unsigned long long)v);
}

/* As snprintf() would, of which there are many. */
static size_t add_name(char *buf, size_t len, size_t at, const char *name)
{
	const size_t size = strlen(name);

	if (at) {
		if (at + 1 < len)
			buf[at] = '|';
		at++;
	}
	for (size_t i = 0; i < size && at + i + 1 < len; i++)
		buf[at + i] = name[i];
	if (len)
		buf[at + size < len ? at + size : len - 1] = '\0';
	return at + size;
}

int symbols_text(const struct symbols *s, __u64 value, char *buf, size_t len)
{
	__u64 left = value;
	size_t n = 0;

	for (size_t i = 0; !s->flags && i < s->nr; i++)
		if (s->at[i].value == value)
			return snprintf(buf, len, "%s", s->at[i].name);
	if (!s->flags)
		return snprintf(buf, len, "%lld", (long long)value);
	if (len)
		*buf = '\0';
	for (size_t i = 0; i < s->nr; i++) {
		const __u64 mask = s->at[i].value;

		if (!mask || (left & mask) != mask)
			continue;
		left &= ~mask;
		n = add_name(buf, len, n, s->at[i].name);
		if (!left)
			return (int)n;
	}
	if (left || !n)
		n += (size_t)put_number(left, n < len ? buf + n : NULL, n < len ? len - n : 0,
					n ? "|" : "");
	return (int)n;
}
