// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/err.c ctl/base/opt.c ctl/base/opt_help.c ctl/base/opt_table.c */
/* LINK: ctl/base/opt_value.c ctl/base/out_name.c */
/* LINK: ctl/base/text.c ctl/session/event.c */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "session/event.h"
#include "base/opt.h"
#include "base/text.h"
#include "tap.h"

#define ALL	(OPT_TARGET | OPT_ALL | OPT_RUN | OPT_SELECT | OPT_STACK | OPT_KINDS | \
		 OPT_RENDER | OPT_FLAMES | OPT_OUT | OPT_BY | OPT_JSON | OPT_CALLS)
#define LEAKS	(OPT_TARGET | OPT_RUN | OPT_SIZES | OPT_WALK | OPT_RENDER | OPT_LEAKS | \
		 OPT_LIVE | OPT_TRACE)
#define MAX_ARGS 32

static struct opts o;
static char why[OPT_ERR];

/* Parse a line that is split at blanks. */
static int parse(__u64 groups, const char *line)
{
	static char copy[512], *argv[MAX_ARGS];
	int argc = 0;

	opt_free(&o);
	opt_init(&o);
	why[0] = '\0';
	snprintf(copy, sizeof(copy), "cmd %s", line);
	for (char *p = strtok(copy, " "); p && argc < MAX_ARGS; p = strtok(NULL, " "))
		argv[argc++] = p;
	return opt_parse(groups, argc, argv, &o, why);
}

static void test_values(void)
{
	is(parse(ALL, "ev -p 1,22 -p333 --tid=4 -d 2.5 --min-size 64K "
		 "--max-size=1G --top 0 -UK --by comm --sort max"), 0,
	   "options of all types are taken");
	is(o.pids.nr, 3, "-p may be repeated and have a list");
	is(o.pids.at[2], 333, "the value of a letter may be joined to it");
	is(o.tids.at[0], 4, "a long option's value may follow =");
	ok(o.duration > 2.49 && o.duration < 2.51, "seconds may have a fraction");
	is(o.min_size, 65536, "K is 1024 bytes");
	is(o.max_size, 1ULL << 30, "G is 1024 to the third");
	ok(o.top_given && !o.top, "--top 0 differs from no --top");
	ok(o.user && o.kernel, "letters may be joined");
	is(o.by, 2, "--by comm is the third of its words");
	is(o.sort, 2, "--sort max is the third of its words");
	is(o.args.nr, 1, "what is no option remains");
	is(o.unwind, UNWIND_AUTO, "user stacks are followed as well as possible");
	is(parse(ALL, "ev --unwind fp"), 0, "--unwind has words");
	is(o.unwind, UNWIND_FP, "fp is the last of them");
	is(parse(ALL, "ev --unwind lbr"), -EINVAL, "and no others");
}

static void test_names_of_files(void)
{
	ok(!parse(ALL, "ev -o x.%p -p 12") && !strcmp(o.out, "x.12") && !o.out_later,
	   "%%p is the process, if there is one");
	ok(!parse(ALL, "ev -o x.%p -- true") && !strcmp(o.out, "x.%p") && o.out_later,
	   "a program has a PID when it was started");
	ok(!parse(ALL, "ev --flame x.%p -- true") && o.flame_later && !o.out_later,
	   "so it is for --flame");
	is(parse(ALL, "ev -o x.%p -p 12,13"), -EINVAL, "of several there is none");
	is(parse(ALL, "ev -o x.%p -a"), -EINVAL, "nor of all");
	is(parse(ALL, "ev -o x.%p -p 12 --comm a"), -EINVAL, "nor of others as well");
	is(parse(OPT_OUT, "FILE -o x.%p"), -EINVAL, "nor of a recording");
	ok(!parse(OPT_OUT | OPT_HEAP | OPT_PIDS, "77 -o x.%p.%n") && !strcmp(o.out, "x.77.1"),
	   "a PID may be an argument");
	ok(!parse(ALL, "ev -o x.%n") && !strcmp(o.out, "x.1") && !o.out_numbered,
	   "one report is the first");
	ok(!parse(ALL, "ev -o x.%n 1") && o.out_later && o.out_numbered, "of several each has a "
	   "file");
	is(parse(ALL, "ev --format callgrind -o x 1"), -EINVAL, "some formats need that");
	is(parse(ALL, "ev --format callgrind -o x.%n 1"), 0, "and then have intervals, too");
	is(parse(LEAKS | OPT_OUT, "--trace -o x.%n -p 1 1"), -EINVAL, "a trace is in one file");
	is(parse(ALL, "ev -o x.%z"), -EINVAL, "nothing else may be behind %%");
	ok(!parse(ALL, "ev -o 5%%") && !strcmp(o.out, "5%"), "but another one");
}

