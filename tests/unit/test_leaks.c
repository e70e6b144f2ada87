// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/ids.c ctl/base/text.c ctl/leaks/leaks.c */
/* LINK: ctl/leaks/suppress.c ctl/leaks/suppress_block.c ctl/leaks/trace.c */
/* LINK: ctl/leaks/suppress_text.c */
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: kmod/core/wire.c -lm */
/* What blocks stand for, what is known of them, the verdict, and single calls. */
#include <math.h>

#include "leaks/leaks.h"
#include "snap_stream.h"
#include "tap.h"

/* ---- names, instead of a symbolizer: the function is told by the address ---- */

static int asked;
static bool names_returning;

size_t sym_user(struct sym *s, const struct snap *snap, const struct memtap_rec_task *task,
		__u32 era, __u64 ip, bool call, const struct sym_frame **frames)
{
	static const struct sym_frame names[3][2] = {
		{ { .name = "malloc", .object = "libc.so.6" } },
		{ { .name = "inner()", .object = "prog", .inlined = true, .file = "in.h" },
		  { .name = "leak()", .object = "prog", .file = "dir/leak.cc" } },
		{ { .object = "" } },
	};

	static const struct sym_frame returns = { .name = "tcache_thread_shutdown",
						  .object = "" };

	asked++;
	*frames = &returns;
	if (names_returning)
		return 1;
	*frames = names[ip % 3];
	return ip % 3 == 1 ? 2 : 1;
}

/* ---- a stream with blocks ---- */

static struct memtap_block *blocks;

static void add_stack(u32 id, u32 nr, u64 ip)
{
	struct memtap_rec_stack *s = add(MEMTAP_REC_STACK, sizeof(*s) + 8 * nr);

	s->id = id;
	s->flags = MEMTAP_STACK_USER;
	s->nr = nr;
	for (u32 i = 0; i < nr; i++)
		s->ip[i] = ip + i;
}

static void add_space(u32 id, u32 flags, s32 pid, u64 at)
{
	struct memtap_rec_space *s = add(MEMTAP_REC_SPACE, sizeof(*s));

	s->id = id;
	s->flags = flags;
	s->pid = pid;
	s->begin_ns = at;
}

/* Stack 8: malloc; 9: malloc, leak(); 10: nothing that has a name. */
static void begin(u32 nr)
{
	struct memtap_rec_task *t;
	struct memtap_rec_map *m;
	struct memtap_rec_file *f;
	struct memtap_rec_blocks *b;

	start();
	((struct memtap_rec_event *)add(MEMTAP_REC_EVENT, sizeof(struct memtap_rec_event)))->id = 1;
	add_stack(8, 1, 300);
	add_stack(9, 2, 300);
	add_stack(10, 1, 302);
	t = add(MEMTAP_REC_TASK, sizeof(*t));
	t->id = 8;
	t->space = 5;
	m = add(MEMTAP_REC_MAP, sizeof(*m));
	*m = (struct memtap_rec_map){ .rec = m->rec, .space = 5, .file = 1, .start = 302,
				      .end = 400 };
	f = add(MEMTAP_REC_FILE, sizeof(*f) + 16);
	f->id = 1;
	strcpy(f->path, "/opt/prog");
	b = add(MEMTAP_REC_BLOCKS, sizeof(*b) + nr * sizeof(b->at[0]));
	b->nr = nr;
	blocks = b->at;
	for (u32 i = 0; i < nr; i++)
		blocks[i] = (struct memtap_block){ .addr = 16 * i, .size = 100, .ustack = 8,
						   .task = 8, .space = 1, .event = 1 };
}

static struct snap *finish(void)
{
	struct snap *s;

	add_end(0);
	if (!ok(!decode(stream_len, &s), "a stream decodes: %s", err))
		exit(tap_done());
	return s;
}

