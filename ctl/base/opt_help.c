// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the options of a command for `memtap CMD --help`, completion and messages. */
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "base/text.h"

#define HELP_WIDTH	80
#define HELP_COLUMN	30		/* where an option's text begins */

static const char *const headings[NR_OPT_HEADS] = {
	[OPT_HEAD_TARGET] = "Target", [OPT_HEAD_RECORD] = "What to record",
	[OPT_HEAD_DURATION] = "Duration", [OPT_HEAD_OUTPUT] = "Output",
	[OPT_HEAD_ADVANCED] = "Advanced",
};

/* @text from column @column on, in lines of HELP_WIDTH; how many further lines it took. */
static size_t put_wrapped(FILE *out, const char *text, size_t at, size_t column)
{
	size_t lines = 0;

	while (*text) {
		const size_t len = strcspn(text, " ");

		if (at > column && at + 1 + len > HELP_WIDTH) {
			lines++;
			if (out)
				fprintf(out, "\n%*s", (int)column, "");
			at = column;
		} else if (at > column) {
			at++;
			if (out)
				fputc(' ', out);
		}
		if (out)
			fprintf(out, "%.*s", (int)len, text);
		at += len;
		text += len + strspn(text + len, " ");
	}
	if (out)
		fputc('\n', out);
	return lines;
}

static void names_of(const struct opt_def *d, char *buf, size_t len)
{
	char letter[8] = "    ";

	if (d->letter)
		snprintf(letter, sizeof(letter), "-%c, ", d->letter);
	snprintf(buf, len, "%s--%s%s%s", letter, d->name, d->arg ? " " : "",
		 d->arg ? d->arg : "");
}

/* Lines that it took; @out may be NULL. */
static size_t print_option(const struct opt_def *d, FILE *out)
{
	char left[64], text[OPT_ERR];
	size_t n, at = HELP_COLUMN;

	names_of(d, left, sizeof(left));
	n = (size_t)snprintf(text, sizeof(text), "%s", d->help);
	for (size_t i = 0; d->words && d->words[i] && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? ", " : ": ",
				      d->words[i]);
	if (strlen(left) + 3 > HELP_COLUMN)
		at = strlen(left) + 3;
	if (out)
		fprintf(out, "  %-*s ", HELP_COLUMN - 3, left);
	return 1 + put_wrapped(out, text, at, HELP_COLUMN);
}

/* Of two of one name that a command has the first one counts, as for the parser. */
static bool is_had(const struct opt_def *d, __u64 groups)
{
	if (!(d->groups & groups))
		return false;
	for (const struct opt_def *other = opt_table; other < d; other++)
		if (other->groups & groups && !strcmp(other->name, d->name))
			return false;
	return true;
}

static bool is_under(const struct opt_def *d, __u64 groups, int heading)
{
	return is_had(d, groups) && d->heading == heading;
}

/* The same, with one empty line before the heading. */
static size_t print_heading(__u64 groups, int heading, FILE *out)
{
	size_t lines = 0;

	for (size_t i = 0; i < opt_nr; i++) {
		if (!is_under(&opt_table[i], groups, heading))
			continue;
		if (!lines++ && out)
			fprintf(out, "%s:\n", headings[heading]);
		lines += print_option(&opt_table[i], out);
	}
	return lines;
}

/* Names alone: what they mean is told elsewhere. */
static void print_names(__u64 groups, const char *cmd, int heading, FILE *out)
{
	size_t at = 0;

	fprintf(out, "%s (`memtap help -v %s` describes these):\n", headings[heading], cmd);
	for (size_t i = 0; i < opt_nr; i++) {
		const struct opt_def *d = &opt_table[i];
		const size_t len = 2 + strlen(d->name) + (d->arg ? 1 + strlen(d->arg) : 0);

		if (!is_under(d, groups, heading))
			continue;
		if (!at || at + 3 + len > HELP_WIDTH) {
			fprintf(out, "%s ", at ? ",\n" : "");
			at = 1;
		} else {
			fputs(",", out);
			at++;
		}
		fprintf(out, " --%s%s%s", d->name, d->arg ? " " : "", d->arg ? d->arg : "");
		at += 1 + len;
	}
	fputc('\n', out);
}

void opt_print_help(__u64 groups, const char *cmd, size_t rows, FILE *out)
{
	size_t lines = 0;

	for (int h = 0; h < NR_OPT_HEADS; h++)
		lines += print_heading(groups, h, NULL);
	for (int h = 0; h < NR_OPT_HEADS; h++)
		if (h == OPT_HEAD_ADVANCED && rows && lines > rows)
			print_names(groups, cmd, h, out);
		else
			print_heading(groups, h, out);
}

/* --- names that are like others ------------------------------------------------ */

bool opt_has(__u64 groups, const char *name)
{
	for (size_t i = 0; i < opt_nr; i++)
		if (opt_table[i].groups & groups &&
		    (name[1] ? !strcmp(opt_table[i].name, name) : opt_table[i].letter == name[0]))
			return true;
	return false;
}

const char *opt_like(__u64 groups, const char *name, struct text_like *l)
{
	text_like_begin(l, name);
	for (size_t i = 0; i < opt_nr; i++)
		if (opt_table[i].groups & groups)
			text_like_add(l, opt_table[i].name);
	return text_like_best(l);
}

void opt_print_words(__u64 groups, FILE *out)
{
	for (size_t i = 0; i < opt_nr; i++) {
		const struct opt_def *d = &opt_table[i];

		if (!is_had(d, groups))
			continue;
		if (d->letter)
			fprintf(out, "-%c\n", d->letter);
		fprintf(out, "--%s\n", d->name);
		/* what stands for its values, where these are no words */
		if (d->arg && !d->words)
			fprintf(out, "--%s <%s>\n", d->name, d->arg);
		if (d->arg && !d->words && d->letter)
			fprintf(out, "-%c <%s>\n", d->letter, d->arg);
		for (size_t w = 0; d->words && d->words[w]; w++)
			fprintf(out, "--%s %s\n", d->name, d->words[w]);
	}
}
