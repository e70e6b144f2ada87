// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line by the table of options. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "base/out_name.h"
#include "base/text.h"

static int fmt_error(char err[OPT_ERR], const char *what, const char *which)
{
	snprintf(err, OPT_ERR, what, which);
	return -EINVAL;
}

static bool is_number(const char *s)
{
	double v;

	return opt_seconds(s, &v);
}

static bool is_id(const char *s)
{
	__u64 v;

	return opt_u64(s, &v) && v && v <= OPT_MAX_ID;
}

/*
 * The shell makes arguments of their own of what pidof(1) prints: those from @first to
 * @last that stand right behind -p PID become PIDs, too.
 */
static int take_ids(struct opts *o, size_t first, size_t last, char err[OPT_ERR])
{
	struct opt_strs *args = &o->args;
	size_t kept = first;
	__u64 v;

	for (size_t i = first; i < args->nr; i++) {
		struct opt_nums *list = (struct opt_nums *)((char *)o + o->behind[i]);

		if (i >= last || !o->behind[i]) {
			o->behind[kept] = o->behind[i];
			args->at[kept++] = args->at[i];
			continue;
		}
		if (list->nr == OPT_MAX_LIST)
			return fmt_error(err, "too many processes: %.60s", args->at[i]);
		opt_u64(args->at[i], &v);
		list->at[list->nr++] = (__u32)v;
		o->more_ids.at[o->more_ids.nr++] = (__u32)v;
	}
	args->nr = kept;
	return 0;
}

/*
 * [interval [count]]: numbers at the end of what is no option.  Behind -p PID there may be
 * more PIDs: those before another argument are, and those that are too many for an
 * interval and a count.
 */
static int take_interval(struct opts *o, char err[OPT_ERR])
{
	struct opt_strs *args = &o->args;
	size_t first = args->nr, ids;
	__u64 count;
	int ret;

	while (first && is_number(args->at[first - 1]))
		first--;
	for (ids = first; ids < args->nr && o->behind[ids]; ids++)
		;
	if (args->nr - first > 2)
		first = ids;
	if (args->nr - first > 2)
		return fmt_error(err, "too many numbers: %s", args->at[first + 2]);
	ids = args->nr - first;
	ret = take_ids(o, 0, first, err);
	if (ret)
		return ret;
	first = args->nr - ids;
	if (args->nr - first == 2) {
		if (!opt_u64(args->at[first + 1], &count) || !count ||
		    count > 0xffffffff)
			return fmt_error(err, "not a count: %s", args->at[first + 1]);
		o->count = (__u32)count;
	}
	if (args->nr > first) {
		opt_seconds(args->at[first], &o->interval);
		if (o->interval < 0.01)
			return fmt_error(err, "an interval of %s s is too short",
					 args->at[first]);
		o->interval_text = args->at[first];
		o->unsure = o->behind[first] ? args->at[first] : NULL;
	}
	args->nr = first;
	return 0;
}

/* --json and --folded are names of formats, too. */
static int set_format(struct opts *o)
{
	const int named = o->json || o->csv ? FORMAT_JSON :
			  o->folded ? FORMAT_FOLDED : FORMAT_TABLE;

	/* CSV is made of JSON */
	if (o->csv && (o->folded || o->format >= 0))
		return -EINVAL;
	if (o->csv)
		o->json = true;
	if (o->json && o->folded)
		return -EINVAL;
	if (o->format >= 0 && named != FORMAT_TABLE && o->format != named)
		return -EINVAL;
	if (o->format < 0)
		o->format = named;
	o->json = o->format == FORMAT_JSON;
	o->folded = o->format == FORMAT_FOLDED;
	return 0;
}

/* The process that a file is named after; 0: it is not known yet; -1: there is not one. */
static __s64 named_pid(const struct opts *o, __u64 groups)
{
	__u64 pid;

	if (groups & OPT_TARGET && (o->argv || o->command))
		return 0;
	if (groups & OPT_HEAP && o->args.nr == 1 && opt_u64(o->args.at[0], &pid))
		return (__s64)pid;
	if (o->pids.nr != 1 || o->comms.nr || o->cgroups.nr || o->tids.nr)
		return -1;
	return o->pids.at[0];
}

