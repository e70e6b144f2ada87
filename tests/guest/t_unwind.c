// SPDX-License-Identifier: GPL-2.0-or-later
/* Call MEMTAP_TABLE and MEMTAP_WANTED with wrong arguments. */
#include <sys/mman.h>

#include "session.h"

#define NR_ROWS		4
#define NR_RULES	2

static int self = -1;		/* this program's file */
static unsigned int brk_id, fault_id;

static uint32_t rows[NR_ROWS];
static uint16_t kinds[NR_ROWS];
static struct memtap_rule rules[NR_RULES];

/* A table that is as it should be; each test breaks one thing. */
static struct memtap_table good_table(void)
{
	const struct memtap_rule call = { .kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = 8, .ra = -8 };
	const struct memtap_rule end = { .kind = MEMTAP_RULE_END, .ra = -8 };
	int i;

	for (i = 0; i < NR_ROWS; i++) {
		rows[i] = 4096 + 16 * i;
		kinds[i] = i % NR_RULES;
	}
	rules[0] = call;
	rules[1] = end;
	return (struct memtap_table){
		.size = sizeof(struct memtap_table),
		.fd = self,
		.nr_rows = NR_ROWS,
		.nr_rules = NR_RULES,
		.rows_ptr = (uintptr_t)rows,
		.kinds_ptr = (uintptr_t)kinds,
		.rules_ptr = (uintptr_t)rules,
	};
}

/* A session by rows on this process that did not start yet. */
static int configured(uint32_t flags, uint64_t mem_unwind)
{
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 1ULL << brk_id | 1ULL << fault_id);
	int fd = session_open();

	config.flags = flags;
	config.mem_unwind = mem_unwind;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	return fd;
}

static int by_rows(void)
{
	return configured(MEMTAP_CFG_USTACK | MEMTAP_CFG_ROWS, 0);
}

static int hand_in(int fd, struct memtap_table *t)
{
	return ioctl(fd, MEMTAP_TABLE, t);
}

static void test_states(void)
{
	struct memtap_wanted w = { .size = sizeof(w), .path_len = 16 };
	struct memtap_table t = good_table();
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 1ULL << brk_id);
	int fd = session_open();

	fails(hand_in(fd, &t), EBUSY, "a table before CONFIGURE");
	config.flags = MEMTAP_CFG_ROWS;
	fails(ioctl(fd, MEMTAP_CONFIGURE, &config), EINVAL, "rows without user stacks");
	close(fd);
	fd = configured(MEMTAP_CFG_USTACK, 0);
	fails(hand_in(fd, &t), EBUSY, "a table for a session by frame pointers");
	session_must(session_run(fd, MEMTAP_START), "START");
	fails(ioctl(fd, MEMTAP_WANTED, &w), EBUSY, "such a session wants none");
	close(fd);

	fd = by_rows();
	fails(ioctl(fd, MEMTAP_WANTED, &w), EBUSY, "nothing is wanted before START");
	works(hand_in(fd, &t), "a table before START");
	ok(t.file != 0 && t.bytes >= NR_ROWS * 6, "it says which file that is, and what it takes");
	fails(hand_in(fd, &t), EEXIST, "another one for the same file");
	session_must(session_run(fd, MEMTAP_START), "START");
	fails(hand_in(fd, &t), EEXIST, "another one for the same file after START");
	session_must(session_run(fd, MEMTAP_STOP), "STOP");
	fails(hand_in(fd, &t), EBUSY, "a table after STOP");
	fails(ioctl(fd, MEMTAP_WANTED, &w), EBUSY, "nothing is wanted after STOP");
	close(fd);
}

static void is_refused(struct memtap_table *t, int err, const char *name)
{
	int fd = by_rows();

	fails(hand_in(fd, t), err, name);
	close(fd);
}

