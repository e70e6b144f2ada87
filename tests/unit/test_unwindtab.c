// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/unwindtab.c */
#include <stdlib.h>

#include "tap.h"
#include "unwindtab_ref.h"

#define NONE(k)		{ .kind = MEMTAP_RULE_##k, .ra = -8 }
#define MOST		(1 << 30)
#define SAVED		(MEMTAP_RULE_FP_SAVED | MEMTAP_RULE_BX_SAVED)
#define BOTH_FP		(MEMTAP_RULE_FP_SAVED | MEMTAP_RULE_FP_AT_FP)
#define BOTH_BX		(MEMTAP_RULE_BX_SAVED | MEMTAP_RULE_BX_AT_FP)
#define RA_REG		MEMTAP_RULE_RA_REG
#define SWITCH		MEMTAP_RULE_SWITCH

/* kind, reg, flags, reserved; cfa, add, fp, bx, ra */
static const struct {
	const char *name;
	int good;
	struct memtap_rule rule;
} rules[] = {
	{ "a gap", 1, NONE(GAP) },
	{ "what cannot be expressed", 1, NONE(NONE) },
	{ "an end", 1, NONE(END) },
	{ "a CFA", 1, { MEMTAP_RULE_CFA, 7, 0, 0, 8, 0, 0, 0, -8 } },
	{ "a dereferenced CFA", 1, { MEMTAP_RULE_DEREF, 6, 0, 0, -8, 8, 0, 0, -8 } },
	{ "a PLT", 1, { MEMTAP_RULE_PLT, 0, 0, 0, 8, 11, 0, 0, -8 } },
	{ "a signal's frame", 1, NONE(SIGNAL) },
	{ "frame pointers", 1, NONE(FP) },
	{ "all registers saved", 1, { MEMTAP_RULE_CFA, 7, SAVED, 0, 32, 0, -16, -24, -8 } },
	{ "all saved at rbp", 1, { MEMTAP_RULE_DEREF, 6, MEMTAP_RULE_FP_AT_FP |
	  MEMTAP_RULE_BX_AT_FP, 0, -8, 0, 0, -16, -8 } },
	{ "one saved at each", 1, { MEMTAP_RULE_PLT, 0, MEMTAP_RULE_FP_AT_FP |
	  MEMTAP_RULE_BX_SAVED, 0, 8, 11, 0, -16, -8 } },
	{ "the first register", 1, { MEMTAP_RULE_CFA, 0, 0, 0, 8, 0, 0, 0, -8 } },
	{ "the last register", 1, { MEMTAP_RULE_DEREF, 15, 0, 0, 8, 0, 0, 0, -8 } },
	{ "a return address in the first register", 1,
	  { MEMTAP_RULE_CFA, 7, RA_REG, 0, 0, 0, 0, 0, 0 } },
	{ "one in the last", 1, { MEMTAP_RULE_CFA, 7, RA_REG, 0, 0, 0, 0, 0, 15 } },
	{ "a caller on another stack", 1,
	  { MEMTAP_RULE_CFA, 6, SWITCH | MEMTAP_RULE_FP_SAVED, 0, 16, 0, -16, 0, -8 } },
	{ "the largest offsets", 1, { MEMTAP_RULE_CFA, 7, 0, 0, MOST, MOST, MOST, MOST, -8 } },
	{ "the smallest ones", 1,
	  { MEMTAP_RULE_CFA, 7, 0, 0, -MOST, -MOST, -MOST, -MOST, -8 } },

	{ "an unknown kind", 0, { MEMTAP_NR_RULE, 0, 0, 0, 0, 0, 0, 0, -8 } },
	{ "the last unknown kind", 0, { 255, 0, 0, 0, 0, 0, 0, 0, -8 } },
	{ "something reserved", 0, { MEMTAP_RULE_CFA, 7, 0, 1, 8, 0, 0, 0, -8 } },
	{ "something reserved in a gap", 0, { MEMTAP_RULE_GAP, 0, 0, 1, 0, 0, 0, 0, -8 } },
	{ "an unknown register", 0, { MEMTAP_RULE_CFA, 16, 0, 0, 8, 0, 0, 0, -8 } },
	{ "an unknown register to dereference", 0,
	  { MEMTAP_RULE_DEREF, 16, 0, 0, 8, 0, 0, 0, -8 } },
	{ "the last unknown register", 0, { MEMTAP_RULE_CFA, 255, 0, 0, 8, 0, 0, 0, -8 } },
	{ "an unknown flag", 0, { MEMTAP_RULE_CFA, 7, 1 << 6, 0, 8, 0, 0, 0, -8 } },
	{ "the last unknown flag", 0, { MEMTAP_RULE_PLT, 0, 1 << 7, 0, 8, 11, 0, 0, -8 } },
	{ "a dereferenced CFA on another stack", 0,
	  { MEMTAP_RULE_DEREF, 6, SWITCH, 0, -8, 8, 0, 0, -8 } },
	{ "a PLT on another stack", 0, { MEMTAP_RULE_PLT, 0, SWITCH, 0, 8, 11, 0, 0, -8 } },
	{ "an end on another stack", 0, { MEMTAP_RULE_END, 0, SWITCH, 0, 0, 0, 0, 0, -8 } },
	{ "rbp at two places", 0, { MEMTAP_RULE_CFA, 7, BOTH_FP, 0, 8, 0, 0, 0, -8 } },
	{ "rbx at two places", 0, { MEMTAP_RULE_DEREF, 7, BOTH_BX, 0, 8, 0, 0, 0, -8 } },
	{ "a gap that saves rbp", 0, { MEMTAP_RULE_GAP, 0, 1, 0, 0, 0, 0, 0, -8 } },
	{ "an inexpressible that saves rbp", 0, { MEMTAP_RULE_NONE, 0, 1, 0, 0, 0, 0, 0, -8 } },
	{ "an end that saves rbx", 0, { MEMTAP_RULE_END, 0, 4, 0, 0, 0, 0, 0, -8 } },
	{ "a signal that saves rbx", 0, { MEMTAP_RULE_SIGNAL, 0, 8, 0, 0, 0, 0, 0, -8 } },
	{ "a signal's address in a register", 0,
	  { MEMTAP_RULE_SIGNAL, 0, RA_REG, 0, 0, 0, 0, 0, 0 } },
	{ "frame pointers that save rbp", 0, { MEMTAP_RULE_FP, 0, 1, 0, 0, 0, 0, 0, -8 } },
	{ "a CFA too large", 0, { MEMTAP_RULE_CFA, 7, 0, 0, MOST + 1, 0, 0, 0, -8 } },
	{ "a CFA too small", 0, { MEMTAP_RULE_CFA, 7, 0, 0, -MOST - 1, 0, 0, 0, -8 } },
	{ "the largest CFA", 0, { MEMTAP_RULE_CFA, 7, 0, 0, INT32_MAX, 0, 0, 0, -8 } },
	{ "the smallest CFA", 0, { MEMTAP_RULE_CFA, 7, 0, 0, INT32_MIN, 0, 0, 0, -8 } },
	{ "an addend too large", 0, { MEMTAP_RULE_DEREF, 6, 0, 0, 0, MOST + 1, 0, 0, -8 } },
	{ "an addend too small", 0, { MEMTAP_RULE_PLT, 0, 0, 0, 8, -MOST - 1, 0, 0, -8 } },
	{ "rbp too far above", 0, { MEMTAP_RULE_CFA, 7, 1, 0, 8, 0, MOST + 1, 0, -8 } },
	{ "rbp too far below", 0, { MEMTAP_RULE_CFA, 7, 2, 0, 8, 0, -MOST - 1, 0, -8 } },
	{ "rbx too far above", 0, { MEMTAP_RULE_CFA, 7, 4, 0, 8, 0, 0, MOST + 1, -8 } },
	{ "rbx too far below", 0, { MEMTAP_RULE_CFA, 7, 8, 0, 8, 0, 0, -MOST - 1, -8 } },
	{ "a return address elsewhere", 0, { MEMTAP_RULE_CFA, 7, 0, 0, 8, 0, 0, 0, -16 } },
	{ "one in no register", 0, { MEMTAP_RULE_CFA, 7, 0, 0, 8, 0, 0, 0, 0 } },
	{ "one elsewhere in a gap", 0, { MEMTAP_RULE_GAP, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ "one in an unknown register", 0,
	  { MEMTAP_RULE_CFA, 7, RA_REG, 0, 8, 0, 0, 0, 16 } },
	{ "one in a register, but on the stack", 0,
	  { MEMTAP_RULE_CFA, 7, RA_REG, 0, 8, 0, 0, 0, -8 } },
};

/* Wherever it stands, one bad rule spoils a table, also if no row uses it. */
static void test_rules(void)
{
	static const u32 rows[] = { 0, 16, 32 };
	static const u16 kinds[] = { 1, 1, 1 };
	struct memtap_rule three[3];
	struct unwindtab t = { 3, 3, rows, kinds, three };

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		int good = 0;

		for (int at = 0; at < 3; at++) {
			three[0] = three[1] = three[2] = rules[0].rule;
			three[at] = rules[i].rule;
			good += !unwindtab_check(&t);
		}
		is(good, 3 * rules[i].good, "%s is %s", rules[i].name,
		   rules[i].good ? "taken" : "refused");
	}
}

