// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap list`: list what can be counted, each line as an EVENT. */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "elf/source.h"
#include "elf/symbols.h"
#include "base/err.h"
#include "target/maps.h"
#include "base/openreg.h"
#include "base/pattern.h"
#include "base/text.h"
#include "core/names.h"
#include "session/args.h"
#include "session/counter.h"
#include "session/dev.h"
#include "session/format.h"
#include "session/plan.h"
#include "session/session.h"
#include "session/tracefs.h"

struct listing {
	const char *prefix;		/* of each line */
	const char *path;
	const char *pattern;		/* or NULL */
	const regex_t *regex;		/* that it is; or NULL */
	bool usdt;			/* of files USDT probes alone */
	char last[512];			/* line: the same may have two versions */
	struct tracefs_names blacklist;
	size_t nr;
};

/* What files and processes are called is for others to say. */
__attribute__((format(printf, 1, 2)))
static void put_line(const char *fmt, ...)
{
	char *line;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) < 0)
		line = NULL;
	va_end(ap);
	if (line)
		text_put(stdout, line, NULL);
	putchar('\n');
	free(line);
}

static bool fits(const struct listing *l, const char *name);

static int print_name(const char *name, void *ctx)
{
	struct listing *l = ctx;

	/* (a pattern was looked at before) */
	if (l->regex && !fits(l, name))
		return 0;
	l->nr++;
	put_line("%s%s", l->prefix, name);
	return 0;
}

static bool fits(const struct listing *l, const char *name)
{
	char loose[512];

	if (l->regex)
		return !regexec(l->regex, name, 0, NULL, 0);
	if (!l->pattern || !fnmatch(l->pattern, name, 0))
		return true;
	if (is_pattern(l->pattern))
		return false;
	snprintf(loose, sizeof(loose), "*%s*", l->pattern);
	return !fnmatch(loose, name, 0);
}

static int print_func(const struct elfsym_func *f, void *ctx)
{
	struct listing *l = ctx;

	const bool versioned = f->old && f->version;
	char line[sizeof(l->last)];

	if (!fits(l, f->name))
		return 0;
	snprintf(line, sizeof(line), "%.300s%s%.100s%s", f->name,
		 versioned ? "@" : "", versioned ? f->version : "",
		 f->ifunc ? "  (indirect: cannot be probed)" : "");
	if (!strcmp(line, l->last))
		return 0;
	strcpy(l->last, line);
	l->nr++;
	put_line("u:%s:%s", l->path, line);
	return 0;
}

static int print_probe(const struct elfsym_probe *p, void *ctx)
{
	struct listing *l = ctx;
	char name[256];

	snprintf(name, sizeof(name), "%s:%s", p->provider, p->name);
	if (!fits(l, name))
		return 0;
	l->nr++;
	put_line("usdt:%s:%s  (0x%llx%s%s%s)", l->path, name,
		 (unsigned long long)p->offset, p->ref_ctr ? ", semaphore" : "",
		 *p->args ? ", args " : "", p->args);
	return 0;
}

static int list_fd(int fd, struct listing *l)
{
	struct elfsym *e;
	int err;

	err = elfsym_open(fd, &e);
	if (err)
		return err;
	err = elfsym_for_each_probe(e, print_probe, l);
	if (!err && !l->usdt)
		err = elfsym_for_each_func(e, print_func, l);
	elfsym_close(e);
	return err;
}

static int nothing(const struct listing *l, const char *what)
{
	if (l->nr)
		return 0;
	if (l->pattern)
		return fail_text("no %s match %s", what, l->pattern);
	return fail_text("there are no %s", what);
}

static const char *what_of_files(const struct listing *l)
{
	return l->usdt ? "USDT probes" : "functions or USDT probes";
}