/* %p, %n, %q{VAR}: at once, if all is known. */
static int name_file(struct opts *o, __u64 groups, const char **name, char **made, bool *later,
		     char err[OPT_ERR])
{
	const int parts = *name ? out_name_parts(*name, err) : 0;
	const __s64 pid = named_pid(o, groups);

	if (parts < 0)
		return parts;
	if (parts & OUT_NAME_PID && pid < 0)
		return fmt_error(err, "%%p in '%.60s' needs one process: -p PID, or a program that "
				 "is started", *name);
	if (parts & OUT_NAME_PID && !pid)
		*later = true;
	if (parts & OUT_NAME_NUMBER && groups & OPT_RUN && name == &o->out && o->interval > 0)
		*later = o->out_numbered = true;
	if (*later || !*name || !strchr(*name, '%'))
		return 0;
	*made = out_name_make(*name, (pid_t)pid, 1);
	*name = *made;
	return *made ? 0 : fmt_error(err, "%s", "no memory");
}

static int check(struct opts *o, char err[OPT_ERR])
{
	const bool some = o->pids.nr || o->tids.nr || o->comms.nr || o->cgroups.nr;
	const char *bad = NULL;

	if (o->system && some)
		bad = "-a watches everything: it excludes -p, --tid, --comm and --cgroup";
	else if (o->command && o->argv)
		bad = "give the program with -c or after --, not both";
	else if (o->only_user && o->only_kernel)
		bad = "--only-user and --only-kernel exclude each other";
	else if (set_format(o))
		bad = "--json, --csv, --folded and --format exclude each other";
	else if (o->interval > 0 && 1U << o->format & FORMATS_SINGLE && !o->out_numbered)
		return fmt_error(err, "a file of --format %s is one report: for intervals name "
				 "files with %%n, as -o FILE.%%n", format_words[o->format]);
	else if (o->out_numbered && o->trace)
		bad = "--trace prints to one file: %n is for reports";
	else if (o->sample_bytes && o->sample_rate)
		bad = "--sample-bytes and --sample-rate exclude each other";
	else if (o->gen_suppressions && o->format != FORMAT_TABLE && o->format != FORMAT_XML)
		bad = "--gen-suppressions is for tables and --format xml";
	else if (o->free_stacks && o->no_free_stacks)
		bad = "--free-stacks and --no-free-stacks exclude each other";
	else if (o->max_size && o->min_size > o->max_size)
		bad = "--min-size is larger than --max-size";
	else if (o->children && !some && !o->command && !o->argv)
		bad = "--children needs a process: -p, -c or --";
	else if (o->self && !o->system && (some || o->command || o->argv))
		bad = "--self is about watching everything: it needs -a, or no choice at all";
	else if (o->children && o->system)
		bad = "-a watches all processes, --children says nothing";
	if (bad)
		return fmt_error(err, "%s", bad);
	return o->command ? opt_split(o->command, &o->split, err) : 0;
}

/* Options that had another name before 0.1.0; scripts may still use it. */
static const struct { const char *old, *name; } renamed[] = {
	{ "reach", "unreachable" },
	{ "no-reach", "no-unreachable" },
	{ "no-hold", "no-pause" },
};

static bool is_name(const char *full, const char *name, size_t len)
{
	return strlen(full) == len && !memcmp(full, name, len);
}

static const struct opt_def *find_long(__u64 groups, const char *name,
				       size_t len)
{
	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (is_name(renamed[i].old, name, len)) {
			name = renamed[i].name;
			len = strlen(name);
			break;
		}
	for (size_t i = 0; i < opt_nr; i++)
		if (opt_table[i].groups & groups && is_name(opt_table[i].name, name, len))
			return &opt_table[i];
	return NULL;
}

static const struct opt_def *find_short(__u64 groups, char letter)
{
	for (size_t i = 0; i < opt_nr; i++)
		if (opt_table[i].groups & groups && opt_table[i].letter == letter)
			return &opt_table[i];
	return NULL;
}

struct cursor {
	__u64 groups;
	int argc, pos;
	char **argv;
	struct opts *o;
	char *err;
	size_t ids;			/* the list whose value came last; 0: another thing */
};

