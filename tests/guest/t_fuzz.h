/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _T_FUZZ_H
#define _T_FUZZ_H

/*
 * Structures for the device: first as they should be, with values that are likely to
 * be accepted, then with something wrong in them.  Probes stand only where they harm
 * nobody: in this program's own functions, anywhere in a file that nobody runs, and in
 * kernel functions and tracepoints of a list.
 */
#include "t_device.h"

#define SLOTS	6			/* descriptors of a process */
#define ROOM	8192			/* for a structure, and what follows it */

struct fuzzer {
	uint64_t random;
	unsigned int nr;		/* of this thread */
	char *page;			/* ROOM bytes before nothing */
	char *fixed;			/* a page that cannot be written */
	char *data;			/* arrays that structures point to */
};

static _Atomic int slots[SLOTS];
static int exe, copy, plain;		/* this program, a file like it, /dev/null */
static uint64_t places[2], perf_ids[3];
static unsigned int nr_builtins;

static inline uint64_t any(struct fuzzer *f)
{
	/* xorshift64*: a seed makes the same numbers everywhere */
	f->random ^= f->random >> 12;
	f->random ^= f->random << 25;
	f->random ^= f->random >> 27;
	return f->random * 0x2545f4914f6cdd1dULL >> 7;
}

static inline uint32_t below(struct fuzzer *f, uint32_t n)
{
	return any(f) % n;
}

static inline bool one_in(struct fuzzer *f, uint32_t n)
{
	return !below(f, n);
}

/* What breaks programs: edges of types, and of what the contract allows. */
static inline uint64_t odd_value(struct fuzzer *f)
{
	static const uint64_t odd[] = {
		0, 1, 2, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 4095, 4096, 4097,
		65535, 65536, 1 << 24, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 32,
		1ULL << 40, 1ULL << 63, ~0ULL, ~0ULL - 7, 0x7fffffffffffffff,
	};
	unsigned int n = below(f, sizeof(odd) / sizeof(odd[0]) + 8);

	return n < sizeof(odd) / sizeof(odd[0]) ? odd[n] : any(f) >> below(f, 57);
}

/* An address: mostly of what is there. */
static inline uint64_t odd_address(struct fuzzer *f, void *good)
{
	switch (below(f, 24)) {
	case 0: return odd_value(f);
	case 1: return (uintptr_t)f->page + ROOM - below(f, 64);
	case 2: return (uintptr_t)f->fixed;
	case 3: return 0xffffffff81000000ULL + below(f, 1 << 24);
	default: return (uintptr_t)good;
	}
}

static inline int odd_file(struct fuzzer *f)
{
	switch (below(f, 12)) {
	case 0: return -1;
	case 1: return plain;
	case 2: return slots[below(f, SLOTS)];
	case 3: return odd_value(f);
	default: return one_in(f, 2) ? exe : copy;
	}
}

static inline uint64_t some_bytes(struct fuzzer *f)
{
	return one_in(f, 8) ? odd_value(f) : 4096ULL << below(f, 7);
}

static inline void make_items(struct fuzzer *f, struct memtap_config *c)
{
	struct memtap_filter_item *it = (void *)f->data;
	unsigned int i;

	c->filter_nr = one_in(f, 40) ? below(f, 5000) : below(f, 3);
	c->filter_ptr = odd_address(f, it);
	for (i = 0; i < c->filter_nr && i < 64; i++) {
		it[i] = (struct memtap_filter_item){ .kind = 1 + below(f, 3), .value = getpid() };
		if (it[i].kind == MEMTAP_FILTER_COMM)
			snprintf(it[i].comm, sizeof(it[i].comm), "t_fuzz");
		if (one_in(f, 30))
			it[i].kind = odd_value(f);
		if (one_in(f, 30))
			it[i].value = odd_value(f);
		if (one_in(f, 60))
			memset(it[i].comm, 'x', sizeof(it[i].comm));
	}
}

