// SPDX-License-Identifier: GPL-2.0-or-later
/* Demangle names: C++, and both schemes of Rust. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sym/cxx.h"
#include "sym/int.h"

#define NAME_MAX_LEN	4096	/* longer ones stay as they are */

/* What Rust's first scheme writes for what C++ cannot have in a name. */
static const struct {
	const char *code, *text;
} legacy_codes[] = {
	{ "$SP$", "@" }, { "$BP$", "*" }, { "$RF$", "&" }, { "$LT$", "<" },
	{ "$GT$", ">" }, { "$LP$", "(" }, { "$RP$", ")" }, { "$C$", "," },
	{ "$u7e$", "~" }, { "$u20$", " " }, { "$u27$", "'" }, { "$u5b$", "[" },
	{ "$u5d$", "]" }, { "$u7b$", "{" }, { "$u7d$", "}" }, { "$u3b$", ";" },
	{ "$u2b$", "+" }, { "$u22$", "\"" }, { "$u3d$", "=" }, { "$u21$", "!" },
};

/* Ends in "::h" and 16 hex digits: a hash that rustc adds to each function. */
static char *legacy_hash(char *name)
{
	size_t len = strlen(name);
	char *hash = name + len - 19;

	if (len < 20 || strncmp(hash, "::h", 3))
		return NULL;
	for (int i = 3; i < 19; i++)
		if (!isxdigit((unsigned char)hash[i]))
			return NULL;
	return hash;
}

static size_t legacy_code(const char *p, const char **text)
{
	for (size_t i = 0; i < sizeof(legacy_codes) / sizeof(legacy_codes[0]); i++) {
		size_t len = strlen(legacy_codes[i].code);

		if (!strncmp(p, legacy_codes[i].code, len)) {
			*text = legacy_codes[i].text;
			return len;
		}
	}
	return 0;
}

/* In place: what is written is never longer than what was read. */
static void decode_legacy(char *name)
{
	char *to = name, *p = name;
	const char *text;
	size_t len;

	while (*p) {
		/* an underscore protects a code at the start of a part */
		if (*p == '_' && p[1] == '$' && (p == name || p[-1] == ':'))
			p++;
		len = *p == '$' ? legacy_code(p, &text) : 0;
		if (len) {
			*to++ = *text;
			p += len;
		} else if (p[0] == '.' && p[1] == '.') {
			*to++ = ':';
			*to++ = ':';
			p += 2;
		} else {
			*to++ = *p++;
		}
	}
	*to = 0;
}

/* The two spellings that make C++ names unreadable, and say nothing. */
static void shorten_cxx(char *name)
{
	static const struct {
		const char *from, *to;
	} words[] = {
		{ "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
		  "std::string" },
		{ "std::__cxx11::", "std::" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t from = strlen(words[i].from), to = strlen(words[i].to);
		char *p = name;

		while ((p = strstr(p, words[i].from))) {
			memcpy(p, words[i].to, to);
			p += to;
			memmove(p, p + from - to, strlen(p + from - to) + 1);
		}
	}
}

static const char *demangle_cxx(struct sym *s, const char *name)
{
	char *plain = cxx_demangle(name);
	char *hash;
	const char *kept;

	if (!plain)
		return name;
	hash = legacy_hash(plain);
	if (hash) {
		*hash = 0;
		decode_legacy(plain);
	} else {
		shorten_cxx(plain);
	}
	kept = sym_intern(s, plain);
	free(plain);
	return *kept ? kept : name;
}

const char *sym_demangle(struct sym *s, const char *name)
{
	char plain[NAME_MAX_LEN];
	const char *kept;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strlen(name) >= NAME_MAX_LEN)
		return name;
	if (name[1] == 'Z')
		return demangle_cxx(s, name);
	if (rust_demangle(name, plain, sizeof(plain)))
		return name;
	kept = sym_intern(s, plain);
	return *kept ? kept : name;
}