static void test_minutes(void)
{
	is(parse(OPT_STALE, "--stale 5"), 0, "--stale is minutes");
	ok(o.stale > 299 && o.stale < 301, "of which seconds are kept");
	ok(!parse(OPT_STALE, "--stale 2h") && o.stale > 7199 && o.stale < 7201, "hours");
	ok(!parse(OPT_STALE, "--stale 90s") && o.stale > 89 && o.stale < 91, "seconds");
	ok(!parse(OPT_STALE, "--stale 0.5m") && o.stale > 29 && o.stale < 31, "fractions");
	is(parse(OPT_STALE, "--stale 0.5s"), -EINVAL, "less than a second is too short");
	is(parse(OPT_STALE, "--stale s"), -EINVAL, "a unit alone is no time");
	is(parse(OPT_STALE, "--stale 5d"), -EINVAL, "nor is what has another unit");
	is(parse(OPT_STALE, "--stale 99999999999999999"), -EINVAL, "or has no end");
}

static void test_times(void)
{
	is(parse(ALL, "ev -d 10s"), 0, "a duration may have a unit");
	ok(o.duration > 9.9 && o.duration < 10.1, "s are seconds");
	ok(!parse(ALL, "ev -d 2m") && o.duration > 119 && o.duration < 121, "m are minutes");
	ok(!parse(ALL, "ev -d 2min") && o.duration > 119 && o.duration < 121, "as min are");
	ok(!parse(ALL, "ev -d 500ms") && o.duration > 0.49 && o.duration < 0.51, "ms");
	ok(!parse(ALL, "ev 10s 3") && o.interval > 9.9 && o.count == 3 && o.args.nr == 1,
	   "so may an interval");
	ok(!parse(ALL | OPT_DRAIN, "ev --drain 1m") && o.drain > 59 && o.drain < 61, "--drain");
	ok(!parse(LEAKS, "--older 2s") && o.older == 2000 && o.older_given, "--older, too");
	ok(!parse(LEAKS, "--older 250") && o.older == 250, "which is milliseconds without one");
	ok(!parse(LEAKS, "--max-pause 1s") && o.max_pause == 1000, "--max-pause, too");
	is(parse(LEAKS, "--max-pause 0"), -EINVAL, "which is not 0");
	is(parse(ALL, "ev -d 10x"), -EINVAL, "an unknown unit is refused");
	ok(strstr(why, "10s, 2m"), "with the units there are: %s", why);
	is(parse(ALL, "ev -d s"), -EINVAL, "a unit alone is no time");
}

static void test_like(void)
{
	struct text_like like;

	ok(opt_has(OPT_TARGET, "pid") && opt_has(OPT_TARGET, "p") && !opt_has(OPT_TARGET, "json"),
	   "which commands have an option is known");
	ok(opt_like(OPT_FLAMES, "floded", &like) && !strcmp(like.best, "folded"),
	   "a misspelt option is recognised");
	ok(!opt_like(OPT_FLAMES, "nonsense", &like), "what is like none is not");
	is(parse(ALL, "ev --by processx"), -EINVAL, "a misspelt word is refused");
	ok(strstr(why, "not processx (did you mean process?)"), "and the right one said: %s", why);
	is(parse(ALL, "ev --by nonsense"), -EINVAL, "so is another one");
	ok(!strstr(why, "did you mean"), "without a guess: %s", why);
	text_like_begin(&like, "cat");
	text_like_add(&like, "bat");
	ok(text_like_best(&like) && !strcmp(text_like_best(&like), "bat"), "one letter");
	text_like_add(&like, "bat");
	ok(text_like_best(&like), "the same word twice is one");
	text_like_add(&like, "rat");
	ok(!text_like_best(&like), "but of two that are as near neither is meant");
	text_like_begin(&like, "xyz");
	text_like_add(&like, "xab");
	ok(!text_like_best(&like), "and most of a word is too much");
	is(parse(OPT_TARGET, "--json"), -EINVAL, "an option that is not here is refused");
	ok(o.unknown && !strcmp(o.unknown, "json"), "and remembered");
	is(parse(OPT_TARGET, "-o x"), -EINVAL, "so is a letter");
	ok(o.unknown && !strcmp(o.unknown, "o"), "and remembered");
}