static inline void make_config(struct fuzzer *f, union arg *a)
{
	struct memtap_config *c = &a->config;

	c->size = sizeof(*c);
	c->flags = MEMTAP_CFG_USTACK | (any(f) & (MEMTAP_CFG_KSTACK | MEMTAP_CFG_THREADS |
		   MEMTAP_CFG_NOT_SELF | MEMTAP_CFG_CHILDREN | MEMTAP_CFG_ROWS | MEMTAP_CFG_LIVE));
	if (one_in(f, 4))
		c->flags |= MEMTAP_CFG_HIST;
	if (one_in(f, 4))
		c->flags |= MEMTAP_CFG_ADDR;
	if (one_in(f, 4))
		c->flags |= MEMTAP_CFG_FILES | (any(f) & MEMTAP_CFG_MAPPINGS);
	if (one_in(f, 4))
		c->flags = (c->flags & ~(MEMTAP_CFG_LIVE | MEMTAP_CFG_HIST | MEMTAP_CFG_ADDR |
					 MEMTAP_CFG_FILES | MEMTAP_CFG_MAPPINGS)) |
			   MEMTAP_CFG_RING;
	if (one_in(f, 8))
		c->flags |= one_in(f, 2) ? MEMTAP_CFG_ONLY_USER : MEMTAP_CFG_ONLY_KERNEL;
	if (c->flags & MEMTAP_CFG_LIVE)
		c->flags |= any(f) & (MEMTAP_CFG_KEEP | MEMTAP_CFG_TRACE);
	if (one_in(f, 6))
		c->flags = MEMTAP_CFG_OBJECTS | (any(f) & (MEMTAP_CFG_KSTACK |
			   MEMTAP_CFG_CALL_SITE | MEMTAP_CFG_NOT_SELF | MEMTAP_CFG_TRACE));
	c->events = any(f) & any(f) & ((1U << nr_builtins) - 1);
	c->depth = below(f, 128);
	c->addr_shift = below(f, 64);
	c->mem_stacks = some_bytes(f);
	c->mem_counters = some_bytes(f);
	c->mem_tasks = some_bytes(f);
	c->mem_unwind = some_bytes(f);
	c->mem_live = some_bytes(f);
	if (c->flags & MEMTAP_CFG_LIVE && one_in(f, 3))
		c->sample_bytes = below(f, 4096);
	else if (c->flags & MEMTAP_CFG_LIVE)
		c->sample_rate = below(f, 8);
	make_items(f, c);
}

static inline void make_kernel_probe(struct fuzzer *f, struct memtap_attach *a)
{
	static const char *const functions[] = {
		"do_exit", "vfs_statfs", "__x64_sys_getppid", "ksys_mmap_pgoff", "__x64_sys_brk",
		"vfs_open", "do_nanosleep", "exit_mmap", "no_such_function", "",
	};
	static const char *const events[] = {
		"task:task_rename", "sched:sched_process_fork", "sched:sched_process_exit",
		"signal:signal_generate", "syscalls:sys_enter_getppid", "kmem:mm_page_free",
		"no:such", ":", "x",
	};

	if (one_in(f, 2)) {
		a->kind = MEMTAP_ATTACH_KPROBE;
		strcpy(a->name, functions[below(f, 10)]);
		a->offset = one_in(f, 8) ? below(f, 16) : 0;
		return;
	}
	a->kind = MEMTAP_ATTACH_TRACEPOINT;
	strcpy(a->name, events[below(f, 9)]);
	a->config = one_in(f, 2) ? perf_ids[below(f, 3)] : 0;
}

/*
 * Steps: an argument for each slot, a comparison, a text; more or less.  What is wrong with
 * one of them is for the module to find.
 */