/* Which values an option takes, where its argument's name does not say it. */
static const char *unit_of(const struct opt_def *def)
{
	static const struct { const char *arg, *unit; } units[] = {
		{ "TIME", " (seconds, or 500ms, 10s, 2m, 1h)" },
		{ "MIN", " (minutes, or 90s, 5m, 2h)" },
		{ "MS", " (milliseconds, or 500ms, 2s)" },
		{ "SIZE", " (bytes, or 64K, 10M, 1G)" },
		{ "PERCENT", " (from 0 to 100)" },
		{ "SEPARATOR", " (one character, no letter or digit, as -x, or -x '\\t')" },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(def->arg, units[i].arg))
			return units[i].unit;
	if (opt_is_number(def))
		return " (a whole number)";
	if (opt_is_positive(def))
		return " (a whole number from 1 on)";
	return "";
}

/* "--by is one of ..., not processx (did you mean process?)" */
static void wrong_word(const struct opt_def *def, const char *allowed, const char *value,
		       char err[OPT_ERR])
{
	struct text_like l;
	const char *like;

	text_like_begin(&l, value);
	for (size_t i = 0; def->words[i]; i++)
		text_like_add(&l, def->words[i]);
	like = text_like_best(&l);
	snprintf(err, OPT_ERR, "--%s%s, not %.60s%s%.30s%s", def->name, allowed, value,
		 like ? " (did you mean " : "", like ? like : "", like ? "?)" : "");
}

static int set(struct cursor *c, const struct opt_def *def, const char *value)
{
	char allowed[OPT_ERR / 2] = "";
	int ret;

	c->o->given[(def - opt_table) / 64] |= 1ULL << (def - opt_table) % 64;
	c->ids = opt_is_ids(def) ? def->offset : 0;
	ret = def->parse(c->o, def->offset, value, def);
	if (!ret)
		return 0;
	if (ret == -EEXIST) {
		snprintf(c->err, OPT_ERR, "--%s was given before: there is room for one, not for "
			 "'%.60s' too", def->name, value);
		return -EINVAL;
	}
	for (size_t i = 0; def->words && def->words[i]; i++) {
		strncat(allowed, i ? ", " : " is one of ",
			sizeof(allowed) - strlen(allowed) - 1);
		strncat(allowed, def->words[i],
			sizeof(allowed) - strlen(allowed) - 1);
	}
	if (ret == -E2BIG)
		snprintf(c->err, OPT_ERR, "too many values for --%s", def->name);
	else if (def->words)
		wrong_word(def, allowed, value, c->err);
	else
		snprintf(c->err, OPT_ERR, "--%s takes %s%s, not '%.60s'", def->name,
			 def->arg, unit_of(def), value);
	return -EINVAL;
}

static const char *next_arg(struct cursor *c)
{
	return c->pos < c->argc ? c->argv[c->pos++] : NULL;
}

static int one_long(struct cursor *c, const char *arg)
{
	const char *eq = strchr(arg, '=');
	const size_t len = eq ? (size_t)(eq - arg) : strlen(arg);
	const struct opt_def *def = find_long(c->groups, arg, len);
	const char *value = eq ? eq + 1 : NULL;

	if (!def) {
		c->o->unknown = arg;
		snprintf(c->err, OPT_ERR, "no option --%.*s here",
			 (int)(len < 60 ? len : 60), arg);
		return -EINVAL;
	}
	if (!def->arg && value)
		return fmt_error(c->err, "--%s takes no value", def->name);
	if (def->arg && !value) {
		value = next_arg(c);
		if (!value)
			return fmt_error(c->err, "--%s needs a value", def->name);
	}
	return set(c, def, value);
}

/* Letters may be joined; the value of the last may be too. */
static int some_short(struct cursor *c, const char *arg)
{
	while (*arg) {
		const char letter[2] = { *arg++, '\0' };
		const struct opt_def *def = find_short(c->groups, letter[0]);
		const char *value = NULL;
		int ret;

		if (!def) {
			snprintf(c->o->letter, sizeof(c->o->letter), "%s", letter);
			c->o->unknown = c->o->letter;
			return fmt_error(c->err, "no option -%s here", letter);
		}
		if (def->arg) {
			value = *arg ? arg : next_arg(c);
			arg = "";
			if (!value)
				return fmt_error(c->err, "-%s needs a value", letter);
		}
		ret = set(c, def, value);
		if (ret)
			return ret;
	}
	return 0;
}