static int list_file(const char *name, const struct listing *how)
{
	struct listing l = *how;
	char path[PATH_MAX];
	int fd, err;

	l.path = name;
	fd = open_regular(name);
	if (fd < 0 && !strchr(name, '/')) {
		if (maps_find_library(name, path, sizeof(path)))
			return fail(ERR_LIBRARY, ENOENT, "%s", name);
		l.path = path;
		fd = open_regular(path);
	}
	if (fd < 0)
		return fail(ERR_FILE, fd, "%s", name);
	err = list_fd(fd, &l);
	close(fd);
	return err ? fail(ERR_FILE, err, "%s", l.path) :
		     nothing(&l, what_of_files(&l));
}

static int list_pid(__u32 pid, struct listing *l)
{
	struct maps m;
	int err, fd;

	err = maps_read((pid_t)pid, &m);
	if (err)
		return fail(ERR_PID, err, "%u", pid);
	/* main() says so if nobody reads on */
	for (size_t i = 0; i < m.nr && !ferror(stdout); i++) {
		fd = maps_open((pid_t)pid, m.files[i]);
		if (fd < 0)
			continue;
		l->path = m.files[i]->path;
		l->last[0] = '\0';
		list_fd(fd, l);
		close(fd);
	}
	maps_free(&m);
	return 0;
}

static int list_pids(const struct opt_nums *pids, const struct listing *how)
{
	struct listing l = *how;
	int ret = 0;

	for (size_t i = 0; i < pids->nr; i++)
		ret |= list_pid(pids->at[i], &l);
	return ret ? ret : nothing(&l, what_of_files(&l));
}

static int list_tracepoints(const struct listing *how)
{
	struct listing l = *how;
	const char *pattern = l.regex ? NULL : l.pattern;
	char wide[300];
	int err;

	l.prefix = "t:";
	/* "kmem" is all of that subsystem, "fork" all that have it in the name */
	if (pattern && !is_pattern(pattern)) {
		snprintf(wide, sizeof(wide), "*%s*", pattern);
		pattern = wide;
	}
	err = tracefs_for_each_event(pattern, print_name, &l);
	if (err == -ENXIO)
		return fail(ERR_TRACEFS, ENOENT, "%s", "/sys/kernel/tracing");
	if (err)
		return fail(ERR_TRACEFS, err, "%s", "/sys/kernel/tracing");
	return nothing(&l, "tracepoints");
}

static int print_function(const char *name, void *ctx)
{
	const struct listing *l = ctx;

	return tracefs_is_listed(&l->blacklist, name) ? 0 : print_name(name, ctx);
}

static int list_functions(const struct listing *how)
{
	struct listing l = *how;
	const char *pattern = l.regex ? NULL : l.pattern;
	char wide[300];
	int err;

	l.prefix = "k:";
	if (pattern && !is_pattern(pattern)) {
		snprintf(wide, sizeof(wide), "*%s*", pattern);
		pattern = wide;
	}
	err = tracefs_read_blacklist(&l.blacklist);
	if (!err)
		err = tracefs_for_each_function(pattern, print_function, &l);
	tracefs_free_names(&l.blacklist);
	if (err)
		return fail(ERR_TRACEFS, err, "%s", "the list of functions");
	return nothing(&l, "kernel functions");
}

static int list_events(const struct listing *how)
{
	struct listing l = *how;
	struct session s;
	int ret;

	ret = session_open(&s);
	if (ret)
		return ret;
	for (__u32 i = 0; i < s.nr_events; i++) {
		const struct memtap_event_info *e = &s.events[i];

		if (!fits(&l, e->name) && !fits(&l, e->group))
			continue;
		l.nr++;
		printf("%-20s %-12s %s\n", e->name, e->group, e->summary);
	}
	session_close(&s);
	return nothing(&l, "built-in events");
}

static int print_counter(const char *name, const struct counter *c, void *ctx)
{
	struct listing *l = ctx;

	if (!fits(l, name))
		return 0;
	l->nr++;
	printf("perf:%-28s %s\n", name, counter_try(c) ? "not on this machine" : "");
	return 0;
}