static inline void make_steps(struct fuzzer *f, struct memtap_attach *a)
{
	static const uint8_t sources[] = {
		MEMTAP_STEP_NUMBER, MEMTAP_STEP_ARG, MEMTAP_STEP_REG, MEMTAP_STEP_RET,
		MEMTAP_STEP_FIELD, MEMTAP_STEP_FACT,
	};
	struct memtap_step *st = (void *)(f->data + 2560);
	char *texts = f->data + 2304;
	const unsigned int shown = below(f, 5);
	unsigned int nr = 0, slot, i;

	memset(st, 0, MEMTAP_MAX_STEPS * sizeof(*st));
	for (slot = 0; slot < shown; slot++) {
		if (one_in(f, 4)) {
			st[nr++] = (struct memtap_step){ .op = MEMTAP_STEP_COMM, .index = slot };
			continue;
		}
		i = a->kind == MEMTAP_ATTACH_TRACEPOINT || a->kind == MEMTAP_ATTACH_BUILTIN ?
		    (one_in(f, 2) ? 4 : 5) : below(f, 6);
		st[nr].op = sources[i];
		st[nr].type = i == 4 ? 1U << below(f, 4) : 0;
		st[nr].index = i == 1 || i == 2 || i == 5 ? below(f, 6) : 0;
		st[nr++].number = i == 4 ? below(f, 256) : i ? 0 : any(f);
		if (one_in(f, 3))
			st[nr++] = (struct memtap_step){ .op = MEMTAP_STEP_LOAD, .type = 4,
							 .index = below(f, 2) };
		st[nr++] = (struct memtap_step){ .op = MEMTAP_STEP_KEEP, .type = 8, .index = slot };
	}
	if (shown && one_in(f, 2)) {
		st[nr++] = (struct memtap_step){ .op = MEMTAP_STEP_SLOT, .index = below(f, shown) };
		st[nr++] = (struct memtap_step){ .op = MEMTAP_STEP_NUMBER, .number = any(f) };
		st[nr++] = (struct memtap_step){
			.op = one_in(f, 2) ? MEMTAP_STEP_ADD + below(f, 13) :
					     MEMTAP_STEP_MUL + below(f, 5) };
		st[nr++].op = MEMTAP_STEP_PASS;
	}
	snprintf(texts, 16, "t_fuzz");
	for (i = 0; one_in(f, 6) && i < 3; i++) {
		st[below(f, MEMTAP_MAX_STEPS)] = (struct memtap_step){
			.op = below(f, MEMTAP_NR_STEP + 2), .type = odd_value(f),
			.index = odd_value(f), .reserved = one_in(f, 4), .number = odd_value(f) };
		nr = below(f, MEMTAP_MAX_STEPS + 2);
	}
	a->nr_steps = nr;
	a->nr_shown = nr ? shown : 0;
	a->nr_entry = a->flags & MEMTAP_ATTACH_RETURN && nr ? below(f, nr) : 0;
	a->value_slot = shown && one_in(f, 3) ? 1 + below(f, shown) : 0;
	a->by_slot = shown && one_in(f, 3) ? 1 + below(f, shown) : 0;
	a->by_mask = shown && one_in(f, 4) ? below(f, 1U << shown) : 0;
	a->text_max = one_in(f, 4) ? below(f, MEMTAP_LONG_TEXT + 8) : 0;
	a->texts_len = nr && one_in(f, 3) ? 7 : 0;
	a->steps_ptr = odd_address(f, st);
	a->texts_ptr = odd_address(f, texts);
}

/* What tells of itself, and counters that every machine has. */
static inline void make_told(struct fuzzer *f, struct memtap_attach *a)
{
	static const char *const builtins[] = {
		"minor-fault", "major-fault", "brk", "mmap", "munmap", "mprotect", "madvise",
		"shmget", "memfd", "shm-size", "none",
	};

	if (one_in(f, 2)) {
		a->kind = MEMTAP_ATTACH_BUILTIN;
		strcpy(a->name, builtins[below(f, 11)]);
		make_steps(f, a);
		return;
	}
	a->kind = MEMTAP_ATTACH_PERF;
	snprintf(a->name, sizeof(a->name), "perf:%u", below(f, 4));
	a->offset = one_in(f, 12) ? odd_value(f) : 1;		/* software */
	a->config = one_in(f, 12) ? odd_value(f) : below(f, 8);
	a->op = one_in(f, 3);
	a->ref_ctr = a->op ? 1 + below(f, 300) : 100000 + below(f, 1000000);
	if (one_in(f, 12))
		a->ref_ctr = odd_value(f);
	if (one_in(f, 2))
		make_steps(f, a);
}

/* Whatever else is wrong with it: no breakpoint within an instruction that is run. */
static inline void harmless(struct fuzzer *f, struct memtap_attach *a)
{
	if (a->kind == MEMTAP_ATTACH_TRACEPOINT && a->config < 1 << 20 &&
	    a->config != perf_ids[0] && a->config != perf_ids[1])
		a->config = perf_ids[2];
	if (a->fd == exe && a->offset < 1 << 30)
		a->offset = places[below(f, 2)];
	if (a->hold_ms > 20 && a->hold_ms <= 60000)
		a->hold_ms = 1 + a->hold_ms % 20;
}