/* Recordings may be thousands. */
static int more_arg(struct cursor *c, const char *arg)
{
	struct opts *o = c->o;

	if (!(c->groups & OPT_FLEET))
		return fmt_error(c->err, "too many arguments: %.60s", arg);
	if (!o->more_args)
		o->more_args = calloc((size_t)c->argc, sizeof(*o->more_args));
	if (!o->more_args)
		return fmt_error(c->err, "%s", "no memory");
	o->more_args[o->nr_more_args++] = arg;
	return 0;
}

size_t opt_nr_args(const struct opts *o)
{
	return o->args.nr + o->nr_more_args;
}

const char *opt_arg(const struct opts *o, size_t i)
{
	return i < o->args.nr ? o->args.at[i] : o->more_args[i - o->args.nr];
}

static int one_arg(struct cursor *c, const char *arg)
{
	struct opt_strs *args = &c->o->args;

	if (arg[0] == '-' && arg[1] == '-')
		return one_long(c, arg + 2);
	if (arg[0] == '-' && arg[1])
		return some_short(c, arg + 1);
	if (!*arg)
		return fmt_error(c->err, "an argument is %s", "empty");
	if (args->nr == OPT_MAX_LIST)
		return more_arg(c, arg);
	if (!is_id(arg))
		c->ids = 0;
	c->o->behind[args->nr] = c->ids;
	args->at[args->nr++] = arg;
	return 0;
}

int opt_parse(__u64 groups, int argc, char **argv, struct opts *o,
	      char err[OPT_ERR])
{
	struct cursor c = { groups, argc, 1, argv, o, err, 0 };
	const char *arg;
	int ret;

	while ((arg = next_arg(&c))) {
		if (!strcmp(arg, "--") && groups & OPT_BY_ALL) {
			if (o->first_args || !opt_nr_args(o))
				return fmt_error(err, "%s stands between two groups of recordings",
						 "--");
			o->first_args = opt_nr_args(o);
			continue;
		}
		if (!strcmp(arg, "--")) {
			if (!(groups & OPT_TARGET))
				return fmt_error(err, "%s: nothing is run here", "--");
			if (c.pos == argc)
				return fmt_error(err, "no program after %s", "--");
			o->argv = argv + c.pos;
			break;
		}
		ret = one_arg(&c, arg);
		if (ret)
			return ret;
		if (o->help)
			return 0;
	}
	ret = groups & (OPT_RUN | OPT_INTERVAL | OPT_METRICS) ? take_interval(o, err) :
	      take_ids(o, 0, o->args.nr, err);
	if (ret)
		return ret;
	ret = name_file(o, groups, &o->out, &o->made[0], &o->out_later, err);
	if (!ret)
		ret = name_file(o, groups, &o->flame, &o->made[1], &o->flame_later, err);
	if (!ret)
		ret = check(o, err);
	if (!ret && o->split)
		o->argv = o->split;
	if (!ret && o->argv && !**o->argv)
		return fmt_error(err, "the name of the program is %s", "empty");
	return ret;
}

const char *opt_foreign(const struct opts *o, __u64 groups)
{
	for (size_t i = 0; i < opt_nr; i++)
		if (o->given[i / 64] >> i % 64 & 1 && !(opt_table[i].groups & groups))
			return opt_table[i].name;
	return NULL;
}

void opt_init(struct opts *o)
{
	memset(o, 0, sizeof(*o));
	o->by = -1;
	o->sort = -1;
	o->time_unit = -1;
	o->format = -1;
	o->context = 3;
}

void opt_free(struct opts *o)
{
	free(o->split);
	o->split = NULL;
	free(o->more_args);
	o->more_args = NULL;
	o->nr_more_args = 0;
	free(o->made[0]);
	free(o->made[1]);
	o->made[0] = o->made[1] = NULL;
}