static const struct {
	const char *name;
	int good;
	u32 nr_rows, nr_rules;
	u32 rows[4];
	u16 kinds[4];
} tables[] = {
	{ "one row", 1, 1, 1, { 0 }, { 0 } },
	{ "rows side by side", 1, 4, 2, { 0, 1, 2, 3 }, { 0, 1, 0, 1 } },
	{ "equal neighbours", 1, 3, 2, { 0, 1, 2 }, { 1, 1, 1 } },
	{ "the first and the last position", 1, 2, 2, { 0, UINT32_MAX }, { 0, 1 } },
	{ "a rule without rows", 1, 1, 4, { 7 }, { 3 } },
	{ "no rows", 0, 0, 1, { 0 }, { 0 } },
	{ "no rules", 0, 1, 0, { 0 }, { 0 } },
	{ "too many rows", 0, MEMTAP_MAX_ROWS + 1, 1, { 0 }, { 0 } },
	{ "as many rows as can be said", 0, UINT32_MAX, 1, { 0 }, { 0 } },
	{ "too many rules", 0, 1, MEMTAP_MAX_RULES + 1, { 0 }, { 0 } },
	{ "as many rules as can be said", 0, 1, UINT32_MAX, { 0 }, { 0 } },
	{ "the same position twice", 0, 3, 1, { 0, 4, 4 }, { 0 } },
	{ "the same position twice at the beginning", 0, 3, 1, { 4, 4, 5 }, { 0 } },
	{ "a position below the one before", 0, 3, 1, { 0, 4, 3 }, { 0 } },
	{ "a descent from the last position", 0, 2, 1, { UINT32_MAX, 0 }, { 0 } },
	{ "a first row of no rule", 0, 2, 2, { 0, 1 }, { 2, 0 } },
	{ "a last row of no rule", 0, 2, 2, { 0, 1 }, { 0, 2 } },
	{ "a row of the last number", 0, 2, 4, { 0, 1 }, { 0, UINT16_MAX } },
};