static void test_formats(void)
{
	is(parse(ALL, "ev"), 0, "nothing says how it looks");
	is(o.format, FORMAT_TABLE, "then it is a table");
	is(parse(ALL, "ev --json"), 0, "--json is an option");
	is(o.format, FORMAT_JSON, "and the name of a format");
	is(parse(ALL, "ev --folded"), 0, "--folded is an option");
	is(o.format, FORMAT_FOLDED, "and the name of a format");
	is(parse(ALL, "ev --format json --json"), 0, "it may be said twice");
	ok(o.json, "--format json is --json");
	is(parse(ALL, "ev --format flame --json"), -EINVAL, "but not something else");
	is(parse(ALL, "ev --json --folded"), -EINVAL, "nor by two options");
	is(parse(ALL, "ev --format table --json"), -EINVAL, "a table is no JSON");
	is(parse(ALL, "ev --format callgrind"), 0, "formats have names");
	is(o.format, FORMAT_CALLGRIND, "in the order of the list");
	is(parse(ALL, "ev --format callgrind 1 2"), -EINVAL, "one file is one report");
	is(parse(ALL, "ev --format folded 1 2"), 0, "folded stacks come again and again");
	is(parse(ALL, "ev --format gif"), -EINVAL, "other formats are refused");
}

static void test_leaks(void)
{
	is(parse(LEAKS, "-p 1 --alloc A:f(size=arg1,ptr=ret) --alloc B:f(size=arg2,ptr=ret) "
		 "--free A:g(ptr=arg1) --sample-bytes 512K --older 0 --error-exitcode 255 "
		 "--suppressions x --suppressions y --sort age --min-size 1 --no-pause 5"), 0,
	   "options of leaks are taken");
	is(o.allocs.nr, 2, "--alloc may be repeated");
	ok(!strcmp(o.frees.at[0], "A:g(ptr=arg1)"), "--free is kept as it is");
	is(o.sample_bytes, 512 << 10, "--sample-bytes is a size");
	ok(o.older_given && !o.older, "--older 0 differs from no --older");
	is(o.exitcode, 255, "--error-exitcode goes up to 255");
	is(o.suppressions.nr, 2, "--suppressions may be repeated");
	is(o.sort, 3, "--sort age is the fourth of its words");
	ok(o.no_hold && !o.trace && !o.no_mappings, "flags are set one by one");
	is(parse(LEAKS, "-p 1"), 0, "all of them may be left out");
	ok(!o.older_given && !o.exitcode && !o.sample_rate, "and are not given then");
	is(parse(LEAKS, "--reach --no-hold --unwind rows -p 1"), 0, "former names are taken");
	ok(o.reach && o.no_hold && o.unwind == UNWIND_ROWS, "and mean the same");
	is(parse(LEAKS, "--hist"), -EINVAL, "what counts events is refused there");
	is(parse(ALL, "--trace"), -EINVAL, "and the other way round");
	is(parse(ALL | OPT_RECORD, "--leaks"), 0, "record has --leaks");
}

static void test_interval(void)
{
	is(parse(ALL, "k:f fault 2 10"), 0, "interval and count may follow events");
	is(o.args.nr, 2, "they are not events");
	is((int)o.interval, 2, "the first number is the interval");
	is(o.count, 10, "the second is the count");
	is(parse(ALL, "0.5"), 0, "an interval may stand alone");
	ok(o.interval > 0.49 && o.interval < 0.51 && !o.count,
	   "and have a fraction; there is no count then");
	is(parse(ALL, "1 2 3"), -EINVAL, "three numbers are refused");
	is(parse(ALL, "0"), -EINVAL, "an interval of nothing is refused");
	is(parse(ALL, "1 0"), -EINVAL, "a count of nothing is refused");
	is(parse(ALL, "1 1.5"), -EINVAL, "half a report is refused");
	is(parse(OPT_PIDS, "7"), 0, "other commands keep numbers");
	is(o.args.nr, 1, "as arguments");
}