/* The structure itself. */
static void test_structure(void)
{
	struct {
		struct memtap_table t;
		uint64_t more;
	} longer;
	struct memtap_table t;
	int fd, other[2];

	t = good_table(), t.size = 8;
	is_refused(&t, EINVAL, "a short structure");
	longer.t = good_table(), longer.t.size = sizeof(longer), longer.more = 1;
	is_refused(&longer.t, E2BIG, "a field that is not known");
	longer.more = 0;
	fd = by_rows();
	works(hand_in(fd, &longer.t), "a longer structure of zeros");
	close(fd);
	t = good_table(), t.flags = 2;
	is_refused(&t, EOPNOTSUPP, "a flag that is not known");
	t = good_table(), t.fd = -1;
	is_refused(&t, EBADF, "no file");
	t = good_table(), t.fd = 1 << 20;
	is_refused(&t, EBADF, "a descriptor that is not open");
	t = good_table(), t.flags = MEMTAP_TABLE_VDSO;
	is_refused(&t, EINVAL, "the vdso has no file");
	t = good_table(), t.nr_rows = 0;
	is_refused(&t, EINVAL, "no rows");
	t = good_table(), t.nr_rules = 0;
	is_refused(&t, EINVAL, "no rules");
	t = good_table(), t.nr_rows = MEMTAP_MAX_ROWS + 1;
	is_refused(&t, EINVAL, "more rows than a table can have");
	t = good_table(), t.nr_rows = UINT32_MAX;
	is_refused(&t, EINVAL, "as many rows as a number can say");
	t = good_table(), t.nr_rules = MEMTAP_MAX_RULES + 1;
	is_refused(&t, EINVAL, "more rules than a table can have");
	t = good_table(), t.nr_rules = UINT32_MAX;
	is_refused(&t, EINVAL, "as many rules as a number can say");

	/* things that are open, and no files that anybody could map */
	session_must(pipe(other), "pipe");
	t = good_table(), t.fd = other[0];
	fd = by_rows();
	fails(hand_in(fd, &t), EBADF, "a pipe");
	t = good_table(), t.fd = fd;
	fails(hand_in(fd, &t), EBADF, "the session itself, which would never end");
	close(other[0]);
	close(other[1]);
	close(fd);
}

static void test_memory(void)
{
	const uint64_t bad[] = { 0, 1, 0xffff888000000000ULL, 0xffffffff81000000ULL, UINT64_MAX,
				 0x7ffffffff000ULL };
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct memtap_table t;
	size_t i;
	char name[64];
	int fd;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(name, sizeof(name), "at %llx: ", (unsigned long long)bad[i]);
		t = good_table(), t.rows_ptr = bad[i];
		is_refused(&t, EFAULT, strcat(name, "rows"));
		t = good_table(), t.kinds_ptr = bad[i];
		is_refused(&t, EFAULT, strcat(name, ", kinds"));
		t = good_table(), t.rules_ptr = bad[i];
		is_refused(&t, EFAULT, strcat(name, ", rules"));
	}
	/* the arrays end where memory ends, or a byte later */
	munmap(two + 4096, 4096);
	t = good_table();
	t.rows_ptr = (uintptr_t)memcpy(two + 4096 - sizeof(rows), rows, sizeof(rows));
	fd = by_rows();
	works(hand_in(fd, &t), "rows up to the end of memory");
	close(fd);
	t.nr_rows++;
	is_refused(&t, EFAULT, "one more row than there is memory");
	t = good_table();
	t.nr_rows = MEMTAP_MAX_ROWS;
	t.rows_ptr = (uintptr_t)two;
	fd = by_rows();
	ok(hand_in(fd, &t) && (errno == EFAULT || errno == EDQUOT), "rows that are not there");
	close(fd);
	munmap(two, 4096);

	t = good_table();
	t.nr_rows = MEMTAP_MAX_ROWS;
	fd = configured(MEMTAP_CFG_USTACK | MEMTAP_CFG_ROWS, 1 << 20);
	fails(hand_in(fd, &t), EDQUOT, "a table larger than the budget");
	t = good_table();
	works(hand_in(fd, &t), "there is room for a small one");
	close(fd);
}

/* ---- rows and rules ---- */

#define FAR	((1 << 30) + 1)

static const struct bad_rule {
	const char *name;
	struct memtap_rule rule;
} bad_rules[] = {
	{ "the first kind that there is not", { .kind = MEMTAP_NR_RULE, .ra = -8 } },
	{ "the last kind", { .kind = 255, .ra = -8 } },
	{ "register 16", { .kind = MEMTAP_RULE_CFA, .reg = 16, .ra = -8 } },
	{ "register 255", { .kind = MEMTAP_RULE_DEREF, .reg = 255, .ra = -8 } },
	{ "an unknown flag", { .kind = MEMTAP_RULE_CFA, .reg = 7, .flags = 1 << 7, .ra = -8 } },
	{ "a change of stacks by another rule than CFA", { .kind = MEMTAP_RULE_DEREF,
		.reg = 7, .flags = MEMTAP_RULE_SWITCH, .ra = -8 } },
	{ "all flags", { .kind = MEMTAP_RULE_CFA, .reg = 7, .flags = 255, .ra = -8 } },
	{ "flags of an end", { .kind = MEMTAP_RULE_END, .flags = 1, .ra = -8 } },
	{ "flags of a signal", { .kind = MEMTAP_RULE_SIGNAL, .flags = 4, .ra = -8 } },
	{ "flags of a frame pointer", { .kind = MEMTAP_RULE_FP, .flags = 1, .ra = -8 } },
	{ "reserved", { .kind = MEMTAP_RULE_CFA, .reg = 7, .reserved = 1, .ra = -8 } },
	{ "a CFA far away", { .kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = FAR, .ra = -8 } },
	{ "a CFA far below", { .kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = INT32_MIN, .ra = -8 } },
	{ "rbp far away", { .kind = MEMTAP_RULE_CFA, .reg = 7, .fp = INT32_MAX, .ra = -8 } },
	{ "rbx far away", { .kind = MEMTAP_RULE_CFA, .reg = 7, .bx = -FAR, .ra = -8 } },
	{ "add far away", { .kind = MEMTAP_RULE_DEREF, .reg = 7, .add = INT32_MAX, .ra = -8 } },
	{ "a return address elsewhere", { .kind = MEMTAP_RULE_CFA, .reg = 7, .ra = -16 } },
	{ "a return address in register 16", { .kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = 8,
		.flags = MEMTAP_RULE_RA_REG, .ra = 16 } },
	{ "a return address in register -8", { .kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = 8,
		.flags = MEMTAP_RULE_RA_REG, .ra = -8 } },
};