static int list_counters(const struct listing *how)
{
	struct listing l = *how;

	counter_each(print_counter, &l);
	return nothing(&l, "counters of perf");
}

/* ---- the arguments of one event ---- */

static void put_arg(const char *name, const char *type, const char *more)
{
	if (*more)
		put_line("  %-20s %-6s %s", name, type, more);
	else
		put_line("  %-20s %s", name, type);
}

static const char *number_type(__u8 type)
{
	const struct args_shown s = { .show = ARGS_NUMBER, .type = type };

	return args_type_name(&s);
}

static const char *field_type(const struct format_field *f)
{
	switch (f->kind) {
	case FORMAT_NUMBER:
		return number_type((__u8)(f->size | (f->is_signed ? MEMTAP_TYPE_SIGNED : 0)));
	case FORMAT_POINTER:
		return "ptr";
	case FORMAT_BOOL:
		return "bool";
	case FORMAT_OTHER:
		return "-";
	default:
		return "str";
	}
}

static int list_fields(const char *event)
{
	char subsystem[MEMTAP_NAME_LEN];
	const char *colon = strchr(event, ':');
	struct format f;
	int err;

	snprintf(subsystem, sizeof(subsystem), "%.*s", (int)(colon - event), event);
	err = tracefs_format(subsystem, colon + 1, &f);
	if (err)
		return fail(ERR_TRACEPOINT, err, "%s", event);
	for (size_t i = 0; i < f.nr; i++)
		put_arg(f.at[i].name, field_type(&f.at[i]), f.at[i].type);
	return 0;
}

static int list_pair(const char *event)
{
	const char *dots = strstr(event, "..");
	char begin[MEMTAP_NAME_LEN];
	int ret;

	snprintf(begin, sizeof(begin), "%.*s", (int)(dots - event), event);
	put_line(" begin.");
	ret = list_fields(begin);
	if (ret)
		return ret;
	put_line(" end.");
	ret = list_fields(dots + 2);
	put_arg("latency", "u64", "ns between them");
	return ret;
}

static void list_operands(const char *operands)
{
	char name[16];
	__u8 type;

	for (unsigned int n = args_nr_operands(operands), i = 0; i < n; i++) {
		const int err = args_operand_type(operands, i, &type);

		snprintf(name, sizeof(name), "arg%u", i + 1);
		put_arg(name, err ? "-" : number_type(type), err ? "cannot be read" : "");
	}
}

/* Where a variable is, or why it cannot be read. */
static void put_variable(const char *name, const struct source_var *v, void *ctx)
{
	static const char *const why[] = {
		[SOURCE_GONE] = "optimized out here",
		[SOURCE_EARLY] = "not stored yet where the function begins",
		[SOURCE_CONSTANT] = "a constant here",
		[SOURCE_FORM] = "in a place that memtap cannot read",
		[SOURCE_TYPE] = "neither a number, a pointer nor a string",
	};
	char where[160];

	(void)ctx;
	if (v->how == SOURCE_TYPE && v->reg && v->load &&
	    (v->of.kind == CTYPE_RECORD || v->of.kind == CTYPE_ARRAY)) {
		snprintf(where, sizeof(where), "%s, at %s%+lld: name %s", v->words, v->reg,
			 (long long)v->offset, v->of.kind == CTYPE_RECORD ? "a member of it" :
			 "an element of it");
		put_arg(name, "-", where);
		return;
	}
	if (v->how != SOURCE_READ) {
		snprintf(where, sizeof(where), "%s: %s", v->words, why[v->how]);
		put_arg(name, "-", where);
		return;
	}
	if (v->offset)
		snprintf(where, sizeof(where), "%s, %s %s%+lld", v->words,
			 v->load || v->array ? "at" : "equal to", v->reg, (long long)v->offset);
	else
		snprintf(where, sizeof(where), "%s, %s %s", v->words,
			 v->load || v->array ? "at" : "in", v->reg);
	put_arg(name, v->type, where);
}

