// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load valid tables with random contents.  Wherever they lead the unwinder, the only effect is a
 * truncated stack.
 */
#include <signal.h>
#include <sys/mman.h>

#include "session.h"
#include "workload.h"

#define LIES		60	/* sessions */
#define MANY_ROWS	3000
#define MANY_RULES	200

static int self;		/* this program's file */
static unsigned int brk_id, fault_id;

static uint64_t chance = 88172645463325252ULL;

static uint32_t any(uint32_t below)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return (chance >> 16) % below;
}

static struct memtap_rule any_rule(void)
{
	struct memtap_rule r = { .kind = any(MEMTAP_NR_RULE), .ra = -8 };
	const int near = any(4) ? 256 : 1 << 20;

	if (r.kind < MEMTAP_RULE_CFA || r.kind > MEMTAP_RULE_PLT)
		return r;
	r.reg = r.kind == MEMTAP_RULE_PLT ? 0 : any(16);
	r.cfa = ((int)any(2 * near) - near) & ~7;
	r.add = r.kind == MEMTAP_RULE_PLT ? (int)any(16) :
		r.kind == MEMTAP_RULE_DEREF ? ((int)any(2 * near) - near) & ~7 : 0;
	if (any(2)) {
		r.flags |= any(2) ? MEMTAP_RULE_FP_SAVED : MEMTAP_RULE_FP_AT_FP;
		r.fp = (int)any(2 * near) - near;
	}
	if (any(2)) {
		r.flags |= any(2) ? MEMTAP_RULE_BX_SAVED : MEMTAP_RULE_BX_AT_FP;
		r.bx = (int)any(2 * near) - near;
	}
	if (r.kind == MEMTAP_RULE_CFA && !any(8))
		r.flags |= MEMTAP_RULE_SWITCH;
	if (!any(8)) {
		r.flags |= MEMTAP_RULE_RA_REG;
		r.ra = any(16);
	}
	return r;
}

/* A table that could be somebody's. */
static int hand_in_lies(int session, int file)
{
	static uint32_t many_rows[MANY_ROWS];
	static uint16_t many_kinds[MANY_ROWS];
	static struct memtap_rule many_rules[MANY_RULES];
	struct memtap_table t = { .size = sizeof(t), .fd = file };
	uint32_t i, at = 0;

	t.nr_rows = 1 + any(MANY_ROWS);
	t.nr_rules = 1 + any(MANY_RULES);
	t.rows_ptr = (uintptr_t)many_rows;
	t.kinds_ptr = (uintptr_t)many_kinds;
	t.rules_ptr = (uintptr_t)many_rules;
	for (i = 0; i < t.nr_rules; i++)
		many_rules[i] = any_rule();
	for (i = 0; i < t.nr_rows; i++) {
		many_rows[i] = at += 1 + any(200);
		many_kinds[i] = any(t.nr_rules);
	}
	if (file < 0)
		t.flags = MEMTAP_TABLE_VDSO;
	return ioctl(session, MEMTAP_TABLE, &t);
}

WL_FN void wl_cause(unsigned int left, char *page)
{
	if (left) {
		wl_cause(left - 1, page);
		return;
	}
	wl_syscall3(SYS_brk, 0, 0, 0);
	*(volatile char *)page = 1;
	madvise(page, 4096, MADV_DONTNEED);
	/* libc's own */
	memset(page, 2, 4096);
	madvise(page, 4096, MADV_DONTNEED);
}

static void on_signal(int sig __attribute__((unused)))
{
	wl_syscall3(SYS_brk, 0, 0, 0);
}

static int libc_file(void)
{
	char line[512], *path;
	FILE *f = fopen("/proc/self/maps", "r");
	int fd = -1;

	while (f && fd < 0 && fgets(line, sizeof(line), f)) {
		path = strchr(line, '/');
		if (path && strstr(path, "/libc") && strtok(path, "\n"))
			fd = open(path, O_RDONLY);
	}
	if (f)
		fclose(f);
	return fd;
}

/* One session with lies about all code of this process; whether it adds up. */
static bool survives(int libc, char *page)
{
	const struct memtap_rec_event *ev;
	struct bytes b;
	bool fine;
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 1ULL << brk_id | 1ULL << fault_id);
	int fd = session_open(), i;

	config.flags = MEMTAP_CFG_USTACK | MEMTAP_CFG_ROWS;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	session_must(hand_in_lies(fd, self), "TABLE of lies");
	session_must(hand_in_lies(fd, libc), "TABLE of lies, libc");
	session_must(hand_in_lies(fd, -1), "TABLE of lies, vdso");
	session_must(session_run(fd, MEMTAP_START), "START");
	for (i = 0; i < 20; i++) {
		wl_cause(i, page);
		raise(SIGUSR1);
	}
	session_must(session_run(fd, MEMTAP_STOP), "STOP");
	b = session_read(fd, 65536);
	ev = find_event(&b, "brk");
	fine = !whole(&b) && ev && ev->counted >= 40 &&
	       ev->seen == ev->counted + ev->filtered + sum_lost(ev);
	free(b.at);
	close(fd);
	return fine;
}

int main(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int libc = libc_file(), i, fine = 0, fd;

	heap_stays();
	fd = session_open();
	brk_id = event_id(fd, "brk");
	fault_id = event_id(fd, "minor-fault");
	close(fd);
	self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	session_must(self, "/proc/self/exe");
	signal(SIGUSR1, on_signal);
	session_must(libc, "libc's file");
	for (i = 0; i < LIES; i++)
		fine += survives(libc, page);
	is_u64(fine, LIES, "tables that lie cut stacks, and lose no event");
	close(libc);
	return done_testing();
}