/* ---- estimates ---- */

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static void test_weights(void)
{
	struct snap s = { 0 };
	struct memtap_block b = { .size = 1000 };

	ok(!leaks_sampled(&s) && leaks_weight(&s, &b) == 1, "all are kept: each stands for itself");
	s.header.sample_rate = 1;
	ok(!leaks_sampled(&s) && leaks_weight(&s, &b) == 1, "one in one is all");
	s.header.sample_rate = 10;
	ok(leaks_sampled(&s) && leaks_weight(&s, &b) == 10, "one in ten stands for ten");
	s.header.sample_rate = 0;
	s.header.sample_bytes = 1000;
	ok(leaks_sampled(&s) && near(leaks_weight(&s, &b), 1 / (1 - exp(-1))),
	   "one in as many bytes as it has, for 1 / (1 - 1/e)");
	b.size = 1;
	ok(near(leaks_weight(&s, &b), 1000.5000833333), "a small one for many");
	b.size = 0;
	ok(near(leaks_weight(&s, &b), 1000.5000833333), "one without bytes as one of a byte");
	b.size = 1 << 30;
	ok(leaks_weight(&s, &b) == 1, "a large one for itself");
	b.flags = MEMTAP_BLOCK_MAPPING;
	b.size = 1;
	ok(leaks_weight(&s, &b) == 1, "and a mapping always");
}

/* Of all sizes and outcomes, the estimate's mean is the truth. */
static void test_no_bias(void)
{
	struct snap s = { .header.sample_bytes = 4096 };
	double worst = 0;

	for (u64 size = 1; size < 100000; size = size * 3 / 2 + 1) {
		const struct memtap_block b = { .size = size };
		const double p = 1 - exp(-(double)size / 4096), w = leaks_weight(&s, &b);
		struct leaks_sum sum = { 0 };

		leaks_add(&sum, &b, w);
		worst = fmax(worst, fabs(p * sum.bytes / size - 1));
		/* E[kept * w^2 (1 - p) n^2] is the variance of kept * w * n */
		worst = fmax(worst, fabs(p * sum.var_bytes / ((1 - p) / p * size * size) - 1));
		worst = fmax(worst, fabs(p * sum.blocks - 1));
		worst = fmax(worst, fabs(p * sum.var_blocks / ((1 - p) / p) - 1));
	}
	ok(worst < 1e-6, "estimates and their variances have no bias: %g", worst);
}

static void test_sums(void)
{
	const struct memtap_block b = { .size = 7 };
	struct leaks_sum sum = { 0 }, all = { 0 };

	leaks_add(&sum, &b, 10);
	leaks_add(&sum, &b, 10);
	leaks_add_sum(&all, &sum);
	leaks_add_sum(&all, &sum);
	ok(all.kept == 4 && all.kept_bytes == 28 && all.blocks == 40 && all.bytes == 280,
	   "sums add up");
	ok(near(all.var_blocks, 4 * 90) && near(all.var_bytes, 4 * 90 * 49), "so do variances");
	ok(near(leaks_error(all.var_blocks), 1.96 * sqrt(360)), "95 of 100 cases are 1.96 sigma");
	is(leaks_round(2.5), 3, "halves are rounded away from 0");
	is(leaks_round(1e30), INT64_MAX, "what is too much is the most");
}

/* ---- suppressions ---- */

static int known(const struct snap *s, const char *patterns, u32 stack, u32 task)
{
	struct suppress *list = suppress_new();
	struct leaks_known *k;
	char why[256];
	int by, again;

	suppress_add(list, patterns, strlen(patterns), why);
	k = leaks_known_new(s, NULL, list);
	by = leaks_known_by(k, stack, task, LEAK_UNKNOWN);
	asked = 0;
	again = leaks_known_by(k, stack, task, LEAK_UNKNOWN);
	if (asked || again != by)
		by = -99;	/* a stack is looked at once */
	leaks_known_free(k);
	suppress_free(list);
	return by;
}