static int list_variables(const struct plan_item *item)
{
	struct source *s;
	struct elfsym *e;
	int err;

	put_line("  offset 0x%llx, %s", (unsigned long long)item->attach.offset, item->in);
	err = elfsym_open(item->attach.fd, &e);
	if (err)
		return fail(ERR_FILE, err, "%s", item->text);
	err = source_open(e, &s);
	if (!err)
		source_for_each_var(s, item->vaddr, put_variable, NULL);
	source_close(err ? NULL : s);
	elfsym_close(e);
	return err ? fail(ERR_FILE, err, "%s", item->text) : 0;
}

#define MOST_CODE	4096
#define PER_LINE	10

/* Where the instructions of its function begin: there a probe may be. */
static void list_places(const struct plan_item *item)
{
	struct elfsym_boundary b = { NULL, 0, 0 };
	enum elfsym_place place;
	struct elfsym *e;
	__u64 start, size;
	size_t nr = 0;

	if (elfsym_open(item->attach.fd, &e))
		return;
	place = elfsym_check_boundary(e, item->attach.offset, &b);
	if (place == ELFSYM_NO_FUNCTION || place == ELFSYM_UNDECODED || !b.func) {
		put_arg("places", "-", "its instructions are not known: it can be probed at its "
			"start alone");
		elfsym_close(e);
		return;
	}
	start = b.func->offset;
	size = b.func->size;
	put_line("  places for a probe, from the start of the function (as in u:FILE:FUNCTION+N):");
	fputs("   ", stdout);
	for (__u64 at = 0; at < size && at < MOST_CODE; at = b.after - start) {
		if (nr && nr % PER_LINE == 0)
			fputs("\n   ", stdout);
		printf(" +%llu", (unsigned long long)at);
		nr++;
		/* which instruction is next, the one before it tells */
		place = elfsym_check_boundary(e, start + at + !at, &b);
		if (!at && place == ELFSYM_BOUNDARY)
			b.after = start + 1;
		if ((place != ELFSYM_BOUNDARY && place != ELFSYM_INSIDE) || b.after <= start + at)
			break;
	}
	putchar('\n');
	if (size > MOST_CODE)
		put_line("    and more behind the first %d bytes", MOST_CODE);
	elfsym_close(e);
}

static int list_args(const struct plan_item *item)
{
	const struct memtap_attach *a = &item->attach;
	int ret = 0;

	put_line("%s%s", item->text, a->flags & MEMTAP_ATTACH_RETURN ? " (return)" : "");
	if (item->at_line) {
		ret = list_variables(item);
	} else if (a->kind == MEMTAP_ATTACH_TRACEPOINT) {
		ret = list_fields(a->name);
	} else if (a->kind == MEMTAP_ATTACH_PAIR) {
		ret = list_pair(a->name);
	} else if (item->operands) {
		list_operands(item->operands);
	} else {
		put_arg("arg1 .. arg6", "u64", "integer arguments, in their order");
		if (a->flags & MEMTAP_ATTACH_RETURN) {
			put_arg("ret", "s64", "what it returns");
			put_arg("latency", "u64", "ns since the entry");
		}
	}
	if (!ret)
		put_arg("pid tid uid cpu comm", "", "of who did it");
	if (!ret)
		put_arg("free node", "", "free pages of the machine, the CPU's node");
	if (!ret && a->kind == MEMTAP_ATTACH_UPROBE && !item->operands)
		list_places(item);
	return ret;
}

static int is_there(const char *name, void *ctx)
{
	(void)name;
	(void)ctx;
	return 1;
}

/* Where the kernel says which functions it has. */
static int check_function(const struct memtap_attach *a)
{
	if (a->kind != MEMTAP_ATTACH_KPROBE || tracefs_for_each_function(a->name, is_there, NULL))
		return 0;
	return fail(ERR_FUNCTION, ENOENT, "%s", a->name);
}