static void test_tables(void)
{
	static const struct memtap_rule four[4] = { NONE(GAP), NONE(END), NONE(FP),
						    NONE(NONE) };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct unwindtab t = { tables[i].nr_rows, tables[i].nr_rules,
				       tables[i].rows, tables[i].kinds, four };

		is(!unwindtab_check(&t), tables[i].good, "%s: %s", tables[i].name,
		   tables[i].good ? "taken" : "refused");
	}
}

/* ---- searching ---- */

/* A table as the module keeps it: not a byte more than was asked for. */
struct owned {
	struct unwindtab t;
	u32 *rows;
	u16 *kinds;
	struct memtap_rule *rules;
	u32 *blocks;
	size_t bytes;		/* that the blocks take */
};

static struct owned make(u32 nr_rows, u32 nr_rules)
{
	struct owned o = { .rows = malloc(nr_rows * sizeof(u32)),
			   .kinds = malloc(nr_rows * sizeof(u16)),
			   .rules = calloc(nr_rules, sizeof(struct memtap_rule)) };

	for (u32 i = 0; i < nr_rules; i++)
		o.rules[i].ra = -8;
	o.t = (struct unwindtab){ nr_rows, nr_rules, o.rows, o.kinds, o.rules };
	return o;
}

static void finish(struct owned *o)
{
	o->bytes = unwindtab_layout(&o->t);
	o->blocks = malloc(o->bytes);
	unwindtab_index(&o->t, o->blocks);
}

static void destroy(struct owned *o)
{
	free(o->rows);
	free(o->kinds);
	free(o->rules);
	free(o->blocks);
}

/* In what kmod/record/tables.c has room for? */
static int fits(const struct owned *o)
{
	return o->bytes <= ((size_t)o->t.nr_rows / 4 + 2) * sizeof(u32) &&
	       o->bytes == ((size_t)o->t.nr_blocks + 1) * sizeof(u32);
}

static u32 wrong_around(const struct unwindtab *t, u64 pos)
{
	u32 wrong = 0;

	for (u64 p = pos - 2; p != pos + 3; p++)
		wrong += unwindtab_find(t, p) != ref_find(t, p);
	return wrong;
}