static void test_known(void)
{
	struct snap *s;

	begin(1);
	add_space(1, 0, 77, 5);
	s = finish();
	is(known(s, "leak:x\nleak:^malloc$\n", 8, 8), 1, "a function is known by its pattern");
	is(known(s, "leak:leak()\n", 8, 8), LEAKS_NOT_KNOWN, "only where it is in the stack");
	is(known(s, "leak:leak()\n", 9, 8), 0, "in any frame");
	is(known(s, "leak:inner\n", 9, 8), 0, "inlined ones too");
	is(known(s, "leak:dir/leak.cc$\n", 9, 8), 0, "a source file");
	is(known(s, "leak:libc.so\n", 9, 8), 0, "an object");
	is(known(s, "leak:^/opt/\n", 10, 8), 0, "and its path");
	is(known(s, "leak:^/opt/\n", 10, 0), LEAKS_NOT_KNOWN, "for who has it mapped");
	is(known(s, "leak:leak\nleak:malloc\n", 9, 8), 0, "the first pattern of several counts");
	is(known(s, "leak:*\n", MEMTAP_STACK_LOST, 8), LEAKS_NOT_KNOWN,
	   "a stack that was not kept is not known");
	is(known(s, "", 9, 8), LEAKS_NOT_KNOWN, "nor is anything without patterns");
	snap_free(s);
}

/* ---- the main process, the verdict ---- */

static void test_main_space(void)
{
	struct snap *s;

	begin(0);
	s = finish();
	ok(!leaks_main_space(s), "without processes there is no main one");
	snap_free(s);
	begin(0);
	add_space(1, 0, 70, 1);
	add_space(2, 0, 71, 0);
	s = finish();
	is(leaks_main_space(s)->id, 2, "the first one of those that were there");
	snap_free(s);
	begin(0);
	add_space(1, MEMTAP_SPACE_EXECED, 71, 1);
	add_space(2, MEMTAP_SPACE_START | MEMTAP_SPACE_EXECED, 71, 5);
	add_space(3, MEMTAP_SPACE_START, 72, 6);
	add_space(4, MEMTAP_SPACE_START, 71, 7);
	add_space(5, MEMTAP_SPACE_FORKED, 73, 8);
	s = finish();
	is(leaks_main_space(s)->id, 4, "what became of the first one");
	snap_free(s);
	begin(0);
	add_space(1, MEMTAP_SPACE_EXECED, 71, 1);
	add_space(2, 0, 71, 5);
	add_space(3, MEMTAP_SPACE_START, 72, 6);
	s = finish();
	is(leaks_main_space(s)->id, 2, "also where an allocator came late");
	snap_free(s);
}

static struct leaks_verdict judge(const struct snap *s, const char *patterns)
{
	struct suppress *list = patterns ? suppress_new() : NULL;
	struct leaks_verdict v;
	char why[256];

	if (patterns)
		suppress_add(list, patterns, strlen(patterns), why);
	is(leaks_verdict(s, NULL, list, &v), 0, "there is a verdict");
	suppress_free(list);
	return v;
}

static void test_verdict_without_kinds(void)
{
	struct leaks_verdict v;
	struct memtap_rec_mismatch *m;
	struct snap *s;

	begin(5);
	blocks[1].ustack = 9;
	blocks[2].space = 2;
	blocks[3].flags = MEMTAP_BLOCK_MAPPING;
	blocks[4].flags = MEMTAP_BLOCK_MAPPING | MEMTAP_BLOCK_INNER;
	add_space(1, MEMTAP_SPACE_START, 70, 1);
	add_space(2, MEMTAP_SPACE_FORKED, 71, 2);
	m = add(MEMTAP_REC_MISMATCH, sizeof(*m));
	m->event = m->alloc_event = 1;
	m->count = 3;
	s = finish();
	v = judge(s, NULL);
	ok(!v.kinds && v.blocks == 2 && v.bytes == 200, "all that the main process has left");
	is(v.mismatches, 3, "and each free that was wrong");
	v = judge(s, "leak:leak\n");
	ok(v.blocks == 1 && v.suppressed == 1 && v.suppressed_bytes == 100,
	   "but for what is suppressed");
	v = judge(s, "leak:malloc\n");
	ok(!v.blocks && v.suppressed == 2 && v.mismatches == 3, "which may be all");
	snap_free(s);
}

