// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the format files of tracefs: the fields of a tracepoint. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/format.h"

#define MOST	8192			/* perf's buffer for a record */

/* "KEY:NUMBER;" in a line of @len characters */
static bool number(const char *line, size_t len, const char *key, __u32 *v)
{
	const size_t n = strlen(key);
	unsigned long value;
	char digits[16];
	size_t i, d = 0;

	for (i = 0; i + n < len; i++)
		if (!strncmp(line + i, key, n) && (!i || isspace((unsigned char)line[i - 1])))
			break;
	if (i + n >= len)
		return false;
	for (i += n; i < len && isdigit((unsigned char)line[i]) && d + 1 < sizeof(digits); i++)
		digits[d++] = line[i];
	digits[d] = '\0';
	value = strtoul(digits, NULL, 10);
	*v = (__u32)value;
	return d && i < len && line[i] == ';' && value <= MOST;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *type, const char *word)
{
	const size_t n = strlen(word);

	for (const char *p = type; (p = strstr(p, word)); p++)
		if ((p == type || !is_word(p[-1])) && !is_word(p[n]))
			return true;
	return false;
}

static bool is_bytes(const char *type)
{
	return has_word(type, "char") || has_word(type, "u8") || has_word(type, "__u8") ||
	       has_word(type, "uint8_t");
}

/* Some say "unsigned long" of an address. */
static bool is_address(const struct format_field *f)
{
	static const char *const names[] = {
		"address", "addr", "vaddr", "ip", "call_site", "caller", "caller_ip", "parent_ip",
		"fault_address", "ptr",
	};

	if (f->size != 8 || !has_word(f->type, "long") || !has_word(f->type, "unsigned"))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(f->name, names[i]))
			return true;
	return false;
}

static enum format_kind kind_of(const struct format_field *f, bool array)
{
	const bool width = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;

	if (!strncmp(f->type, "__data_loc", 10))
		return f->size == 4 && has_word(f->type, "char") ? FORMAT_LOC : FORMAT_OTHER;
	if (!strncmp(f->type, "__rel_loc", 9))
		return f->size == 4 && has_word(f->type, "char") ? FORMAT_RELLOC : FORMAT_OTHER;
	if (array)
		return is_bytes(f->type) && has_word(f->type, "char") && f->size ?
		       FORMAT_TEXT : FORMAT_OTHER;
	if (!width)
		return FORMAT_OTHER;
	if (strchr(f->type, '*') || is_address(f))
		return FORMAT_POINTER;
	if (f->size == 1 && has_word(f->type, "bool"))
		return FORMAT_BOOL;
	return FORMAT_NUMBER;
}

/* "TYPE NAME", "TYPE NAME[N]", "__data_loc TYPE[] NAME": the name is the last word. */
static bool declaration(const char *decl, size_t len, struct format_field *f, bool *array)
{
	size_t end = len, begin;

	*array = false;
	if (end && decl[end - 1] == ']') {
		while (end && decl[end - 1] != '[')
			end--;
		if (!end)
			return false;
		end--;
		*array = true;
	}
	while (end && isspace((unsigned char)decl[end - 1]))
		end--;
	for (begin = end; begin && is_word(decl[begin - 1]); begin--)
		;
	if (begin == end || end - begin >= sizeof(f->name) ||
	    isdigit((unsigned char)decl[begin]))
		return false;
	memcpy(f->name, decl + begin, end - begin);
	f->name[end - begin] = '\0';
	while (begin && isspace((unsigned char)decl[begin - 1]))
		begin--;
	if (!begin)
		return false;
	if (begin >= sizeof(f->type))
		begin = sizeof(f->type) - 1;
	memcpy(f->type, decl, begin);
	f->type[begin] = '\0';
	return true;
}

static bool parse_line(const char *line, size_t len, struct format_field *f)
{
	const char *decl, *end;
	bool array;
	__u32 sign = 0;

	memset(f, 0, sizeof(*f));
	while (len && isspace((unsigned char)*line))
		line++, len--;
	if (len < 6 || strncmp(line, "field:", 6))
		return false;
	decl = line + 6;
	end = memchr(decl, ';', len - 6);
	if (!end || !declaration(decl, (size_t)(end - decl), f, &array))
		return false;
	if (!number(end, len - (size_t)(end - line), "offset:", &f->offset) ||
	    !number(end, len - (size_t)(end - line), "size:", &f->size))
		return false;
	number(end, len - (size_t)(end - line), "signed:", &sign);
	f->is_signed = sign;
	f->kind = kind_of(f, array);
	return strncmp(f->name, "common_", 7) != 0;
}

void format_parse(const char *text, struct format *f)
{
	const char *line, *next;

	f->nr = 0;
	for (line = text; *line && f->nr < FORMAT_FIELDS; line = next) {
		const size_t len = strcspn(line, "\n");

		next = line + len + (line[len] == '\n');
		if (!strncmp(line, "print fmt:", 10))
			break;
		f->nr += parse_line(line, len, &f->at[f->nr]);
	}
}

const struct format_field *format_find(const struct format *f, const char *name, size_t len)
{
	for (size_t i = 0; i < f->nr; i++)
		if (!strncmp(f->at[i].name, name, len) && !f->at[i].name[len])
			return &f->at[i];
	return NULL;
}