static inline void make_attach(struct fuzzer *f, union arg *u)
{
	struct memtap_attach *a = &u->attach;

	a->size = sizeof(*a);
	if (one_in(f, 5)) {
		make_told(f, a);
		return;
	}
	if (one_in(f, 3)) {
		make_kernel_probe(f, a);
		a->flags = one_in(f, 3) ? MEMTAP_ATTACH_RETURN :
			   one_in(f, 3) ? MEMTAP_ATTACH_MARK : 0;
		if (one_in(f, 2))
			make_steps(f, a);
		return;
	}
	a->kind = one_in(f, 2) ? MEMTAP_ATTACH_UPROBE : MEMTAP_ATTACH_HEAP;
	a->fd = odd_file(f);
	a->offset = one_in(f, 4) ? odd_value(f) : places[below(f, 2)];
	snprintf(a->name, sizeof(a->name), "probe %u", below(f, 4));
	if (a->kind == MEMTAP_ATTACH_UPROBE) {
		a->flags = 1U << below(f, 3);
		a->hold_ms = a->flags & MEMTAP_ATTACH_HOLD ? 1 + below(f, 10) : 0;
		a->ref_ctr = one_in(f, 20) ? odd_value(f) : 0;
		if (!a->hold_ms && one_in(f, 2))
			make_steps(f, a);
		return;
	}
	a->op = 1 + below(f, 5);
	a->family = below(f, 5);
	a->flags = one_in(f, 3) ? MEMTAP_ATTACH_FREE_STACK : 0;
	if (one_in(f, 3))
		a->flags |= MEMTAP_ATTACH_ONCE;
	a->size_arg = a->op == MEMTAP_HEAP_ALLOC || a->op == MEMTAP_HEAP_REALLOC ?
		      below(f, 3) : MEMTAP_ARG_NONE;
	a->size2_arg = MEMTAP_ARG_NONE;
	a->ptr_arg = a->op == MEMTAP_HEAP_FREE || a->op == MEMTAP_HEAP_REALLOC ? below(f, 6) :
		     MEMTAP_ARG_NONE;
	a->result_arg = a->size_arg == MEMTAP_ARG_NONE ? MEMTAP_ARG_NONE : MEMTAP_ARG_RETURN;
}

static inline void make_table(struct fuzzer *f, union arg *u)
{
	struct memtap_table *t = &u->table;
	uint32_t *rows = (void *)f->data, i, at = 0;
	uint16_t *kinds = (void *)(f->data + 1024);
	struct memtap_rule *rules = (void *)(f->data + 2048);

	t->size = sizeof(*t);
	t->nr_rows = one_in(f, 30) ? odd_value(f) : 1 + below(f, 128);
	t->nr_rules = one_in(f, 30) ? odd_value(f) : 1 + below(f, 8);
	for (i = 0; i < 128; i++) {
		rows[i] = at += 1 + below(f, one_in(f, 20) ? 1 << 30 : 64);
		kinds[i] = below(f, t->nr_rules ? t->nr_rules : 1);
	}
	for (i = 0; i < 8; i++) {
		rules[i] = (struct memtap_rule){ .kind = below(f, 8), .ra = -8 };
		if (rules[i].kind == MEMTAP_RULE_CFA || rules[i].kind == MEMTAP_RULE_DEREF)
			rules[i].reg = below(f, 16);
		rules[i].cfa = one_in(f, 10) ? odd_value(f) : below(f, 256);
		if (one_in(f, 20))
			rules[i].flags = any(f);
	}
	t->rows_ptr = odd_address(f, rows);
	t->kinds_ptr = odd_address(f, kinds);
	t->rules_ptr = odd_address(f, rules);
	t->flags = one_in(f, 6) ? MEMTAP_TABLE_VDSO : 0;
	t->fd = t->flags ? -1 : odd_file(f);
}