static void test_verdict_with_kinds(void)
{
	struct snap_reach r[] = {
		{ 0, 1, LEAK_REACHABLE }, { 16, 1, LEAK_DEFINITE }, { 32, 1, LEAK_INDIRECT },
		{ 48, 1, LEAK_POSSIBLE },
	};
	struct leaks_verdict v;
	struct snap *s;

	begin(5);
	add_space(1, MEMTAP_SPACE_START, 70, 1);
	s = finish();
	snap_set_kinds(s, r, 4);
	v = judge(s, NULL);
	ok(v.kinds && v.blocks == 2 && v.bytes == 200, "lost definitely or possibly, no other");
	v = judge(s, "leak:malloc\n");
	ok(!v.blocks && v.suppressed == 2, "suppressed ones not");
	snap_free(s);
}

/* A child's memory was read at its end, the program's own was not. */
static void test_verdict_of_each(void)
{
	struct snap_reach r[] = { { 48, 2, LEAK_REACHABLE }, { 64, 2, LEAK_DEFINITE } };
	struct leaks_verdict v;
	struct snap *s;

	for (size_t nr = 1; nr < 3; nr++) {
		begin(6);
		blocks[2].flags = MEMTAP_BLOCK_MAPPING;
		blocks[3].space = blocks[4].space = blocks[5].space = 2;
		add_space(1, MEMTAP_SPACE_START, 70, 1);
		add_space(2, MEMTAP_SPACE_FORKED, 71, 2);
		s = finish();
		snap_set_kinds(s, r, nr);
		v = judge(s, NULL);
		ok(!v.kinds && v.blocks == 1 + nr && v.bytes == 100 * (1 + nr),
		   "all that the main process has, and what is known to be lost elsewhere");
		snap_free(s);
	}
	begin(3);
	blocks[1].space = blocks[2].space = 2;
	add_space(1, MEMTAP_SPACE_START, 70, 1);
	add_space(2, MEMTAP_SPACE_FORKED, 71, 2);
	s = finish();
	r[0] = (struct snap_reach){ 0, 1, LEAK_REACHABLE };
	snap_set_kinds(s, r, 1);
	v = judge(s, NULL);
	ok(v.kinds && !v.blocks, "what children have does not count where nobody looked");
	snap_free(s);
}

/* ---- frees ---- */

static bool own(u32 kind, u32 stack_flags, u32 nr, u64 ip, const char *path)
{
	struct memtap_rec_mismatch *m;
	struct memtap_rec_file *f;
	struct memtap_rec_map *map;
	struct leaks_verdict v;
	struct snap *s;
	bool is;

	begin(0);
	add_space(1, 0, 70, 1);
	add_stack(20, nr, ip);
	((struct memtap_rec_stack *)(stream + stream_len - 24 - 8 * nr))->flags |= stack_flags;
	f = add(MEMTAP_REC_FILE, sizeof(*f) + 64);
	f->id = 2;
	strcpy(f->path, path);
	map = add(MEMTAP_REC_MAP, sizeof(*map));
	*map = (struct memtap_rec_map){ .rec = map->rec, .space = 5, .file = 2, .start = 1000,
					.end = 1010 };
	m = add(MEMTAP_REC_MISMATCH, sizeof(*m));
	m->kind = kind;
	m->event = 1;
	m->alloc_event = ~0U;
	m->task = 8;
	m->stack = 20;
	m->count = 1;
	s = finish();
	is = leaks_own_free(s, NULL, &s->mismatches[0]);
	leaks_verdict(s, NULL, NULL, &v);
	ok(v.mismatches == !is, "the verdict agrees");
	snap_free(s);
	return is;
}