/* What `-p $(pidof x)` becomes, with and without quotes. */
static void test_pids(void)
{
	static const struct { const char *value; size_t nr; } good[] = {
		{ "1 2 3", 3 }, { "1,2 3", 3 }, { " 1 , 2 ", 2 }, { "1\n2\n3\n", 3 }, { "7\t", 1 },
	};
	static const char *const bad[] = { "", " ", "1,,2", ",1", "1 2,", "1 x", "1;2", "1 0" };
	char value[32], *argv[] = { (char *)"cmd", (char *)"-p", value };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		opt_init(&o);
		strcpy(value, good[i].value);
		is(opt_parse(ALL, 3, argv, &o, why), 0, "-p '%s' is taken", value);
		is(o.pids.nr, good[i].nr, "it has as many PIDs as numbers");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		opt_init(&o);
		strcpy(value, bad[i]);
		is(opt_parse(ALL, 3, argv, &o, why), -EINVAL, "-p '%s' is refused", value);
	}
	is(parse(ALL, "-p 11 12"), 0, "a number behind -p PID may be an interval");
	ok((int)o.interval == 12 && o.pids.nr == 1 && o.unsure && !strcmp(o.unsure, "12"),
	   "and what it looks like is remembered");
	is(parse(ALL, "-p 11 12 13"), 0, "with a count");
	ok(o.unsure && o.count == 13, "too");
	is(parse(ALL, "-p 11 12.0"), 0, "a fraction is no PID");
	ok(!o.unsure && (int)o.interval == 12, "but an interval");
	is(parse(ALL, "-p 11 -d 3 12"), 0, "nor is what stands elsewhere");
	ok(!o.unsure && (int)o.interval == 12, "but an interval, too");
	is(parse(ALL, "-p 11 12 13 14 -d 5"), 0, "three numbers are no interval and count");
	ok(o.pids.nr == 4 && o.pids.at[3] == 14 && o.more_ids.nr == 3 && o.interval == 0 &&
	   !o.args.nr, "but PIDs, as the one before them");
	is(parse(ALL, "-p 11 12 13 14 -d 5 2 3"), 0, "interval and count may follow elsewhere");
	ok(o.pids.nr == 4 && (int)o.interval == 2 && o.count == 3, "and are found");
	is(parse(ALL, "--tid 11 12 fault -p 13 14 brk 2"), 0, "before an event, one will do");
	ok(o.tids.nr == 2 && o.tids.at[1] == 12 && o.pids.nr == 2 && o.pids.at[1] == 14,
	   "and belongs to what it stands behind");
	ok(o.args.nr == 2 && !strcmp(o.args.at[1], "brk") && (int)o.interval == 2 && !o.unsure,
	   "the events and the interval remain");
	is(parse(ALL, "-d 1 2 3 4"), -EINVAL, "behind other options three numbers are refused");
	is(parse(OPT_PIDS, "-p 11 12 13"), 0, "where there are no intervals, all are PIDs");
	ok(o.pids.nr == 3 && !o.args.nr, "and no arguments");
}

static void test_command(void)
{
	is(parse(ALL, "fault -q -- prog -p 1 -- x"), 0, "-- ends the options");
	ok(o.argv && !strcmp(o.argv[0], "prog") && !strcmp(o.argv[1], "-p") &&
	   !strcmp(o.argv[3], "--"), "what follows is the program's, all of it");
	is(o.args.nr, 1, "and not an event");
	is(parse(ALL, "--"), -EINVAL, "-- without a program is refused");
	is(parse(OPT_RENDER, "x -- y"), -EINVAL,
	   "-- is refused where nothing is run");
	is(parse(ALL, "-c prog -- prog"), -EINVAL, "-c and -- exclude each other");
	is(parse(ALL, "-c prog"), 0, "-c alone is taken");
	ok(o.argv && !strcmp(o.argv[0], "prog") && !o.argv[1], "and split");
	is(parse(ALL, "-a -c prog"), 0, "-a may go with a program");
	is(parse(ALL, "-a --self -c prog"), 0, "and both with --self");
	is(parse(ALL, "--self fault"), 0, "which goes without -a where nothing is chosen");
	ok(o.self && !o.system && !o.verbose, "and is remembered");
	is(parse(ALL, "-v"), 0, "-v is --verbose");
	ok(o.verbose && !o.quiet, "and nothing else");
}