static int list_event(const char *event, const struct opts *o)
{
	const struct plan_env env = { .pids = &o->pids, .tids = &o->tids };
	static struct plan plan;
	int ret = plan_add(&plan, &env, event);

	for (size_t i = 0; !ret && i < plan.nr; i++) {
		ret = check_function(&plan.items[i].attach);
		if (!ret)
			ret = list_args(&plan.items[i]);
	}
	plan_free(&plan);
	return ret;
}

/* False: it is not the name of one, as far as can be known. */
static bool list_builtin(const char *name)
{
	struct memtap_event_info *events = NULL;
	struct format f;
	__u32 nr = 0, i;
	int fd;

	if (dev_open(&fd))
		return false;
	if (dev_events(fd, &events, &nr))
		nr = 0;
	for (i = 0; i < nr && strcmp(events[i].name, name); i++)
		;
	if (i < nr) {
		put_line("%s  (%s)", name, events[i].summary);
		plan_fields(fd, i, name, &f);
		for (size_t k = 0; k < f.nr; k++)
			put_arg(f.at[k].name, field_type(&f.at[k]), "");
		if (events[i].unit != MEMTAP_UNIT_NONE)
			put_arg("value", "s64", unit_name(events[i].unit));
		put_arg("pid tid uid cpu comm", "", "of who did it");
	}
	free(events);
	close(fd);
	return i < nr;
}

/* Not a file, and no library's name: it says where, and what there. */
static bool is_event(const char *what)
{
	return strchr(what, ':') && access(what, F_OK);
}

static const struct {
	const char *name;
	int (*list)(const struct listing *how);
} kinds[] = {
	{ "events", list_events },
	{ "tracepoints", list_tracepoints },
	{ "functions", list_functions },
	{ "perf", list_counters },
};

/* What is not asked for by name: kinds of events, files, processes. */
static int list_all(const struct cmd *cmd, struct opts *o, size_t at, struct listing *how)
{
	const char *what = o->args.nr > at ? o->args.at[at] : how->usdt ? NULL : "events";

	if (o->pids.nr) {
		if (o->args.nr > at + 1)
			return usage_error(cmd->name, "with -p, one PATTERN only");
		how->pattern = o->args.nr > at ? what : NULL;
		return list_pids(&o->pids, how);
	}
	if (!what)
		return usage_error(cmd->name, "usdt needs a FILE or -p PID");
	if (o->args.nr > at + 2)
		return usage_error(cmd->name, "one PATTERN only");
	for (size_t i = 0; !how->usdt && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(what, kinds[i].name))
			return kinds[i].list(how);
	if (!how->pattern && !how->usdt && is_event(what))
		return list_event(what, o);
	if (!how->pattern && !how->usdt && !strchr(what, '/') && list_builtin(what))
		return 0;
	return list_file(what, how);
}

int cmd_list(const struct cmd *cmd, struct opts *o)
{
	const bool usdt = o->args.nr && !strcmp(o->args.at[0], "usdt") && access("usdt", F_OK);
	const size_t at = usdt;
	struct listing how = { .prefix = "", .usdt = usdt };
	char why[200];
	regex_t regex;
	int err, ret;

	if (o->args.nr > at)
		how.pattern = o->pids.nr ? o->args.at[at] : o->args.nr > at + 1 ?
			      o->args.at[at + 1] : NULL;
	if (!o->regex)
		return list_all(cmd, o, at, &how);
	if (!how.pattern)
		return usage_error(cmd->name, "--regex needs a PATTERN");
	err = regcomp(&regex, how.pattern, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &regex, why, sizeof(why));
		return usage_error(cmd->name, "'%s' is not a regular expression: %s", how.pattern,
				   why);
	}
	how.regex = &regex;
	ret = list_all(cmd, o, at, &how);
	regfree(&regex);
	return ret;
}