static inline void make_other(struct fuzzer *f, union arg *a, unsigned long cmd)
{
	static const struct { unsigned long cmd; uint32_t size; } sizes[] = {
		{ MEMTAP_INFO, sizeof(a->info) }, { MEMTAP_EVENT, sizeof(a->event) },
		{ MEMTAP_HOOK, sizeof(a->hook) }, { MEMTAP_START, sizeof(a->run) },
		{ MEMTAP_STOP, sizeof(a->run) }, { MEMTAP_STATS, sizeof(a->stats) },
		{ MEMTAP_WANTED, sizeof(a->wanted) }, { MEMTAP_TRACE, sizeof(a->trace) },
		{ MEMTAP_HELD, sizeof(a->held) }, { MEMTAP_EVENTS, sizeof(a->events) },
		{ MEMTAP_FIELD, sizeof(a->field) }, { MEMTAP_SIMILAR, sizeof(a->similar) },
		{ MEMTAP_SYMBOL, sizeof(a->symbol) }, { MEMTAP_AGES, sizeof(a->ages) },
		{ MEMTAP_MARK, sizeof(a->mark) }, { MEMTAP_OTHER, sizeof(a->other) },
		{ MEMTAP_RECORDED, sizeof(a->recorded) },
	};
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i].cmd == cmd)
			a->size = sizes[i].size;
	if (cmd == MEMTAP_EVENT || cmd == MEMTAP_HOOK || cmd == MEMTAP_STATS)
		a->event.id = below(f, 12);
	if (cmd == MEMTAP_EVENTS) {
		a->events.ones_ptr = odd_address(f, f->data);
		a->events.room = one_in(f, 10) ? odd_value(f) : 4096;
	}
	if (cmd == MEMTAP_FIELD) {
		a->field.event = below(f, 20);
		a->field.index = one_in(f, 10) ? odd_value(f) : below(f, 9);
	}
	if (cmd == MEMTAP_SIMILAR) {
		a->similar.cache = one_in(f, 10) ? odd_value(f) : 24 + below(f, 20);
		a->similar.budget = 1 + below(f, 4096);
	}
	if (cmd == MEMTAP_SYMBOL)
		a->symbol.addr = odd_value(f);
	if (cmd == MEMTAP_AGES) {
		a->ages.flags = one_in(f, 50) ? MEMTAP_AGES_FLUSH : 0;
		a->ages.pid = one_in(f, 10) ? (int32_t)odd_value(f) : (int32_t)below(f, 400);
		a->ages.nr = one_in(f, 10) ? odd_value(f) : below(f, MEMTAP_MAX_AGES + 2);
		a->ages.page = one_in(f, 3) ? 0 : odd_value(f) >> below(f, 40);
		a->ages.regions_ptr = odd_address(f, f->data);
	}
	if (cmd == MEMTAP_RECORDED) {
		a->recorded.nr = one_in(f, 10) ? odd_value(f) : 1 + below(f, 25);
		a->recorded.rows_ptr = odd_address(f, f->data);
	}
	if (cmd == MEMTAP_MARK) {
		snprintf(a->mark.name, sizeof(a->mark.name), "%u", below(f, 100));
		a->mark.flags = one_in(f, 2) ? MEMTAP_MARK_OTHERS : 1U << below(f, 4);
		a->mark.pid = one_in(f, 10) ? getpid() : 0;
		a->mark.event = one_in(f, 10) ? odd_value(f) : below(f, 3);
	}
	if (cmd == MEMTAP_OTHER) {
		a->other.nr = one_in(f, 10) ? odd_value(f) : below(f, 40);
		a->other.nr_rows = one_in(f, 10) ? odd_value(f) : below(f, 4);
		a->other.rows_ptr = odd_address(f, f->data);
	}
	if (cmd == MEMTAP_WANTED) {
		a->wanted.path_ptr = odd_address(f, f->data);
		a->wanted.path_len = one_in(f, 10) ? odd_value(f) : 16 + below(f, 4081);
	}
	if (cmd == MEMTAP_TRACE) {
		a->trace.calls_ptr = odd_address(f, f->data);
		a->trace.nr = one_in(f, 10) ? odd_value(f) : below(f, 100);
	}
	if (cmd == MEMTAP_HELD && one_in(f, 2))
		a->held.release = a->held.release_id = below(f, 20);
	if (cmd == MEMTAP_HELD && one_in(f, 2))
		a->held.look = one_in(f, 4) ? (int)odd_value(f) : getpid();
}

/* Some bytes are wrong; never those that would make it harmful. */
static inline void spoil(struct fuzzer *f, union arg *a, uint32_t size)
{
	unsigned int i, n = 1 + below(f, 3);
	uint64_t value;

	for (i = 0; i < n; i++) {
		value = odd_value(f);
		memcpy((char *)a + (4 + below(f, size - 11)) / 4 * 4, &value,
		       one_in(f, 2) ? 4 : 1);
	}
}

/* Fills in a structure for @cmd, at the end of memory or well before it. */
static inline void *make_arg(struct fuzzer *f, unsigned long cmd)
{
	uint32_t size, told, room;
	union arg a;
	char *at;

	memset(&a, 0, sizeof(a));
	switch (cmd) {
	case MEMTAP_CONFIGURE: make_config(f, &a); break;
	case MEMTAP_ATTACH: make_attach(f, &a); break;
	case MEMTAP_TABLE: make_table(f, &a); break;
	default: make_other(f, &a, cmd);
	}
	size = a.size ? a.size : 64;
	if (one_in(f, 6) && size > 11)
		spoil(f, &a, size);
	if (cmd == MEMTAP_ATTACH)
		harmless(f, &a.attach);
	told = size;
	if (one_in(f, 8))
		told = one_in(f, 3) ? odd_value(f) : below(f, 2 * size);
	a.size = told;
	at = f->page + ROOM - (one_in(f, 12) ? below(f, size) : size);
	if (told > size && told < ROOM)
		at = f->page + ROOM - told;
	memset(at, one_in(f, 8) ? 0xff : 0, f->page + ROOM - at);
	room = f->page + ROOM - at;
	memcpy(at, &a, size < room ? size : room);
	return one_in(f, 60) ? (void *)(uintptr_t)odd_address(f, at) : at;
}

#endif