static void test_refused(void)
{
	static const char *const bad[] = {
		"-p", "-p 0", "-p -1", "-p 1,,2", "-p 1,", "-p x", "-p 99999999999",
		"--pid=", "--nonsense", "-Z", "--json=1", "--by planet", "--sort",
		"-d 0", "-d -1", "-d 1e3", "-d inf", "--min-size 5X",
		"--min-size 1K --max-size 1", "--min-size 99999999999999G",
		"--depth 0", "--depth x", "--top -1", "-a -p 1", "-a --comm x",
		"--only-user --only-kernel", "--json --folded", "--children",
		"--self -p 1", "--self --comm x", "--self -c prog",
		"--max-mem 0", "--comm=", "-o", "--top 4294967296",
		"--by process --by comm", "-o a -o b",
	};
	static const char *const bad_leaks[] = {
		"--sample-rate 0", "--sample-bytes 0", "--sample-rate 2 --sample-bytes 1K",
		"--error-exitcode 0", "--error-exitcode 256", "--error-exitcode x",
		"--free-stacks --no-free-stacks", "--older", "--older -1", "--alloc=",
		"--suppressions", "--sort blocks",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		is(parse(ALL, bad[i]), -EINVAL, "'%s' is refused", bad[i]);
		ok(why[0], "'%s' is refused with a sentence: %s", bad[i], why);
	}
	for (size_t i = 0; i < sizeof(bad_leaks) / sizeof(bad_leaks[0]); i++) {
		is(parse(LEAKS, bad_leaks[i]), -EINVAL, "'%s' is refused", bad_leaks[i]);
		ok(why[0], "'%s' is refused with a sentence: %s", bad_leaks[i], why);
	}
	is(parse(OPT_DIST, "--by order --by process"), 0, "rows by an argument and by process");
	is(parse(OPT_DIST, "--by order --by gfp"), -EINVAL, "but not by two arguments");
	ok(strstr(why, "--by was given before: there is room for one, not for 'gfp' too"),
	   "which is said: %s", why);
	is(parse(OPT_DIST, "--by comm --by order --by thread"), -EINVAL,
	   "nor by two of the others");
	is(parse(OPT_SELECT, "--filter pid>1 --filter pid<9"), -EINVAL, "nor with two filters");
	is(parse(ALL, "-o a -o a --top 3 --top 4"), 0,
	   "the same twice is the same; numbers change");
	is(parse(OPT_TARGET, "--folded"), -EINVAL,
	   "an option of other commands is refused");
	is(parse(ALL, "--help --nonsense"), 0, "--help comes before all complaints");
	ok(o.help, "and is remembered");
}

static void test_many(void)
{
	char line[300];
	int ret = 0;

	opt_init(&o);
	memset(line, 0, sizeof(line));
	for (int i = 0; i < 100; i++)
		strcat(line, "1,");
	line[strlen(line) - 1] = '\0';
	for (int i = 0; !ret && i < 12; i++) {
		char *argv[] = { (char *)"cmd", (char *)"-p", line };

		ret = opt_parse(ALL, 3, argv, &o, why);
	}
	is(ret, -EINVAL, "more PIDs than there is room for are refused");
	is(o.pids.nr, OPT_MAX_LIST, "after all that fit");
}

static void test_sizes(void)
{
	static const struct { const char *text; __u64 want; } good[] = {
		{ "0", 0 }, { "1", 1 }, { "0x10", 16 }, { "1k", 1024 },
		{ "2M", 2 << 20 }, { "3MiB", 3 << 20 }, { "4GB", 4ULL << 30 },
		{ "16T", 16ULL << 40 }, { "7B", 7 }, { "18446744073709551615", ~0ULL },
	};
	static const char *const bad[] = {
		"", "K", "1KK", "-1", "+1", " 1", "1 ", "1.5M", "0x", "1i",
		"18446744073709551616", "16777216T",
	};
	__u64 v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		v = 12345;
		ok(opt_size(good[i].text, &v), "'%s' is a size", good[i].text);
		is(v, good[i].want, "'%s' is the right one", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!opt_size(bad[i], &v), "'%s' is not a size", bad[i]);
}