static void test_own_frees(void)
{
	const u32 whole = MEMTAP_STACK_ROWS, twice = MEMTAP_MISMATCH_DOUBLE;
	static const char libc[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";

	ok(own(twice, whole, 3, 1002, libc), "nobody but libc on the stack: its own free");
	ok(own(MEMTAP_MISMATCH_UNKNOWN, whole, 3, 1002, "/lib/libc-2.31.so"), "by any name");
	ok(!own(twice, whole, 3, 1009, libc), "not where somebody else is");
	ok(!own(twice, whole, 3, 1002, "/opt/static"), "nor in a program");
	ok(!own(twice, 0, 3, 1002, libc), "nor where the stack may go on");
	ok(!own(twice, whole | MEMTAP_STACK_NOROW, 3, 1002, libc), "or is cut");
	ok(!own(twice, whole, 1, 1002, libc), "nor without a caller");
	ok(!own(MEMTAP_MISMATCH_FAMILY, whole, 3, 1002, libc), "and what is new is not free()d");
	names_returning = true;
	ok(own(twice, 0, 3, 1008, "/opt/static"), "a function that does so tells it everywhere");
	names_returning = false;
}

/* ---- trace ---- */

static void traced(const struct memtap_call *c, const char *want, const char *why)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	leaks_trace_line(f, c, "malloc");
	fclose(f);
	ok(!strcmp(text, want), "%s", why);
	if (strcmp(text, want))
		fprintf(stderr, "# %s", text);
	free(text);
}

#define HEAD	"         5.000123   3 a'b\\?\?           11      12      malloc"

static void test_trace(void)
{
	struct memtap_call c = { .ns = 5000123999ULL, .pid = 11, .tid = 12, .cpu = 3,
				 .addr = 0xabc0, .size = 16, .comm = "a'b\\\n\xff" };

	traced(&c, HEAD " size=16 ret=0xabc0\n", "a block handed out");
	c.flags = MEMTAP_CALL_SKIPPED;
	traced(&c, HEAD " size=16 ret=0xabc0 (not kept)\n", "one that is not kept");
	c.flags = MEMTAP_CALL_FAILED;
	c.addr = 0;
	traced(&c, HEAD " size=16 ret=0x0 (failed)\n", "none");
	c.flags = 0;
	c.old = 0xdef0;
	traced(&c, HEAD " ptr=0xdef0 size=16\n", "one taken back");
	c.flags = MEMTAP_CALL_UNKNOWN;
	c.size = 0;
	traced(&c, HEAD " ptr=0xdef0 (not known)\n", "one that was not known");
	c.flags |= MEMTAP_CALL_MISMATCH;
	traced(&c, HEAD " ptr=0xdef0 (invalid or mismatched)\n", "a mistake");
	c.flags = 0;
	c.addr = 0xabc0;
	c.size = 32;
	traced(&c, HEAD " ptr=0xdef0 size=32 ret=0xabc0\n", "realloc(): both");
	c.addr = 0;
	c.flags = MEMTAP_CALL_FAILED;
	traced(&c, HEAD " ptr=0xdef0 size=32 ret=0x0 (failed)\n",
	       "realloc() that fails: the old one stays");
}

/* What to type where blocks had no room. */
static void test_more(void)
{
	static const struct { u64 total; unsigned int mib; } sizes[] = {
		{ 4 << 20, 8 }, { 17 << 20, 32 }, { 33 << 20, 64 }, { 63 << 20, 128 },
	};
	struct snap *s;

	begin(1);
	add_space(1, 0, 77, 5);
	s = finish();
	is(leaks_more_mib(s), 0, "nothing was lost: nothing to type");
	s->events[0].lost[MEMTAP_LOST_LEFT] = 1;
	is(leaks_more_mib(s), 0, "a call that was left had room");
	s->events[0].lost[MEMTAP_LOST_THREADS] = 1;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		s->memory.total = sizes[i].total;
		is(leaks_more_mib(s), sizes[i].mib, "tables of %llu bytes: --max-mem %uM",
		   (unsigned long long)sizes[i].total, sizes[i].mib);
	}
	snap_free(s);
}

int main(void)
{
	test_weights();
	test_no_bias();
	test_sums();
	test_known();
	test_main_space();
	test_verdict_without_kinds();
	test_verdict_with_kinds();
	test_verdict_of_each();
	test_own_frees();
	test_trace();
	test_more();
	free(stream);
	return tap_done();
}