/* Around every row and every edge of a block, at the ends, and anywhere. */
static u32 wrong_finds(const struct unwindtab *t, uint64_t *seed)
{
	static const u64 ends[] = { 2, 1ULL << 31, UINT32_MAX, 1ULL << 33, 1ULL << 63,
				    -3ULL };
	u32 wrong = 0;

	for (u32 i = 0; i < t->nr_rows; i++)
		wrong += wrong_around(t, t->rows[i]);
	for (u64 i = 0; i <= t->nr_blocks; i++)
		wrong += wrong_around(t, t->rows[0] + (i << t->shift));
	for (u32 i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		wrong += wrong_around(t, ends[i]);
	for (u32 i = 0; i < 32; i++)
		wrong += wrong_around(t, tap_random(seed) % (2ULL << tap_random(seed) % 34));
	return wrong;
}

static const struct shape {
	const char *name;
	u32 least, most;	/* rows */
	u64 gap;		/* between rows, at most */
	u64 leap;		/* of one row in eight */
} shapes[] = {
	{ "one row", 1, 1, 1, 1 },
	{ "two rows", 2, 2, 64, 1ULL << 32 },
	{ "three rows", 3, 3, 1ULL << 31, 1ULL << 31 },
	{ "a few rows", 4, 12, 64, 1ULL << 30 },
	{ "dense rows", 100, 400, 1, 3 },
	{ "rows as compilers make them", 100, 400, 40, 300 },
	{ "sparse rows", 100, 400, 1 << 22, 1 << 23 },
	{ "clusters far apart", 100, 400, 8, 1 << 26 },
	{ "everything in the last blocks", 100, 400, 2, 1ULL << 31 },
};

/* Rows from 0 on, up to the last position, or anywhere between. */
static struct owned random_table(const struct shape *s, u32 where, uint64_t *seed)
{
	u32 nr = s->least + tap_random(seed) % (s->most - s->least + 1), n;
	struct owned o = make(nr, 1 + tap_random(seed) % 40);
	u64 pos = 0, room;

	for (n = 0; n < nr && pos <= UINT32_MAX; n++) {
		o.rows[n] = pos;
		o.kinds[n] = tap_random(seed) % o.t.nr_rules;
		pos += 1 + tap_random(seed) % (tap_random(seed) % 8 ? s->gap : s->leap);
	}
	o.t.nr_rows = n;
	room = UINT32_MAX - o.rows[n - 1];
	if (where)
		room = where == 1 ? room : tap_random(seed) % (room + 1);
	else
		room = 0;
	for (u32 i = 0; i < n; i++)
		o.rows[i] += room;
	return o;
}

static void test_finds(const struct shape *s)
{
	u32 wrong = 0, bad = 0, large = 0, first = 0, last = 0;
	uint64_t seed = s->gap + s->most;
	struct owned o;

	for (u32 i = 0; i < 120; i++) {
		o = random_table(s, i % 3, &seed);
		bad += unwindtab_check(&o.t) || !ref_good_table(&o.t);
		finish(&o);
		large += !fits(&o);
		wrong += wrong_finds(&o.t, &seed);
		first += o.rows[0] == 0;
		last += o.rows[o.t.nr_rows - 1] == UINT32_MAX;
		destroy(&o);
	}
	is(wrong, 0, "%s: found as by looking at each", s->name);
	is(large, 0, "%s: with blocks in the room that is kept for them", s->name);
	ok(!bad && first >= 40 && last >= 40, "%s: from the first to the last position",
	   s->name);
}

/* All positions of a table, none left out. */
static void test_every_position(void)
{
	struct owned o = make(700, 5);
	uint64_t seed = 11;
	u32 wrong = 0;

	for (u32 i = 0, pos = 100; i < 700; i++) {
		o.rows[i] = pos;
		o.kinds[i] = tap_random(&seed) % 5;
		pos += 1 + tap_random(&seed) % 30;
	}
	finish(&o);
	for (u64 pos = 0; pos < o.rows[699] + 1000ULL; pos++)
		wrong += unwindtab_find(&o.t, pos) != ref_find(&o.t, pos);
	is(wrong, 0, "every position of a table has the rule of its row");
	destroy(&o);
}

static void test_largest(void)
{
	struct owned o = make(MEMTAP_MAX_ROWS, MEMTAP_MAX_RULES);
	u32 wrong = 0;

	for (u32 i = 0; i < MEMTAP_MAX_ROWS; i++) {
		o.rows[i] = i * 255U + 7;
		o.kinds[i] = i;
	}
	is(unwindtab_check(&o.t), 0, "the largest table is taken");
	finish(&o);
	ok(fits(&o), "its blocks fit");
	for (u32 i = 0; i < MEMTAP_MAX_ROWS; i += 97)
		wrong += unwindtab_find(&o.t, o.rows[i]) != &o.rules[i & 0xffff] ||
			 unwindtab_find(&o.t, o.rows[i] + 254ULL) != &o.rules[i & 0xffff];
	is(wrong, 0, "and its rows are found");
	o.kinds[MEMTAP_MAX_ROWS - 1] = 0;
	o.rows[MEMTAP_MAX_ROWS - 1] = o.rows[MEMTAP_MAX_ROWS - 2];
	ok(unwindtab_check(&o.t), "a bad last row of it is seen");
	destroy(&o);
}

int main(void)
{
	test_rules();
	test_tables();
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		test_finds(&shapes[i]);
	test_every_position();
	test_largest();
	return tap_done();
}
