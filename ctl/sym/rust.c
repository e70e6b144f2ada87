// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangle Rust's v0 names (RFC 2603), without crate hashes.  The parser is a recursive descent
 * over the grammar.  Hostile names are bounded by depth, by the size of the result, and by the
 * number of steps, since back references can multiply.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sym/int.h"

#define RUST_DEPTH	200
#define RUST_STEPS	20000

struct rust {
	const char *s;
	size_t pos, len;
	char *out;
	size_t used, room;
	int depth, steps;
	__u64 lifetimes;	/* bound by the binders around */
	bool quiet;		/* read on, but print nothing */
	bool failed;
};

struct ident {
	const char *text;
	size_t len;
	bool punycode;
	__u64 number;		/* the disambiguator */
};

static void path(struct rust *r, bool value);
static void type(struct rust *r);
static void constant(struct rust *r);

static void fail(struct rust *r)
{
	r->failed = true;
}

static void put_bytes(struct rust *r, const char *text, size_t len)
{
	if (r->quiet || r->failed)
		return;
	if (len >= r->room - r->used) {
		fail(r);
		return;
	}
	memcpy(r->out + r->used, text, len);
	r->used += len;
	r->out[r->used] = 0;
}

static void put(struct rust *r, const char *text)
{
	put_bytes(r, text, strlen(text));
}

