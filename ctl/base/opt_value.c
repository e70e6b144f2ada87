// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse option values, and split command lines into words; see opt.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"

/* strtoull() takes signs and blanks; digits only here. */
static bool digits(const char *s, __u64 *v, const char **end)
{
	const int base = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10;
	char *stop;

	if (base == 16)
		s += 2;
	if (base == 16 ? !isxdigit((unsigned char)*s) : !isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*v = strtoull(s, &stop, base);
	*end = stop;
	return !errno;
}

bool opt_u64(const char *s, __u64 *v)
{
	const char *end;

	return digits(s, v, &end) && !*end;
}

bool opt_size(const char *s, __u64 *v)
{
	static const char suffixes[] = "KMGT";
	const char *end, *suffix;
	unsigned int shift = 0;

	if (!digits(s, v, &end))
		return false;
	if (*end) {
		suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (suffix) {
			shift = 10 * (unsigned int)(suffix - suffixes + 1);
			end++;
			if (*end == 'i')
				end++;
		}
		if (*end == 'B')
			end++;
	}
	if (*end || *v > ~0ULL >> shift)
		return false;
	*v <<= shift;
	return true;
}

bool opt_time(const char *s, double unit, double *v)
{
	static const struct { const char *name; double seconds; } units[] = {
		{ "ms", 0.001 }, { "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 },
	};
	const size_t whole = strspn(s, "0123456789");
	size_t len = whole;

	if (s[len] == '.')
		len += 1 + strspn(s + len + 1, "0123456789");
	if (!whole || len > 12)
		return false;
	for (size_t i = 0; s[len] && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(s + len, units[i].name)) {
			*v = strtod(s, NULL) * units[i].seconds;
			return true;
		}
	*v = strtod(s, NULL) * unit;
	return !s[len];
}

bool opt_seconds(const char *s, double *v)
{
	return opt_time(s, 1, v);
}

struct splitter {
	char quote;		/* the one that is open, or 0 */
	bool inside;		/* a word */
	char *out;
	char **argv;
	size_t nr;
};

static void put(struct splitter *s, char c)
{
	if (!s->inside) {
		s->argv[s->nr++] = s->out;
		s->inside = true;
	}
	if (c)
		*s->out++ = c;
}

static void end_word(struct splitter *s)
{
	if (s->inside)
		*s->out++ = '\0';
	s->inside = false;
}

/* Returns how many characters of @p were used, or 0 for shell syntax. */
static size_t step(struct splitter *s, const char *p)
{
	if (s->quote) {
		if (*p == s->quote) {
			s->quote = 0;
			return 1;
		}
		if (s->quote == '"' && *p == '\\' && p[1] && strchr("\"\\$`", p[1])) {
			put(s, p[1]);
			return 2;
		}
		put(s, *p);
		return 1;
	}
	if (*p == '\'' || *p == '"') {
		put(s, 0);
		s->quote = *p;
		return 1;
	}
	if (*p == '\\' && p[1]) {
		put(s, p[1]);
		return 2;
	}
	if (isspace((unsigned char)*p)) {
		end_word(s);
		return 1;
	}
	if (strchr("|&;<>()$`", *p))
		return 0;
	put(s, *p);
	return 1;
}

int opt_split(const char *line, char ***argv, char err[OPT_ERR])
{
	const size_t len = strlen(line), slots = len / 2 + 2;
	struct splitter s = { 0 };
	size_t used;

	/* every word but the last takes a blank; a word may be empty ('') */
	s.argv = malloc(slots * sizeof(char *) + len + 2);
	if (!s.argv) {
		snprintf(err, OPT_ERR, "no memory");
		return -ENOMEM;
	}
	s.out = (char *)(s.argv + slots);
	for (const char *p = line; *p; p += used) {
		used = step(&s, p);
		if (!used) {
			snprintf(err, OPT_ERR, "-c runs a program without a shell, "
				 "'%c' means nothing; try -- sh -c 'COMMAND'", *p);
			goto err_free;
		}
	}
	end_word(&s);
	if (s.quote || !s.nr) {
		snprintf(err, OPT_ERR, s.quote ? "a quote is not closed in -c" :
			 "-c needs a program");
		goto err_free;
	}
	s.argv[s.nr] = NULL;
	*argv = s.argv;
	return 0;

err_free:
	free(s.argv);
	return -EINVAL;
}
