// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare expected and counted numbers, and print the result. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/cut.h"
#include "selftest/selftest.h"

static const char *const words[] = {
	[ST_OK] = "ok", [ST_FAILED] = "FAILED", [ST_NOT_HERE] = "not here",
};

enum st_verdict st_compare(const struct st_check *c)
{
	for (int i = 0; i < ST_NUMBERS && c->numbers[i].unit; i++)
		if (c->numbers[i].wanted != c->numbers[i].got)
			return ST_FAILED;
	return ST_OK;
}

/* "3,000 blocks", "1 call" */
static void put_number(__s64 n, const char *unit, FILE *f)
{
	const size_t len = strlen(unit);
	char buf[TEXT_LEN];

	fprintf(f, "%s %.*s", text_signed(buf, n),
		(int)(n == 1 && len && unit[len - 1] == 's' ? len - 1 : len), unit);
}

static void put_numbers(const struct st_check *c, bool wanted, FILE *f)
{
	for (int i = 0; i < ST_NUMBERS && c->numbers[i].unit; i++) {
		fputs(i ? ", " : "", f);
		put_number(wanted ? c->numbers[i].wanted : c->numbers[i].got,
			   c->numbers[i].unit, f);
	}
}

static void put_line(const struct st_check *c, FILE *f)
{
	const bool some = c->numbers[0].unit, wrong = some && st_compare(c) != ST_OK;

	fprintf(f, "%-8s  %-27s ", words[c->verdict], c->name);
	if (wrong) {
		fputs("wanted ", f);
		put_numbers(c, true, f);
		fputs("; got ", f);
	}
	put_numbers(c, false, f);
	fputs(some && c->text[0] ? "; " : "", f);
	text_put(f, c->text, NULL);
	fputc('\n', f);
}

static void put_members(struct json *j, const char *name, const struct st_check *c, bool wanted)
{
	json_open(j, name, '{');
	for (int i = 0; i < ST_NUMBERS && c->numbers[i].unit; i++)
		json_s64(j, c->numbers[i].unit,
			 wanted ? c->numbers[i].wanted : c->numbers[i].got);
	json_close(j, '}');
}

static void put_object(const struct st_check *c, struct json *j)
{
	json_open(j, NULL, '{');
	json_str(j, "name", c->name);
	json_str(j, "verdict", words[c->verdict]);
	if (c->numbers[0].unit) {
		put_members(j, "expected", c, true);
		put_members(j, "actual", c, false);
	}
	json_str(j, "text", c->text);
	json_close(j, '}');
}

void st_begin(struct st_out *out, FILE *f, bool as_json, const char *version)
{
	memset(out, 0, sizeof(*out));
	out->f = f;
	out->as_json = as_json;
	out->json.out = f;
	if (!as_json) {
		fprintf(f, "%s\n", version);
		return;
	}
	json_document(&out->json, "selftest");
	json_str(&out->json, "about", version);
	json_open(&out->json, "checks", '[');
}

/* As they come: whoever ends this early has seen what there was. */
void st_put(struct st_out *out, const struct st_check *c)
{
	out->nr[c->verdict]++;
	if (out->as_json)
		put_object(c, &out->json);
	else
		put_line(c, out->f);
	fflush(out->f);
}

void st_say(struct st_out *out, enum st_verdict verdict, const char *name,
	    const char *text, ...)
{
	struct st_check c = { .verdict = verdict, .name = name };
	va_list ap;

	va_start(ap, text);
	vsnprintf(c.text, sizeof(c.text), text, ap);
	va_end(ap);
	st_put(out, &c);
}

int st_end(struct st_out *out)
{
	const unsigned int *nr = out->nr;

	if (out->as_json) {
		json_close(&out->json, ']');
		json_u64(&out->json, "ok", nr[ST_OK]);
		json_u64(&out->json, "failed", nr[ST_FAILED]);
		json_u64(&out->json, "skipped", nr[ST_NOT_HERE]);
		json_close(&out->json, '}');
		fputc('\n', out->f);
	} else {
		fprintf(out->f, "%s: %u ok, %u failed, %u not here\n",
			nr[ST_FAILED] ? "FAILED" : "all found", nr[ST_OK], nr[ST_FAILED],
			nr[ST_NOT_HERE]);
	}
	return nr[ST_FAILED] ? EXIT_FAILURE : 0;
}