static void putf(struct rust *r, const char *fmt, ...)
{
	char text[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put(r, text);
}

static char peek(const struct rust *r)
{
	return r->pos < r->len ? r->s[r->pos] : 0;
}

static char next(struct rust *r)
{
	char c = peek(r);

	if (c)
		r->pos++;
	else
		fail(r);
	return c;
}

static bool eat(struct rust *r, char c)
{
	if (r->failed || peek(r) != c)
		return false;
	r->pos++;
	return true;
}

static bool enter(struct rust *r)
{
	if (++r->depth > RUST_DEPTH || ++r->steps > RUST_STEPS)
		fail(r);
	return !r->failed;
}

static int digit62(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 36;
	return -1;
}

/* "_" is 0, "0_" is 1, ...; hashes of crates take all 64 bits */
static __u64 base62(struct rust *r)
{
	__u64 v = 0;
	int digit;

	if (eat(r, '_'))
		return 0;
	while (!r->failed && !eat(r, '_')) {
		digit = digit62(next(r));
		if (digit < 0 || v > (UINT64_MAX - (__u64)digit) / 62)
			fail(r);
		else
			v = 62 * v + (__u64)digit;
	}
	return v + 1;
}

/* An optional number after a tag: absent is 0. */
static __u64 tagged62(struct rust *r, char tag)
{
	return eat(r, tag) ? base62(r) + 1 : 0;
}

static size_t decimal(struct rust *r)
{
	size_t v = 0;
	char c = next(r);

	if (c < '0' || c > '9')
		fail(r);
	if (c == '0' || r->failed)
		return 0;
	for (v = c - '0'; peek(r) >= '0' && peek(r) <= '9'; r->pos++) {
		v = v * 10 + (peek(r) - '0');
		if (v > r->len) {
			fail(r);
			return 0;
		}
	}
	return v;
}

static void plain_ident(struct rust *r, struct ident *id)
{
	id->punycode = eat(r, 'u');
	id->len = decimal(r);
	eat(r, '_');
	if (r->failed || id->len > r->len - r->pos) {
		fail(r);
		id->len = 0;
	}
	id->text = r->s + r->pos;
	r->pos += id->len;
}

static void ident(struct rust *r, struct ident *id)
{
	id->number = tagged62(r, 's');
	plain_ident(r, id);
}

static void put_ident(struct rust *r, const struct ident *id)
{
	if (id->punycode)
		put(r, "punycode{");
	put_bytes(r, id->text, id->len);
	if (id->punycode)
		put(r, "}");
}

/* Read at an earlier place, then go on here. */
static size_t go_back(struct rust *r)
{
	size_t start = r->pos - 1, target = base62(r), here = r->pos;

	if (target >= start)
		fail(r);
	else
		r->pos = target;
	return here;
}

static void put_lifetime(struct rust *r, __u64 index)
{
	__u64 n;

	if (!index) {
		put(r, "'_");
		return;
	}
	if (index > r->lifetimes) {
		fail(r);
		return;
	}
	n = r->lifetimes - index;
	if (n < 26)
		putf(r, "'%c", (char)('a' + n));
	else
		putf(r, "'_%llu", (unsigned long long)n);
}

/* "for<'a, 'b> "; returns how many it bound. */
static __u64 binder(struct rust *r)
{
	__u64 nr = tagged62(r, 'G');

	if (nr > 64) {
		fail(r);
		return 0;
	}
	for (__u64 i = 0; i < nr; i++) {
		put(r, i ? ", " : "for<");
		r->lifetimes++;
		put_lifetime(r, 1);
	}
	if (nr)
		put(r, "> ");
	return nr;
}

static void impl_path(struct rust *r)
{
	bool quiet = r->quiet;

	tagged62(r, 's');
	r->quiet = true;
	path(r, false);
	r->quiet = quiet;
}

static void nested(struct rust *r, bool value)
{
	char space = next(r);
	struct ident id;

	path(r, value);
	ident(r, &id);
	if (space >= 'A' && space <= 'Z') {
		put(r, "::{");
		if (space == 'C')
			put(r, "closure");
		else if (space == 'S')
			put(r, "shim");
		else
			putf(r, "%c", space);
		if (id.len) {
			put(r, ":");
			put_ident(r, &id);
		}
		putf(r, "#%llu}", (unsigned long long)id.number);
	} else if (id.len) {
		put(r, "::");
		put_ident(r, &id);
	}
}

static void generic_arg(struct rust *r)
{
	if (eat(r, 'L'))
		put_lifetime(r, base62(r));
	else if (eat(r, 'K'))
		constant(r);
	else
		type(r);
}

static void generic_args(struct rust *r)
{
	for (int i = 0; !r->failed && !eat(r, 'E'); i++) {
		if (i)
			put(r, ", ");
		generic_arg(r);
	}
}

static void qualified(struct rust *r, char tag)
{
	if (tag != 'Y')
		impl_path(r);
	put(r, "<");
	type(r);
	if (tag != 'M') {
		put(r, " as ");
		path(r, false);
	}
	put(r, ">");
}

static void path(struct rust *r, bool value)
{
	struct ident id;
	size_t here;
	char tag;

	if (!enter(r))
		return;
	tag = next(r);
	switch (tag) {
	case 'C':
		ident(r, &id);
		put_ident(r, &id);
		break;
	case 'M':
	case 'X':
	case 'Y':
		qualified(r, tag);
		break;
	case 'N':
		nested(r, value);
		break;
	case 'I':
		path(r, value);
		put(r, value ? "::<" : "<");
		generic_args(r);
		put(r, ">");
		break;
	case 'B':
		here = go_back(r);
		path(r, value);
		r->pos = here;
		break;
	default:
		fail(r);
	}
	r->depth--;
}

static const char *basic_type(char c)
{
	static const char *const names[26] = {
		"i8", "bool", "char", "f64", "str", "f32", NULL, "u8", "isize",
		"usize", NULL, "i32", "u32", "i128", "u128", "_", NULL, NULL,
		"i16", "u16", "()", "...", NULL, "i64", "u64", "!",
	};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static void function_type(struct rust *r)
{
	__u64 bound = binder(r);
	struct ident abi;

	if (eat(r, 'U'))
		put(r, "unsafe ");
	if (eat(r, 'K')) {
		put(r, "extern \"");
		if (eat(r, 'C')) {
			put(r, "C");
		} else {
			plain_ident(r, &abi);
			for (size_t i = 0; i < abi.len; i++)
				putf(r, "%c", abi.text[i] == '_' ? '-' : abi.text[i]);
		}
		put(r, "\" ");
	}
	put(r, "fn(");
	generic_args(r);
	put(r, ")");
	if (!eat(r, 'u')) {
		put(r, " -> ");
		type(r);
	}
	r->lifetimes -= bound;
}

/* Trait<Args, Name = Type>: the names join the arguments, if there are any. */
static void dyn_trait(struct rust *r)
{
	bool open = false;
	struct ident id;

	path(r, false);
	if (peek(r) == 'p' && !r->quiet && r->used && r->out[r->used - 1] == '>') {
		r->out[--r->used] = 0;
		open = true;
	}
	while (eat(r, 'p')) {
		put(r, open ? ", " : "<");
		open = true;
		plain_ident(r, &id);
		put_ident(r, &id);
		put(r, " = ");
		type(r);
	}
	if (open)
		put(r, ">");
}

static void dyn_type(struct rust *r)
{
	__u64 bound, life;

	put(r, "dyn ");
	bound = binder(r);
	for (int i = 0; !r->failed && !eat(r, 'E'); i++) {
		if (i)
			put(r, " + ");
		dyn_trait(r);
	}
	r->lifetimes -= bound;
	if (!eat(r, 'L')) {
		fail(r);
		return;
	}
	life = base62(r);
	if (life) {
		put(r, " + ");
		put_lifetime(r, life);
	}
}

static void reference(struct rust *r, const char *suffix)
{
	__u64 life;

	put(r, "&");
	if (eat(r, 'L')) {
		life = base62(r);
		if (life) {
			put_lifetime(r, life);
			put(r, " ");
		}
	}
	put(r, suffix);
	type(r);
}

static void tuple(struct rust *r)
{
	int i;

	put(r, "(");
	for (i = 0; !r->failed && !eat(r, 'E'); i++) {
		if (i)
			put(r, ", ");
		type(r);
	}
	put(r, i == 1 ? ",)" : ")");
}

static void array(struct rust *r, bool sized)
{
	put(r, "[");
	type(r);
	if (sized) {
		put(r, "; ");
		constant(r);
	}
	put(r, "]");
}

static void compound_type(struct rust *r, char tag)
{
	size_t here;

	switch (tag) {
	case 'A':
	case 'S':
		array(r, tag == 'A');
		break;
	case 'T':
		tuple(r);
		break;
	case 'R':
		reference(r, "");
		break;
	case 'Q':
		reference(r, "mut ");
		break;
	case 'P':
	case 'O':
		put(r, tag == 'P' ? "*const " : "*mut ");
		type(r);
		break;
	case 'F':
		function_type(r);
		break;
	case 'D':
		dyn_type(r);
		break;
	case 'B':
		here = go_back(r);
		type(r);
		r->pos = here;
		break;
	default:
		r->pos--;
		path(r, false);
	}
}

static void type(struct rust *r)
{
	const char *basic;
	char tag;

	if (!enter(r))
		return;
	tag = next(r);
	basic = basic_type(tag);
	if (basic)
		put(r, basic);
	else if (!r->failed)
		compound_type(r, tag);
	r->depth--;
}

/* Hex digits up to "_"; what does not fit into 64 bits stays hex. */
static void number(struct rust *r, char tag)
{
	size_t start = r->pos, len;
	__u64 v = 0;
	char c;

	while (!r->failed && !eat(r, '_')) {
		c = next(r);
		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (c - 'a' + 10);
		else
			fail(r);
	}
	if (r->failed)
		return;
	len = r->pos - 1 - start;
	if (tag == 'b') {
		put(r, v ? "true" : "false");
	} else if (tag == 'c' && v >= ' ' && v < 127) {
		putf(r, "'%c'", (char)v);
	} else if (tag == 'c') {
		putf(r, "'\\u{%llx}'", (unsigned long long)v);
	} else if (len > 16) {
		put(r, "0x");
		put_bytes(r, r->s + start, len);
	} else {
		putf(r, "%llu", (unsigned long long)v);
	}
}

static void constant(struct rust *r)
{
	size_t here;
	char tag;

	if (!enter(r))
		return;
	tag = next(r);
	if (tag == 'B') {
		here = go_back(r);
		constant(r);
		r->pos = here;
	} else if (tag == 'p') {
		put(r, "_");
	} else if (tag && strchr("aslxnihtmyojbc", tag)) {
		if (eat(r, 'n'))
			put(r, "-");
		number(r, tag);
	} else {
		fail(r);
	}
	r->depth--;
}

int rust_demangle(const char *mangled, char *out, size_t room)
{
	struct rust r = { .out = out, .room = room };

	if (strncmp(mangled, "_R", 2) || !room)
		return -EINVAL;
	out[0] = 0;
	r.s = mangled + 2;
	r.len = strcspn(r.s, ".$");	/* ".llvm.123" is the compiler's */
	path(&r, true);
	if (!r.failed && r.pos < r.len) {	/* the crate that made this copy */
		r.quiet = true;
		path(&r, false);
	}
	if (r.failed || r.pos != r.len || !r.used)
		return -EINVAL;
	return 0;
}