static bool splits(const char *line, const char *const *want)
{
	char **argv;
	size_t i;
	bool same = true;

	if (opt_split(line, &argv, why))
		return false;
	for (i = 0; same && want[i]; i++)
		same = argv[i] && !strcmp(argv[i], want[i]);
	same = same && !argv[i];
	free(argv);
	return same;
}

#define WORDS(...) (const char *const[]) { __VA_ARGS__, NULL }

static void test_split(void)
{
	static const char *const bad[] = {
		"", "  ", "'a", "a \"b", "a | b", "a; b", "a & b", "a > f", "a < f",
		"a $x", "a `b`", "(a)",
	};
	char **argv;

	ok(splits("a b  c ", WORDS("a", "b", "c")), "words are separated by blanks");
	ok(splits("a 'b c' d", WORDS("a", "b c", "d")), "quotes keep blanks");
	ok(splits("\"a b\"c", WORDS("a bc")), "quotes may end inside a word");
	ok(splits("a '' b", WORDS("a", "", "b")), "a word may be empty");
	ok(splits("a\\ b c\\'", WORDS("a b", "c'")), "a backslash keeps a character");
	ok(splits("'a\\b' \"c\\\"d\\e\"", WORDS("a\\b", "c\"d\\e")),
	   "inside of quotes it does so as in a shell");
	ok(splits("'' ''", WORDS("", "")), "there may be empty words only");
	ok(splits("a '|' \\;", WORDS("a", "|", ";")),
	   "quoted shell syntax is plain text");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is(opt_split(bad[i], &argv, why), -EINVAL, "'%s' is refused: %s",
		   bad[i], why);
}