static void test_content(void)
{
	struct memtap_table t = good_table();
	size_t i;

	rows[2] = rows[1];
	is_refused(&t, EINVAL, "two rows at the same place");
	t = good_table(), rows[2] = rows[1] - 1;
	is_refused(&t, EINVAL, "rows that are not sorted");
	t = good_table(), rows[NR_ROWS - 1] = 0;
	is_refused(&t, EINVAL, "a last row that is too low");
	t = good_table(), kinds[0] = NR_RULES;
	is_refused(&t, EINVAL, "the first rule that there is not");
	t = good_table(), kinds[NR_ROWS - 1] = UINT16_MAX;
	is_refused(&t, EINVAL, "the last rule that can be named");
	for (i = 0; i < sizeof(bad_rules) / sizeof(bad_rules[0]); i++) {
		t = good_table(), rules[1] = bad_rules[i].rule;
		is_refused(&t, EINVAL, bad_rules[i].name);
	}
}

/* ---- what is wanted ---- */

static void test_wanted(void)
{
	char path[4096 + 8];
	struct memtap_wanted w = { .size = sizeof(w), .path_ptr = (uintptr_t)path };
	const struct memtap_wanted none = w;
	static const uint32_t lengths[] = { 0, 1, 15, 4097, UINT32_MAX };
	unsigned int nr = 0, last = 0;
	char name[64];
	size_t i;
	int fd = by_rows(), err;

	session_must(session_run(fd, MEMTAP_START), "START");
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		w = none, w.path_len = lengths[i];
		snprintf(name, sizeof(name), "WANTED with %u bytes for the path", lengths[i]);
		fails(ioctl(fd, MEMTAP_WANTED, &w), EINVAL, name);
	}
	w = none, w.path_len = 4096, w.flags = 1;
	fails(ioctl(fd, MEMTAP_WANTED, &w), EOPNOTSUPP, "WANTED with a flag");
	w = none, w.path_len = 4096, w.file = UINT32_MAX;
	fails(ioctl(fd, MEMTAP_WANTED, &w), ENOENT, "WANTED behind the last file");
	w = none, w.path_len = 4096, w.path_ptr = 0xffff888000000000ULL;
	fails(ioctl(fd, MEMTAP_WANTED, &w), EFAULT, "WANTED with the path in the kernel");
	w = none, w.path_len = 4096, w.size = 12;
	fails(ioctl(fd, MEMTAP_WANTED, &w), EINVAL, "WANTED with a short structure");

	memset(path, 'x', sizeof(path));
	w = none, w.path_len = 16;
	works(ioctl(fd, MEMTAP_WANTED, &w), "a file is wanted");
	ok(memchr(path, 0, 16) && path[16] == 'x', "its path is cut to what there is room for");
	w = none, w.path_len = 4096;
	for (; !(err = ioctl(fd, MEMTAP_WANTED, &w)) && nr < 1000; nr++) {
		if (w.file <= last || w.end <= w.start || path[0] != '/' || w.pid != getpid())
			diag("file %u after %u, %s at %llx", w.file, last, path,
			     (unsigned long long)w.start);
		last = w.file;
	}
	fails(err, ENOENT, "after the last there is none");
	/* this program, libc, the dynamic linker; a static one has one */
	ok(nr >= 1, "all mapped files are wanted, %u", nr);
	close(fd);
}

int main(void)
{
	struct memtap_info info = { .size = sizeof(info) };
	int fd;

	heap_stays();
	fd = session_open();
	session_must(ioctl(fd, MEMTAP_INFO, &info), "INFO");
	brk_id = event_id(fd, "brk");
	fault_id = event_id(fd, "minor-fault");
	close(fd);
	self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	session_must(self, "/proc/self/exe");
	if (!ok(info.features & MEMTAP_FEATURE_ROWS, "this module can unwind by rows"))
		return done_testing();
	test_states();
	test_structure();
	test_memory();
	test_content();
	test_wanted();
	return done_testing();
}