/* --- events --------------------------------------------------------------- */

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void test_events(void)
{
	static const struct {
		const char *text;
		enum event_kind kind;
		bool is_return;
		const char *file, *group, *name;
		__u64 offset;
	} good[] = {
		{ "minor-fault", EVENT_BUILTIN, 0, NULL, NULL, "minor-fault", 0 },
		{ "sched:sched_switch", EVENT_TRACEPOINT, 0, NULL, "sched",
		  "sched_switch", 0 },
		{ "t:kmem:*", EVENT_TRACEPOINT, 0, NULL, "kmem", "*", 0 },
		{ "k:vfs_read", EVENT_KERNEL, 0, NULL, NULL, "vfs_read", 0 },
		{ "k:vfs_read+0x10", EVENT_KERNEL, 0, NULL, NULL, "vfs_read", 16 },
		{ "kr:vfs_read", EVENT_KERNEL, 1, NULL, NULL, "vfs_read", 0 },
		{ "u:/bin/a:main", EVENT_USER, 0, "/bin/a", NULL, "main", 0 },
		{ "/bin/a:main+4", EVENT_USER, 0, "/bin/a", NULL, "main", 4 },
		{ "ur:c:malloc", EVENT_USER, 1, "c", NULL, "malloc", 0 },
		{ "./a+0x1234", EVENT_USER, 0, "./a", NULL, NULL, 0x1234 },
		{ "u:libc.so.6+0x1234", EVENT_USER, 0, "libc.so.6", NULL, NULL, 0x1234 },
		{ "libc+0x1234", EVENT_USER, 0, "libc", NULL, NULL, 0x1234 },
		{ "/usr/lib/libstdc++.so.6:f", EVENT_USER, 0,
		  "/usr/lib/libstdc++.so.6", NULL, "f", 0 },
		{ "/bin/a:ns::C::f", EVENT_USER, 0, "/bin/a", NULL, "ns::C::f", 0 },
		{ "a:ns::f", EVENT_TRACEPOINT, 0, NULL, "a", "ns::f", 0 },
		{ "/bin/a:malloc@GLIBC_2.2.5", EVENT_USER, 0, "/bin/a", NULL,
		  "malloc@GLIBC_2.2.5", 0 },
		{ "/bin/a:prov:name", EVENT_USDT, 0, "/bin/a", "prov", "name", 0 },
		{ "c:libc:setjmp", EVENT_USDT, 0, "c", "libc", "setjmp", 0 },
		{ "usdt:c:libc:setjmp", EVENT_USDT, 0, "c", "libc", "setjmp", 0 },
		{ "usdt:c:setjmp", EVENT_USDT, 0, "c", NULL, "setjmp", 0 },
	};
	static const char *const bad[] = {
		"", ":", "t:", "t:a", "t::a", "t:a:", "t:a:b:c", "k:", "k:a:b",
		"k:/a", "kr:a+1", "u:", "u:a", "u:a:", "u::f", "u:+4", "/bin/a",
		"t:a:b..", "t:a:..b", "a:b..c:", "a:b..c..d", "t:a:b*..c", "t:a:b..c:d:e",
		"usdt:a", "usdt:a:", "usdt::b", "a:", ":b", "a:b:", "ur:a:f+4",
	};
	struct event_spec spec;
	char name[600];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (!is(event_parse(good[i].text, &spec), 0, "'%s' is an event",
			good[i].text))
			continue;
		is(spec.kind, good[i].kind, "'%s' is of the right kind", good[i].text);
		ok(same(spec.file, good[i].file) && same(spec.group, good[i].group) &&
		   same(spec.name, good[i].name) && spec.offset == good[i].offset &&
		   spec.is_return == good[i].is_return,
		   "'%s' has the right parts", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is(event_parse(bad[i], &spec), -EINVAL, "'%s' is no event", bad[i]);

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	is(event_parse(name, &spec), -EINVAL, "a name without end is no event");

	ok(!event_parse("vmscan:a_begin..a_end", &spec) && spec.kind == EVENT_TRACEPOINT &&
	   !spec.guessed && same(spec.group, "vmscan") && same(spec.name, "a_begin") &&
	   same(spec.end_group, "vmscan") && same(spec.end_name, "a_end"),
	   "two tracepoints of one subsystem are a pair");
	ok(!event_parse("t:a:b..c:d", &spec) && same(spec.group, "a") && same(spec.name, "b") &&
	   same(spec.end_group, "c") && same(spec.end_name, "d"), "or of two");
	ok(!event_parse("../lib:f", &spec) && spec.kind == EVENT_USER && !spec.end_name,
	   "a path is none");

	event_parse("c:malloc+8", &spec);
	ok(spec.guessed, "a:b without a prefix may be a function");
	event_reread(&spec);
	ok(spec.kind == EVENT_USER && same(spec.file, "c") &&
	   same(spec.name, "malloc") && spec.offset == 8, "and can be read so");
}

/* --- the table, and sentences ---------------------------------------------- */

static void test_table(void)
{
	for (size_t i = 0; i < opt_nr; i++)
		for (size_t j = 0; j < i; j++) {
			if (opt_table[i].letter &&
			    opt_table[i].letter == opt_table[j].letter &&
			    strcmp(opt_table[i].name, opt_table[j].name))
				ok(0, "-%c means one thing", opt_table[i].letter);
			if (!strcmp(opt_table[i].name, opt_table[j].name) &&
			    opt_table[i].groups & opt_table[j].groups)
				ok(0, "--%s means one thing", opt_table[i].name);
		}
	ok(opt_nr > 20, "no letter has two meanings, and no name in one group");
}

static void test_sentences(void)
{
	char buf[256];

	ok(strstr(err_words(ERR_DEVICE, -ENOENT, "x", buf, sizeof(buf)),
		  "memtap load"), "a module that is not there: says what to do");
	ok(strstr(err_words(ERR_PID, ESRCH, "77", buf, sizeof(buf)), "77"),
	   "a sentence has its subject");
	ok(!strcmp(err_words(ERR_PLAIN, EIO, "f", buf, sizeof(buf)),
		   "f: Input/output error"), "others have the errno's words");
	err_words(ERR_LOCKDOWN, EPERM, "integrity", buf, sizeof(buf));
	ok(strstr(buf, "(integrity)") && !strstr(buf, "{}"),
	   "nothing of the pattern is left");
	err_words(ERR_EVENT, ENOENT, "abcdefgh", buf, 12);
	is(strlen(buf), 11, "a long sentence is cut, not overrun");
}

int main(void)
{
	test_values();
	test_names_of_files();
	test_minutes();
	test_times();
	test_like();
	test_formats();
	test_leaks();
	test_interval();
	test_pids();
	test_command();
	test_refused();
	test_many();
	test_sizes();
	test_split();
	test_events();
	test_table();
	test_sentences();
	opt_free(&o);
	return tap_done();
}
