// SPDX-License-Identifier: GPL-2.0-or-later
/* The contract of /dev/memtap, line by line; also built for 32 bits. */
#include <grp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "session.h"
#include "workload.h"

#define NOBODY	65534
#define BRKS	100

/* A program from the future knows one more field. */
#define FUTURE(_name)	struct { struct _name known; __u64 not_yet; }

static void page_break(unsigned int times)
{
	long now = wl_syscall3(SYS_brk, 0, 0, 0);

	/* the question above is an event, too */
	while (--times)
		wl_syscall3(SYS_brk, now, 0, 0);
}

static void test_commands(void)
{
	int fd = session_open();
	struct memtap_info info = { .size = sizeof(info) };

	fails(ioctl(fd, _IO(MEMTAP_IOC_TYPE, 99), &info), ENOTTY, "an unknown command is ENOTTY");
	fails(ioctl(fd, _IO('m', 0), &info), ENOTTY, "another driver's command is ENOTTY");
	fails(ioctl(fd, MEMTAP_INFO, NULL), EFAULT, "no structure at all is EFAULT");
	works(ioctl(fd, MEMTAP_INFO, &info), "INFO works");
	is_u64(info.max_depth, MEMTAP_MAX_DEPTH, "INFO tells the depth of stacks");
	ok(info.nr_events >= 6 && info.nr_events < 64, "INFO tells the number of events");
	ok(info.nr_cpus >= 1 && info.max_mem && info.mem_stacks && info.mem_counters &&
	   info.mem_tasks && info.nr_sessions >= 1, "INFO tells the limits");
	ok(info.version[0] && info.release[0], "INFO tells versions");
	info.flags = 1;
	fails(ioctl(fd, MEMTAP_INFO, &info), EOPNOTSUPP, "an unknown flag is EOPNOTSUPP");
	close(fd);
}

static void test_sizes(void)
{
	int fd = session_open();
	FUTURE(memtap_info) info = { .known.size = sizeof(info) };
	char *page;

	works(ioctl(fd, MEMTAP_INFO, &info), "a longer structure is fine while its tail is zero");
	is_u64(info.known.size, sizeof(info), "its size stays what the caller said");
	info.not_yet = 1;
	fails(ioctl(fd, MEMTAP_INFO, &info), E2BIG, "a tail in use is E2BIG");
	/* mem_unwind came later */
	info.known.size = offsetof(struct memtap_info, mem_unwind) - 1;
	fails(ioctl(fd, MEMTAP_INFO, &info), EINVAL, "one byte too short is EINVAL");
	info.known.size = 0;
	fails(ioctl(fd, MEMTAP_INFO, &info), EINVAL, "size 0 is EINVAL");
	info.known.size = 0xffffffff;
	fails(ioctl(fd, MEMTAP_INFO, &info), E2BIG, "a size that is no structure's is E2BIG");

	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	info.known.size = sizeof(info.known);
	memcpy(page + 4096 - 8, &info.known, 8);
	fails(ioctl(fd, MEMTAP_INFO, page + 4096 - 8), EFAULT,
	      "a structure that runs into nowhere is EFAULT");
	memcpy(page + 4096 - sizeof(info.known), &info.known, sizeof(info.known));
	mprotect(page, 4096, PROT_READ);
	fails(ioctl(fd, MEMTAP_INFO, page + 4096 - sizeof(info.known)), EFAULT,
	      "one that cannot be written is EFAULT");
	munmap(page, 4096);
	close(fd);
}

static void test_events(void)
{
	static const char *const wanted[] = {
		"minor-fault", "major-fault", "brk", "mmap", "mremap", "munmap",
	};
	int fd = session_open();
	struct memtap_info info = { .size = sizeof(info) };
	struct memtap_event_info ev = { .size = sizeof(ev) };
	struct memtap_hook_state hook = { .size = sizeof(hook) };
	unsigned int found = 0, hooks = 0, i;

	session_must(ioctl(fd, MEMTAP_INFO, &info), "INFO");
	for (ev.id = 0; !ioctl(fd, MEMTAP_EVENT, &ev); ev.id++) {
		hooks += ev.nr_hooks;
		for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			found += !strcmp(ev.name, wanted[i]) && ev.group[0] && ev.summary[0];
	}
	is_u64(found, sizeof(wanted) / sizeof(wanted[0]), "EVENT knows the events by name");
	is_u64(ev.id, info.nr_events, "EVENT ends where INFO says");
	fails(ioctl(fd, MEMTAP_EVENT, &ev), ENOENT, "EVENT past the end is ENOENT");
	for (hook.index = 0; !ioctl(fd, MEMTAP_HOOK, &hook); hook.index++)
		if (!hook.event[0])
			break;
	fails(ioctl(fd, MEMTAP_HOOK, &hook), ENOENT, "HOOK past the end is ENOENT");
	ok(hook.index >= hooks && hooks, "HOOK knows the hooks of all events");
	close(fd);
}

static void refuse_config(int fd, const struct memtap_config *good, size_t at, uint64_t value,
			  size_t len, int want, const char *name)
{
	struct memtap_config bad = *good;

	memcpy((char *)&bad + at, &value, len);
	fails(ioctl(fd, MEMTAP_CONFIGURE, &bad), want, name);
}

#define REFUSE(_field, _value, _errno, _name)				\
	refuse_config(fd, &good, offsetof(struct memtap_config, _field), _value, \
		      sizeof(good._field), _errno, _name)

static void test_configure(void)
{
	int fd = session_open();
	struct memtap_filter_item me, bad;
	struct memtap_config good = config_self(&me, 1ULL << event_id(fd, "brk"));
	struct memtap_config again = good;

	works(ioctl(fd, MEMTAP_CONFIGURE, &again), "CONFIGURE works");
	ok(again.mem_total > 0, "it tells what the session will take");
	works(ioctl(fd, MEMTAP_CONFIGURE, &again), "it may be called again");
	REFUSE(flags, 1U << 31, EOPNOTSUPP, "an unknown CONFIGURE flag is EOPNOTSUPP");
	REFUSE(flags, MEMTAP_CFG_FILES | MEMTAP_CFG_ADDR, EINVAL,
	       "files and addresses at once");
	REFUSE(flags, MEMTAP_CFG_MAPPINGS, EINVAL, "mappings, and not files, are EINVAL");
	REFUSE(flags, MEMTAP_CFG_TOUCHED | MEMTAP_CFG_LIVE, EINVAL,
	       "pages, and live blocks, are EINVAL");
	REFUSE(flags, MEMTAP_CFG_OBJECTS | MEMTAP_CFG_LIVE, EINVAL,
	       "the kernel's objects and a program's blocks at once");
	REFUSE(flags, MEMTAP_CFG_CALL_SITE | MEMTAP_CFG_KSTACK, EINVAL,
	       "call sites of no objects are EINVAL");
	REFUSE(flags, MEMTAP_CFG_ONLY_USER | MEMTAP_CFG_ONLY_KERNEL, EINVAL,
	       "only user and only kernel together are EINVAL");
	REFUSE(events, 1ULL << 63, ENOENT, "an event that does not exist is ENOENT");
	REFUSE(depth, MEMTAP_MAX_DEPTH + 1, EINVAL, "too deep a stack is EINVAL");
	REFUSE(addr_shift, 64, EINVAL, "a shift of 64 is EINVAL");
	REFUSE(reserved, 1, EINVAL, "a reserved field in use is EINVAL");
	REFUSE(mem_counters, 1ULL << 40, EDQUOT, "a huge table is EDQUOT");
	REFUSE(mem_stacks, ~0ULL, EDQUOT, "an absurd table is EDQUOT");
	REFUSE(filter_nr, MEMTAP_MAX_FILTERS + 1, EINVAL, "too many filters are EINVAL");
	REFUSE(filter_ptr, 8, EFAULT, "filters that cannot be read are EFAULT");
	REFUSE(filter_ptr, ~0ULL - 64, EFAULT, "filters in the kernel's memory are EFAULT");

	bad = (struct memtap_filter_item){ .kind = 77 };
	REFUSE(filter_ptr, (uintptr_t)&bad, EINVAL, "an unknown kind of filter is EINVAL");
	bad = me;
	bad.reserved = 1;
	REFUSE(filter_ptr, (uintptr_t)&bad, EINVAL, "a reserved field of a filter is EINVAL");
	bad = (struct memtap_filter_item){ .kind = MEMTAP_FILTER_PID, .value = 0x3fffffff };
	REFUSE(filter_ptr, (uintptr_t)&bad, ESRCH, "a PID that does not exist is ESRCH");
	bad.value = (1ULL << 32) + getpid();
	REFUSE(filter_ptr, (uintptr_t)&bad, ESRCH, "so is one that is no PID at all");
	close(fd);
}

static void test_objects(void)
{
	int fd = session_open();
	struct memtap_objects o = { .size = sizeof(o) };
	struct memtap_config config = {
		.size = sizeof(config),
		.flags = MEMTAP_CFG_OBJECTS | MEMTAP_CFG_KSTACK,
		.events = 1ULL << event_id(fd, "kmalloc") | 1ULL << event_id(fd, "kfree"),
	};

	fails(ioctl(fd, MEMTAP_OBJECTS, &o), EBUSY, "OBJECTS before CONFIGURE is EBUSY");
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	works(ioctl(fd, MEMTAP_OBJECTS, &o), "OBJECTS works");
	o.flags = 1U << 31;
	fails(ioctl(fd, MEMTAP_OBJECTS, &o), EOPNOTSUPP, "an unknown flag is EOPNOTSUPP");
	o.flags = MEMTAP_OBJECTS_MOVABLE;
	o.orders = 1U << 3;
	works(ioctl(fd, MEMTAP_OBJECTS, &o), "movable pages and an order work");
	o.flags = 0;
	o.orders = 1U << 31;
	fails(ioctl(fd, MEMTAP_OBJECTS, &o), EINVAL, "an order that no kernel has is EINVAL");
	o.orders = 0;
	o.start = 2;
	o.end = 1;
	fails(ioctl(fd, MEMTAP_OBJECTS, &o), EINVAL,
	      "a range that ends before it begins is EINVAL");
	o.start = o.end = 0;
	memset(o.cache, 'x', sizeof(o.cache));
	fails(ioctl(fd, MEMTAP_OBJECTS, &o), EINVAL, "a pattern that does not end is EINVAL");
	config.flags = MEMTAP_CFG_OBJECTS;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	memset(o.cache, 0, sizeof(o.cache));
	o.end = 4096;
	fails(ioctl(fd, MEMTAP_OBJECTS, &o), EINVAL, "a range without stacks is EINVAL");
	close(fd);
}

static void test_similar(void)
{
	int fd = session_open();
	struct memtap_similar a = { .size = sizeof(a), .cache = 24 };
	struct memtap_config config = {
		.size = sizeof(config),
		.flags = MEMTAP_CFG_OBJECTS | MEMTAP_CFG_KSTACK,
		.events = 1ULL << event_id(fd, "kmalloc") | 1ULL << event_id(fd, "kfree"),
		.mem_live = 1 << 20,
	};

	fails(ioctl(fd, MEMTAP_SIMILAR, &a), EBUSY, "SIMILAR before START is EBUSY");
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	session_must(session_run(fd, MEMTAP_START), "START");
	a.flags = 1;
	fails(ioctl(fd, MEMTAP_SIMILAR, &a), EOPNOTSUPP, "an unknown flag is EOPNOTSUPP");
	a.flags = 0;
	a.reserved = 1;
	fails(ioctl(fd, MEMTAP_SIMILAR, &a), EINVAL, "what is reserved is 0");
	a.reserved = 0;
	a.cache = 8;
	fails(ioctl(fd, MEMTAP_SIMILAR, &a), EINVAL, "pages are no cache of slabs");
	a.cache = ~0U;
	fails(ioctl(fd, MEMTAP_SIMILAR, &a), EINVAL, "nor is what is beyond all caches");
	a.cache = 511;
	fails(ioctl(fd, MEMTAP_SIMILAR, &a), ENODATA, "of a cache without objects is ENODATA");
	a.cache = 24;
	a.budget = ~0U;
	fails(ioctl(fd, MEMTAP_SIMILAR, &a), EINVAL, "all pages of all machines are too many");
	session_must(session_run(fd, MEMTAP_STOP), "STOP");
	a.budget = 0;
	fails(ioctl(fd, MEMTAP_SIMILAR, &a), EBUSY, "SIMILAR after STOP is EBUSY");
	close(fd);
}

static void test_mark(void)
{
	int fd = session_open();
	struct memtap_mark a = { .size = sizeof(a), .name = "a" };
	struct memtap_attach at = {
		.size = sizeof(at), .kind = MEMTAP_ATTACH_KPROBE, .flags = MEMTAP_ATTACH_MARK,
		.name = "schedule",
	};
	struct memtap_config config = {
		.size = sizeof(config), .mem_live = 1 << 20,
		.flags = MEMTAP_CFG_OBJECTS | MEMTAP_CFG_KSTACK,
		.events = 1ULL << event_id(fd, "kmalloc") | 1ULL << event_id(fd, "kfree"),
	};

	fails(ioctl(fd, MEMTAP_MARK, &a), EBUSY, "MARK before START is EBUSY");
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	a.flags = MEMTAP_MARK_EVENT;
	fails(ioctl(fd, MEMTAP_MARK, &a), ENOENT, "MARK of an event that is not there is ENOENT");
	at.flags |= MEMTAP_ATTACH_RETURN;
	fails(ioctl(fd, MEMTAP_ATTACH, &at), EINVAL, "a return is no mark");
	at.flags = MEMTAP_ATTACH_MARK;
	session_must(ioctl(fd, MEMTAP_ATTACH, &at), "ATTACH with MARK");
	a.event = at.event;
	session_must(ioctl(fd, MEMTAP_MARK, &a), "MARK of an event");
	fails(ioctl(fd, MEMTAP_MARK, &a), EEXIST, "an event sets one mark");
	session_must(session_run(fd, MEMTAP_START), "START");
	fails(ioctl(fd, MEMTAP_MARK, &a), EBUSY, "MARK of an event after START is EBUSY");
	a.flags = a.event = 0;
	fails(ioctl(fd, MEMTAP_MARK, &a), EEXIST, "MARK of a name that is there is EEXIST");
	strcpy(a.name, "b");
	session_must(ioctl(fd, MEMTAP_MARK, &a), "MARK");
	ok(a.marked == 1, "MARK says where");
	a.flags = 1U << 31;
	fails(ioctl(fd, MEMTAP_MARK, &a), EOPNOTSUPP, "an unknown flag is EOPNOTSUPP");
	a.flags = MEMTAP_MARK_DRAIN | MEMTAP_MARK_OTHERS;
	fails(ioctl(fd, MEMTAP_MARK, &a), EINVAL, "nobody else's is drained");
	a.flags = 0;
	a.pid = 1;
	fails(ioctl(fd, MEMTAP_MARK, &a), EINVAL, "a process is for OTHERS");
	a.pid = 0;
	memset(a.name, 'x', sizeof(a.name));
	fails(ioctl(fd, MEMTAP_MARK, &a), EINVAL, "a name that does not end is EINVAL");
	for (int i = 2; i < MEMTAP_MAX_MARKS; i++) {
		snprintf(a.name, sizeof(a.name), "%d", i);
		session_must(ioctl(fd, MEMTAP_MARK, &a), "MARK");
	}
	strcpy(a.name, "more");
	fails(ioctl(fd, MEMTAP_MARK, &a), ENOSPC, "one mark too many is ENOSPC");
	session_must(session_run(fd, MEMTAP_STOP), "STOP");
	fails(ioctl(fd, MEMTAP_MARK, &a), EBUSY, "MARK after STOP is EBUSY");
	close(fd);
}

/* As the list of all symbols has it. */
static uint64_t address_of(const char *name)
{
	char line[512], found[256], type;
	unsigned long long addr, is = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && !is && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %c %255s", &addr, &type, found) == 3 &&
		    !strcmp(found, name))
			is = addr;
	if (f)
		fclose(f);
	return is;
}

static void test_symbol(void)
{
	int fd = session_open();
	struct memtap_symbol a = { .size = sizeof(a), .addr = address_of("vfs_read") };

	a.addr += a.addr ? 1 : 0;
	session_must(ioctl(fd, MEMTAP_SYMBOL, &a), "SYMBOL");
	ok(a.addr && !strncmp(a.text, "vfs_read+0x1/0x", 15), "SYMBOL names a function: %s",
	   a.text);
	a.addr = address_of("memtap_hit");
	session_must(ioctl(fd, MEMTAP_SYMBOL, &a), "SYMBOL");
	ok(a.addr && strstr(a.text, " [memtap]"), "SYMBOL names a module: %s", a.text);
	a.addr = 4096;
	session_must(ioctl(fd, MEMTAP_SYMBOL, &a), "SYMBOL");
	ok(!*a.text, "what is no code of the kernel has no name");
	a.reserved = 1;
	fails(ioctl(fd, MEMTAP_SYMBOL, &a), EINVAL, "SYMBOL: what is reserved is 0");
	close(fd);
}

/* The stack came later: callers that do not know it ask as before. */
static void test_oom(void)
{
	int fd = session_open();
	char record[8], stack[8];
	struct memtap_oom a = {
		.size = offsetof(struct memtap_oom, stack_ptr), .nr = ~0ULL,
		.record_ptr = (uintptr_t)record, .record_len = sizeof(record),
	};

	fails(ioctl(fd, MEMTAP_OOM, &a), ENOENT, "OOM: no record after the last one");
	a.size = sizeof(a);
	fails(ioctl(fd, MEMTAP_OOM, &a), ENOENT, "OOM: nor for those who know of the stack");
	a.stack_ptr = (uintptr_t)stack;
	a.stack_len = sizeof(stack);
	fails(ioctl(fd, MEMTAP_OOM, &a), ENOENT, "OOM: nor with a stack");
	a.stack_len = 7;
	fails(ioctl(fd, MEMTAP_OOM, &a), EINVAL, "OOM: a stack has 8 bytes at least");
	a.stack_len = 0;
	a.reserved3 = 1;
	fails(ioctl(fd, MEMTAP_OOM, &a), EINVAL, "OOM: what is reserved is 0");
	close(fd);
}

static void test_ages(void)
{
	int fd = session_open();
	static struct memtap_ages_region at[MEMTAP_MAX_AGES];
	static char used[3 * 4096];
	const uint64_t page = ((uint64_t)(uintptr_t)used + 4095) >> 12;
	struct memtap_ages a = { .size = sizeof(a), .pid = getpid(), .nr = 1, .page = page,
				 .regions_ptr = (uintptr_t)at };

	memset(used, 1, sizeof(used));
	session_must(ioctl(fd, MEMTAP_AGES, &a), "AGES");
	ok(a.nr == 1 && at[0].page == (page & ~511ULL), "AGES: the region of a page");
	ok(at[0].present[page % 512 / 64] & at[0].touched[page % 512 / 64] & 1ULL << page % 64,
	   "which is there, and was used");
	ok(a.page > page, "and where to go on");
	a.pid = 2;
	fails(ioctl(fd, MEMTAP_AGES, &a), ESRCH, "a kernel thread has no memory");
	a.pid = -1;
	fails(ioctl(fd, MEMTAP_AGES, &a), ESRCH, "nor has nobody");
	a.pid = getpid();
	a.nr = MEMTAP_MAX_AGES + 1;
	fails(ioctl(fd, MEMTAP_AGES, &a), EINVAL, "AGES: too many regions at once");
	a.nr = 1;
	a.page = ~0ULL;
	fails(ioctl(fd, MEMTAP_AGES, &a), EINVAL, "AGES: beyond all addresses");
	a.page = 0;
	a.regions_ptr = 8;
	fails(ioctl(fd, MEMTAP_AGES, &a), EFAULT, "AGES: nowhere to write to");
	a.flags = MEMTAP_AGES_FLUSH;
	fails(ioctl(fd, MEMTAP_AGES, &a), EINVAL, "FLUSH reads nothing");
	a = (struct memtap_ages){ .size = sizeof(a), .flags = MEMTAP_AGES_FLUSH };
	session_must(ioctl(fd, MEMTAP_AGES, &a), "FLUSH");
	a.flags = 2;
	fails(ioctl(fd, MEMTAP_AGES, &a), EOPNOTSUPP, "an unknown flag is EOPNOTSUPP");
	close(fd);
}

static void test_recorded(void)
{
	static struct memtap_recorded_row at[MEMTAP_MAX_RECORDED];
	struct memtap_recorded a = { .size = sizeof(a), .nr = MEMTAP_MAX_RECORDED,
				     .rows_ptr = (uintptr_t)at };
	bool good = true;
	uint32_t all;
	int fd = session_open();

	session_must(ioctl(fd, MEMTAP_RECORDED, &a), "RECORDED");
	all = a.nr;
	for (uint32_t i = 0; i < all && i < MEMTAP_MAX_RECORDED; i++)
		good &= at[i].kind >= MEMTAP_RECORDED_WAITS && at[i].kind <=
			MEMTAP_RECORDED_OBJECTS && at[i].name[0] && at[i].since_ns <= a.now_ns &&
			memchr(at[i].name, 0, sizeof(at[i].name));
	ok(a.now_ns && good, "RECORDED: %u rows, each with its kind, name and beginning", all);
	a.nr = 1;
	session_must(ioctl(fd, MEMTAP_RECORDED, &a), "RECORDED of one row");
	ok(a.nr == all, "says how many there are");
	a.nr = 0;
	fails(ioctl(fd, MEMTAP_RECORDED, &a), EINVAL, "RECORDED: no rows");
	a.nr = MEMTAP_MAX_RECORDED + 1;
	fails(ioctl(fd, MEMTAP_RECORDED, &a), EINVAL, "RECORDED: too many rows");
	a.nr = 1;
	a.reserved = 1;
	fails(ioctl(fd, MEMTAP_RECORDED, &a), EINVAL, "RECORDED: what is reserved is 0");
	a.reserved = 0;
	a.flags = 1;
	fails(ioctl(fd, MEMTAP_RECORDED, &a), EOPNOTSUPP, "RECORDED: an unknown flag");
	a.flags = 0;
	a.rows_ptr = 8;
	if (all)
		fails(ioctl(fd, MEMTAP_RECORDED, &a), EFAULT, "RECORDED: nowhere to write to");
	close(fd);
}

/* Steps that are no steps are refused; none of them is ever done. */
static void refuse_steps(int fd, uint32_t kind, uint32_t flags, const struct memtap_step *at,
			 uint32_t nr, uint32_t shown, const char *name)
{
	struct memtap_attach a = {
		.size = sizeof(a), .kind = kind, .flags = flags, .nr_steps = nr,
		.steps_ptr = (uintptr_t)at, .nr_shown = shown,
	};

	strcpy(a.name, kind == MEMTAP_ATTACH_TRACEPOINT ? "task:task_rename" : "schedule");
	fails(ioctl(fd, MEMTAP_ATTACH, &a), EINVAL, name);
}

static void test_steps(void)
{
	static const struct memtap_step arg = { .op = MEMTAP_STEP_ARG };
	static const struct memtap_step keep = { .op = MEMTAP_STEP_KEEP, .type = 8 };
	static const struct memtap_step ret = { .op = MEMTAP_STEP_RET };
	static const struct memtap_step add = { .op = MEMTAP_STEP_ADD };
	static const struct memtap_step pass = { .op = MEMTAP_STEP_PASS };
	static const struct memtap_step field = { .op = MEMTAP_STEP_FIELD, .type = 4,
						  .number = ~0ULL };
	static const struct memtap_step load = { .op = MEMTAP_STEP_LOAD, .type = 8 };
	const uint32_t k = MEMTAP_ATTACH_KPROBE, t = MEMTAP_ATTACH_TRACEPOINT;
	struct memtap_step s[MEMTAP_MAX_STEPS + 1];
	struct memtap_filter_item me;
	int fd = session_open();
	struct memtap_config config = config_self(&me, 0);
	struct memtap_attach a = { .size = sizeof(a), .kind = k, .name = "schedule" };

	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	s[0] = arg;
	refuse_steps(fd, k, 0, s, 1, 0, "steps that leave a number behind are EINVAL");
	s[1] = add;
	refuse_steps(fd, k, 0, s, 2, 0, "a step that takes what is not there is EINVAL");
	s[1] = keep;
	refuse_steps(fd, k, 0, s, 2, 2, "an argument that nobody keeps is EINVAL");
	refuse_steps(fd, t, 0, s, 2, 1, "a register where there is none is EINVAL");
	s[1].index = MEMTAP_MAX_SLOTS;
	refuse_steps(fd, k, 0, s, 2, 0, "a slot that there is not is EINVAL");
	s[1] = keep;
	s[1].type = 3;
	refuse_steps(fd, k, 0, s, 2, 0, "a number of three bytes is EINVAL");
	s[1] = keep;
	s[0].index = 6;
	refuse_steps(fd, k, 0, s, 2, 1, "a seventh argument is EINVAL");
	s[0] = arg;
	s[0].reserved = 1;
	refuse_steps(fd, k, 0, s, 2, 1, "a reserved field of a step is EINVAL");
	s[0] = arg;
	s[0].op = MEMTAP_NR_STEP;
	refuse_steps(fd, k, 0, s, 2, 1, "an unknown step is EINVAL");
	s[0] = ret;
	refuse_steps(fd, k, 0, s, 2, 1, "what is returned at an entry is EINVAL");
	s[0] = field;
	refuse_steps(fd, t, 0, s, 2, 1, "a field beyond all records is EINVAL");
	s[0].number = 8;
	s[1] = load;
	s[2] = pass;
	refuse_steps(fd, t, 0, s, 3, 0, "the kernel's memory at a tracepoint is EINVAL");
	for (int i = 0; i <= MEMTAP_STEPS_DEPTH; i++)
		s[i] = arg;
	refuse_steps(fd, k, 0, s, MEMTAP_STEPS_DEPTH + 1, 0, "too many numbers are EINVAL");
	refuse_steps(fd, k, 0, s, MEMTAP_MAX_STEPS + 1, 0, "too many steps are EINVAL");
	s[0] = arg;
	s[1] = keep;
	a.nr_steps = 2;
	a.nr_shown = 1;
	a.steps_ptr = 8;
	fails(ioctl(fd, MEMTAP_ATTACH, &a), EFAULT, "steps that cannot be read are EFAULT");
	a.steps_ptr = (uintptr_t)s;
	a.value_slot = 2;
	fails(ioctl(fd, MEMTAP_ATTACH, &a), EINVAL, "a value that is not there is EINVAL");
	a.value_slot = 1;
	a.nr_entry = 1;
	fails(ioctl(fd, MEMTAP_ATTACH, &a), EINVAL, "an entry's steps without a return are EINVAL");
	a.nr_entry = 0;
	a.by_mask = 2;
	fails(ioctl(fd, MEMTAP_ATTACH, &a), EINVAL, "a key that is not there is EINVAL");
	a.by_mask = a.by_slot = 1;
	fails(ioctl(fd, MEMTAP_ATTACH, &a), EINVAL, "one key and several are EINVAL");
	a.by_mask = a.by_slot = 0;
	a.text_max = MEMTAP_LONG_TEXT + 1;
	fails(ioctl(fd, MEMTAP_ATTACH, &a), EINVAL, "strings that are too long are EINVAL");
	a.text_max = 0;
	works(ioctl(fd, MEMTAP_ATTACH, &a), "and what makes sense works");
	close(fd);
}

static void test_rings(void)
{
	int fd = session_open();
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 1ULL << event_id(fd, "brk"));
	static char buf[65536] __attribute__((aligned(8)));
	struct memtap_events ev = { .size = sizeof(ev), .room = sizeof(buf),
				    .ones_ptr = (uintptr_t)buf };
	struct memtap_one *one = (struct memtap_one *)buf;

	config.flags |= MEMTAP_CFG_RING | MEMTAP_CFG_HIST;
	fails(ioctl(fd, MEMTAP_CONFIGURE, &config), EINVAL, "rings and histograms are EINVAL");
	config.flags &= ~MEMTAP_CFG_HIST;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	fails(ioctl(fd, MEMTAP_EVENTS, &ev), EBUSY, "EVENTS before START is EBUSY");
	session_must(session_run(fd, MEMTAP_START), "START");
	sbrk(4096);
	ev.room = 100;
	fails(ioctl(fd, MEMTAP_EVENTS, &ev), EINVAL, "no room for events is EINVAL");
	ev.room = sizeof(buf);
	ev.ones_ptr = 8;
	fails(ioctl(fd, MEMTAP_EVENTS, &ev), EFAULT, "events to where nothing is are EFAULT");
	ev.ones_ptr = (uintptr_t)buf;
	works(ioctl(fd, MEMTAP_EVENTS, &ev), "EVENTS works");
	ok(ev.used == sizeof(*one) && one->len == ev.used && one->value == 4096 &&
	   one->tid == getpid() && !ev.more && ev.safe_ns >= one->ns,
	   "what could not be told before is told now: one brk() of 4096 bytes");
	works(ioctl(fd, MEMTAP_EVENTS, &ev), "EVENTS works again");
	ok(!ev.used, "and has nothing new");
	close(fd);
}

/* A thing of this session's state is EBUSY. */
static void busy(int fd, unsigned long cmd, const char *name)
{
	union {
		struct memtap_run run;
		struct memtap_config config;
		struct memtap_attach attach;
	} arg = { .run.size = sizeof(arg.run) };

	if (cmd == MEMTAP_CONFIGURE)
		arg.config.size = sizeof(arg.config);
	if (cmd == MEMTAP_ATTACH) {
		arg.attach = (struct memtap_attach){
			.size = sizeof(arg.attach),
			.kind = MEMTAP_ATTACH_TRACEPOINT,
			.name = "task:task_rename",
		};
	}
	fails(ioctl(fd, cmd, &arg), EBUSY, name);
}

static void test_states(void)
{
	int fd = session_open();
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 1ULL << event_id(fd, "brk"));
	struct memtap_stats st = { .size = sizeof(st) };
	struct memtap_run run = { .size = sizeof(run), .flags = 1 };
	char buf[64];

	busy(fd, MEMTAP_START, "START before CONFIGURE is EBUSY");
	busy(fd, MEMTAP_STOP, "STOP before START is EBUSY");
	busy(fd, MEMTAP_ATTACH, "ATTACH before CONFIGURE is EBUSY");
	fails(read(fd, buf, sizeof(buf)), EBUSY, "read() before START is EBUSY");
	fails(ioctl(fd, MEMTAP_STATS, &st), ENOENT, "STATS of no event is ENOENT");
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	busy(fd, MEMTAP_STOP, "STOP before START is EBUSY, configured or not");
	fails(ioctl(fd, MEMTAP_START, &run), EOPNOTSUPP, "an unknown START flag is EOPNOTSUPP");
	session_must(session_run(fd, MEMTAP_START), "START");
	busy(fd, MEMTAP_CONFIGURE, "CONFIGURE after START is EBUSY");
	busy(fd, MEMTAP_ATTACH, "ATTACH after START is EBUSY");
	busy(fd, MEMTAP_START, "START twice is EBUSY");
	works(ioctl(fd, MEMTAP_STATS, &st), "STATS of the first event works");
	st.event = 1;
	fails(ioctl(fd, MEMTAP_STATS, &st), ENOENT, "STATS of the second is ENOENT");
	works(session_run(fd, MEMTAP_STOP), "STOP works");
	busy(fd, MEMTAP_STOP, "STOP twice is EBUSY");
	busy(fd, MEMTAP_START, "START after STOP is EBUSY");
	works(read(fd, buf, sizeof(buf)), "read() after STOP works");
	close(fd);
}

static void refuse_attach(int fd, struct memtap_attach a, int want, const char *name)
{
	a.size = sizeof(a);
	fails(ioctl(fd, MEMTAP_ATTACH, &a), want, name);
}

#define ATTACH(...)	((struct memtap_attach){ __VA_ARGS__ })
#define TP		.kind = MEMTAP_ATTACH_TRACEPOINT
#define KP		.kind = MEMTAP_ATTACH_KPROBE
#define UP		.kind = MEMTAP_ATTACH_UPROBE

/* A function on which the kernel allows no probe. */
static bool blacklisted(char *name, size_t len)
{
	FILE *f = fopen("/sys/kernel/debug/kprobes/blacklist", "re");
	char line[512], sym[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %255s", sym) == 1 && !strchr(sym, '.') && strlen(sym) < len)
			found = !!strcpy(name, sym);
	if (f)
		fclose(f);
	return found;
}

static void test_attach(void)
{
	int fd = session_open(), exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int tty = open("/dev/null", O_RDONLY | O_CLOEXEC), i, ret;
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 0);
	struct memtap_attach a = ATTACH(TP, .name = "");

	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	fails(session_run(fd, MEMTAP_START), EINVAL, "START without any event is EINVAL");
	refuse_attach(fd, ATTACH(.kind = 9, .name = "x"), EINVAL, "an unknown kind is EINVAL");
	refuse_attach(fd, ATTACH(KP, .flags = 1U << 20, .name = "do_exit"), EOPNOTSUPP,
		      "an unknown ATTACH flag is EOPNOTSUPP");
	refuse_attach(fd, ATTACH(KP, .flags = MEMTAP_ATTACH_ONCE, .name = "do_exit"), EINVAL,
		      "an allocator's flag for another probe is EINVAL");
	refuse_attach(fd, ATTACH(TP, .name = "no:such"), ENOENT, "no such tracepoint is ENOENT");
	refuse_attach(fd, ATTACH(KP, .name = "no_such_function"), ENOENT,
		      "no such kernel function is ENOENT");
	refuse_attach(fd, ATTACH(UP, .fd = 999, .name = "x"), EBADF, "no such file is EBADF");
	refuse_attach(fd, ATTACH(UP, .fd = tty, .name = "x"), EOPNOTSUPP,
		      "a file without pages is EOPNOTSUPP");
	refuse_attach(fd, ATTACH(UP, .fd = exe, .offset = 1ULL << 40, .name = "x"), EINVAL,
		      "an offset past the end of the file is EINVAL");
	refuse_attach(fd, ATTACH(KP, .name = ""), ENOENT, "no name at all is ENOENT");
	a.kind = MEMTAP_ATTACH_KPROBE;
	if (blacklisted(a.name, sizeof(a.name)))
		refuse_attach(fd, a, EINVAL, "a function that must not be probed is EINVAL");
	else
		skip("a function that must not be probed", "this kernel tells of none");
	memset(a.name, 'x', sizeof(a.name));
	refuse_attach(fd, a, EINVAL, "a name without an end is EINVAL");

	for (i = 0; i <= MEMTAP_MAX_EVENTS; i++) {
		a = ATTACH(TP, .size = sizeof(a), .name = "sched:sched_process_fork");
		ret = ioctl(fd, MEMTAP_ATTACH, &a);
		if (ret || a.event != (unsigned int)i)
			break;
	}
	is_u64(i, MEMTAP_MAX_EVENTS, "a session takes MEMTAP_MAX_EVENTS events");
	fails(ret, ENOSPC, "one more is ENOSPC");
	busy(fd, MEMTAP_CONFIGURE, "CONFIGURE after ATTACH is EBUSY");
	close(tty);
	close(exe);
	close(fd);
}

static int attach_forks(int fd, int nr)
{
	struct memtap_attach a;
	int i;

	for (i = 0; i < nr; i++) {
		a = ATTACH(TP, .size = sizeof(a), .name = "sched:sched_process_fork");
		if (ioctl(fd, MEMTAP_ATTACH, &a))
			break;
	}
	return i;
}

/* Many events are in the budget, and counted each for itself. */
static void test_many(void)
{
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 0);
	struct memtap_stats st = { .size = sizeof(st) };
	int fd = session_open();
	unsigned int i, wrong = 0;

	config.flags = MEMTAP_CFG_USTACK | MEMTAP_CFG_LIVE;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	is_u64(attach_forks(fd, MEMTAP_MAX_EVENTS), MEMTAP_MAX_LIVE_EVENTS,
	       "with LIVE a session takes MEMTAP_MAX_LIVE_EVENTS events");
	is_u64(errno, ENOSPC, "one more is ENOSPC");
	close(fd);

	fd = session_open();
	config = config_self(&me, 0);
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	attach_forks(fd, MEMTAP_MAX_EVENTS);
	session_must(session_run(fd, MEMTAP_START), "START");
	for (i = 0; i < 3; i++)
		if (!fork())
			_exit(0);
	while (wait(NULL) > 0)
		;
	session_must(session_run(fd, MEMTAP_STOP), "STOP");
	for (i = 0; i < MEMTAP_MAX_EVENTS; i++) {
		st.event = i;
		session_must(ioctl(fd, MEMTAP_STATS, &st), "STATS");
		wrong += st.counted != 3;
	}
	is_u64(wrong, 0, "each of MEMTAP_MAX_EVENTS events has its own count");
	close(fd);
}

/* What tracefs calls @event, "SUBSYSTEM/NAME". */
static uint64_t perf_id(const char *event)
{
	static const char *const roots[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing"
	};
	unsigned long long id = 0;
	char path[256];

	for (size_t i = 0; !id && i < sizeof(roots) / sizeof(roots[0]); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/events/%s/id", roots[i], event);
		f = fopen(path, "re");
		if (f && fscanf(f, "%llu", &id) != 1)
			id = 0;
		if (f)
			fclose(f);
	}
	return id;
}

#define PAIR	.kind = MEMTAP_ATTACH_PAIR
#define ENTER	"syscalls:sys_enter_getppid"
#define EXIT	"syscalls:sys_exit_getppid"

/* Begin and end: what cannot be attached does not hurt what is. */
static void test_pairs(void)
{
	const uint64_t enter = perf_id("syscalls/sys_enter_getppid");
	const uint64_t leave = perf_id("syscalls/sys_exit_getppid");
	struct memtap_step ret = { .op = MEMTAP_STEP_RET }, late[] = {
		{ .op = MEMTAP_STEP_FACT, .index = MEMTAP_FACT_LATENCY },
		{ .op = MEMTAP_STEP_KEEP, .type = 8 },
	};
	int fd = session_open(), i;
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 0);
	struct memtap_stats st = { .size = sizeof(st) };
	struct memtap_attach a = ATTACH(PAIR, .name = ENTER ".." EXIT, .config = enter,
					.end_config = leave);

	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	refuse_attach(fd, ATTACH(PAIR, .name = ENTER, .config = enter), EINVAL,
		      "a pair without an end is EINVAL");
	refuse_attach(fd, ATTACH(PAIR, .name = ENTER ".."), EINVAL, "with an empty one, too");
	refuse_attach(fd, ATTACH(PAIR, .name = ".." EXIT), EINVAL, "or an empty begin");
	refuse_attach(fd, ATTACH(PAIR, .name = "a:b..c:d..e:f"), EINVAL, "three are EINVAL");
	refuse_attach(fd, ATTACH(PAIR, .name = "a:b..a:b"), EINVAL, "and twice the same");
	refuse_attach(fd, ATTACH(PAIR, .name = ENTER ".." EXIT, .flags = MEMTAP_ATTACH_RETURN),
		      EINVAL, "a pair is no return");
	refuse_attach(fd, ATTACH(PAIR, .name = ENTER ".." EXIT, .offset = 1), EINVAL,
		      "and has no offset");
	refuse_attach(fd, ATTACH(TP, .name = EXIT, .end_config = leave), EINVAL,
		      "what is no pair has no end");
	refuse_attach(fd, ATTACH(PAIR, .name = "no:such..also:not"), ENOENT,
		      "tracepoints that are not there are ENOENT");
	if (!enter || !leave) {
		skip("a pair of tracepoints", "this kernel has none of system calls");
		close(fd);
		return;
	}
	a.nr_steps = 1;
	a.steps_ptr = (uintptr_t)&ret;
	refuse_attach(fd, a, EINVAL, "a pair returns nothing");
	a.nr_steps = 2;
	a.nr_entry = 2;
	a.steps_ptr = (uintptr_t)late;
	refuse_attach(fd, a, EINVAL, "at its begin there is no latency");
	a.nr_entry = 0;
	a.nr_shown = 1;
	a.size = sizeof(a);
	works(ioctl(fd, MEMTAP_ATTACH, &a), "a pair is attached");
	refuse_attach(fd, ATTACH(PAIR, .name = "no:such.." EXIT, .end_config = leave), ENOENT,
		      "a begin that is not there is ENOENT");
	refuse_attach(fd, ATTACH(PAIR, .name = ENTER "..no:such", .config = enter), ENOENT,
		      "so is such an end");
	if (sizeof(long) == 4) {
		skip("what a pair counts", "tracepoints of system calls are 64-bit programs'");
		close(fd);
		return;
	}
	session_must(session_run(fd, MEMTAP_START), "START");
	for (i = 0; i < 50; i++)
		getppid();
	session_must(session_run(fd, MEMTAP_STOP), "STOP");
	session_must(ioctl(fd, MEMTAP_STATS, &st), "STATS");
	is_u64(st.counted, 50, "and counts, whatever could not be attached beside it");
	is_u64(st.seen, 50, "each once");
	close(fd);
}

static void same_bytes(int fd, const struct bytes *want, size_t piece)
{
	struct bytes got = session_read(fd, piece);
	size_t i;

	if (!ok(got.len == want->len && !memcmp(got.at, want->at, got.len),
		"pieces of %zu bytes make the same snapshot", piece)) {
		for (i = 0; i < got.len && i < want->len && got.at[i] == want->at[i]; i++)
			;
		diag("%zu bytes, not %zu; the first difference is at %zu", got.len, want->len, i);
	}
	free(got.at);
}

static void test_read(void)
{
	static const size_t pieces[] = { 1, 3, 7, 8, 13, 64, 511, 4097, 16384, 1 << 20 };
	int fd = session_open();
	uint64_t events = 1ULL << event_id(fd, "brk") | 1ULL << event_id(fd, "minor-fault");
	struct bytes running, stopped;
	char *volatile page;
	unsigned int i;

	close(fd);
	fd = session_start_self(events);
	page_break(BRKS);
	for (i = 0; i < 50; i++) {
		page = mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*page = 1;
	}
	running = session_read(fd, 100);
	is_whole(&running, "a snapshot of a running session is whole");
	is_u64(((struct memtap_rec_header *)running.at)->running, 1, "it says that it runs");
	session_must(session_run(fd, MEMTAP_STOP), "STOP");
	stopped = session_read(fd, 1 << 16);
	is_whole(&stopped, "a snapshot of a stopped one is whole");
	is_u64(((struct memtap_rec_header *)stopped.at)->running, 0,
	       "it says that it does not run");
	is_u64(find_event(&stopped, "brk") ? find_event(&stopped, "brk")->counted : 0, BRKS,
	       "every brk() is counted");
	ok(find_event(&stopped, "minor-fault") &&
	   find_event(&stopped, "minor-fault")->counted >= 50, "so are the page faults");
	adds_up(&stopped, "seen == counted + filtered + lost");
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		same_bytes(fd, &stopped, pieces[i]);
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fails(read(fd, page, 4096), EFAULT, "reading into what cannot be written is EFAULT");
	free(running.at);
	free(stopped.at);
	close(fd);
}

#define COMERS		4
#define TIMES_EACH	12

/* Sessions that attach the same function, and go; how often that failed. */
static int come_and_go(unsigned int flags)
{
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 0);
	struct memtap_attach a;
	int i, fd, failed = 0;

	for (i = 0; i < TIMES_EACH; i++) {
		a = ATTACH(KP, .size = sizeof(a), .flags = flags, .name = "vm_munmap");
		fd = session_open();
		session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "MEMTAP_CONFIGURE");
		failed += ioctl(fd, MEMTAP_ATTACH, &a) || session_run(fd, MEMTAP_START);
		if (i & 1)
			session_run(fd, MEMTAP_STOP);
		close(fd);
	}
	return failed;
}

/* The probe is one for all: whoever comes while the last one goes attaches it anew. */
static void test_same_probe(void)
{
	static const unsigned int flags[] = { 0, MEMTAP_ATTACH_RETURN };
	int i, j, status, failed;
	pid_t pids[COMERS];

	for (j = 0; j < 2; j++) {
		for (i = 0; i < COMERS; i++) {
			pids[i] = fork();
			if (!pids[i])
				_exit(come_and_go(flags[j]));
		}
		for (i = 0, failed = 0; i < COMERS; i++) {
			waitpid(pids[i], &status, 0);
			failed += WIFEXITED(status) ? WEXITSTATUS(status) : TIMES_EACH;
		}
		if (!ok(!failed, "sessions come and go at a function%s: each attaches it",
			j ? "'s return" : ""))
			diag("%d times it did not", failed);
	}
}

static short polled(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };

	return poll(&p, 1, ms) < 0 ? -1 : p.revents;
}

static void test_poll(void)
{
	int fd = session_open();
	unsigned int brk = event_id(fd, "brk");
	struct bytes b;
	pid_t child;

	close(fd);
	fd = session_start_self(1ULL << brk);
	is_u64(polled(fd, 0), 0, "nothing to read before anything was counted");
	page_break(2);
	is_u64(polled(fd, 2000), POLLIN, "POLLIN when something was counted");
	b = session_read(fd, 4096);
	free(b.at);
	is_u64(polled(fd, 0), 0, "none when all of it was read");
	/* somebody of this process has to call while this one waits */
	child = fork();
	if (!child) {
		usleep(300000);
		_exit(session_run(fd, MEMTAP_STOP) != 0);
	}
	is_u64(polled(fd, -1), POLLHUP, "POLLHUP when it stops, to who waits");
	waitpid(child, NULL, 0);
	close(fd);
}

/* Whoever has a probe in a file needs its file system, too. */
static void test_unmount(void)
{
	char dir[] = "/tmp/t_ioctl.XXXXXX", path[sizeof(dir) + 8];
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 0);
	struct memtap_attach a = ATTACH(UP, .size = sizeof(a), .name = "there");
	static char page[4096];
	int fd = session_open(), i;

	if (!mkdtemp(dir) || mount("none", dir, "tmpfs", 0, NULL)) {
		skip("a file system with a probe is busy", "nothing can be mounted");
		close(fd);
		return;
	}
	snprintf(path, sizeof(path), "%s/file", dir);
	a.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	for (i = 0; i < 4; i++)
		session_must(write(a.fd, page, sizeof(page)) != sizeof(page), "write");
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	if (ioctl(fd, MEMTAP_ATTACH, &a) && errno == EOPNOTSUPP) {
		skip("a file system with a probe is busy", "this kernel probes nothing on tmpfs");
		skip("and is not when the probe is gone", "this kernel probes nothing on tmpfs");
		close(a.fd);
		close(fd);
		umount(dir);
	} else {
		close(a.fd);
		fails(umount(dir), EBUSY, "a file system with a probe is busy");
		close(fd);
		is_u64(umount(dir), 0, "and is not when the probe is gone");
	}
	rmdir(dir);
}

static void test_several(void)
{
	int fds[4], fd = session_open();
	unsigned int brk = event_id(fd, "brk"), i, same = 0;
	struct memtap_stats st;

	close(fd);
	for (i = 0; i < 4; i++)
		fds[i] = session_start_self(1ULL << brk);
	page_break(BRKS);
	for (i = 0; i < 4; i++)
		session_must(session_run(fds[i], MEMTAP_STOP), "STOP");
	for (i = 0; i < 4; i++) {
		st = (struct memtap_stats){ .size = sizeof(st) };
		session_must(ioctl(fds[i], MEMTAP_STATS, &st), "STATS");
		same += st.counted == BRKS;
		if (st.counted != BRKS)
			diag("session %u counted %llu", i, (unsigned long long)st.counted);
		close(fds[i]);
	}
	is_u64(same, 4, "four sessions at once count the same");
}

/* In a child that is nobody: errno of opening the device. */
static int open_as_nobody(void)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		_exit(open(MEMTAP_DEVICE, O_RDWR | O_CLOEXEC) < 0 ? errno : 0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void test_rights(void)
{
	struct stat st;

	session_must(stat(MEMTAP_DEVICE, &st), MEMTAP_DEVICE);
	is_u64(st.st_mode, S_IFCHR | 0600, "the device is a character device, mode 0600");
	is_u64(st.st_uid, 0, "it is root's");
	is_u64(open_as_nobody(), EACCES, "nobody else may open it");
	session_must(chmod(MEMTAP_DEVICE, 0666), "chmod");
	is_u64(open_as_nobody(), EPERM, "also not when the mode would let him");
	session_must(chmod(MEMTAP_DEVICE, 0600), "chmod");
}

/* A session whose records of @event are read word by word: the string's first, then behind it. */
static int reads_words(const char *name, const struct memtap_field *string)
{
	struct memtap_step steps[16];
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 0);
	struct memtap_attach a = {
		.size = sizeof(a), .kind = MEMTAP_ATTACH_BUILTIN, .nr_steps = 16,
		.steps_ptr = (uintptr_t)steps, .nr_shown = 8,
	};
	int fd = session_open();

	for (uint16_t i = 0; i < 8; i++) {
		steps[2 * i] = (struct memtap_step){
			.op = MEMTAP_STEP_FIELD, .type = 8,
			.number = string->offset + (i ? 32 + 8ULL * i : 0),
		};
		steps[2 * i + 1] = (struct memtap_step){ .op = MEMTAP_STEP_KEEP, .type = 8,
							 .index = i };
	}
	snprintf(a.name, sizeof(a.name), "%s", name);
	config.flags = MEMTAP_CFG_RING;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	session_must(ioctl(fd, MEMTAP_ATTACH, &a), "ATTACH");
	session_must(session_run(fd, MEMTAP_START), "START");
	return fd;
}

/* Records lie on the kernel's stack: what is behind a short string must not be left of others. */
static void test_record_tails(void)
{
	static char room[65536];
	struct memtap_events ev = { .size = sizeof(ev), .room = sizeof(room),
				    .ones_ptr = (uintptr_t)room };
	struct memtap_field f = { .size = sizeof(f) };
	unsigned int named = 0, left = 0;
	int fd = session_open();
	char path[64];

	f.event = event_id(fd, "memfd");
	while (!ioctl(fd, MEMTAP_FIELD, &f) && strcmp(f.name, "file"))
		f.index++;
	close(fd);
	if (strcmp(f.name, "file") || f.len < 128) {
		skip("bytes behind a string", "this kernel's calls have no path");
		return;
	}
	fd = reads_words("memfd", &f);
	for (int i = 0; i < 20; i++) {
		/* what leaves long paths on the stack */
		snprintf(path, sizeof(path), "/no/such/%040d", i);
		close(open(path, O_RDONLY | O_CLOEXEC));
		close(syscall(SYS_memfd_create, "x", 0));
	}
	works(ioctl(fd, MEMTAP_EVENTS, &ev), "EVENTS of records");
	for (char *at = room; at < room + ev.used;) {
		const struct memtap_one *one = (const void *)at;
		const uint64_t *words = (const void *)(one + 1);

		named += one->known & 1 && words[0];
		for (int i = 1; i < 8; i++)
			left += one->known >> i & 1 && words[i];
		at += one->len;
	}
	is_u64(named, 20, "each record has its string");
	is_u64(left, 0, "and nothing behind it");
	close(fd);
}

int main(void)
{
	heap_stays();
	setvbuf(stdout, NULL, _IOLBF, 4096);

	test_commands();
	test_sizes();
	test_events();
	test_configure();
	test_objects();
	test_similar();
	test_mark();
	test_symbol();
	test_recorded();
	test_oom();
	test_ages();
	test_steps();
	test_rings();
	test_record_tails();
	test_states();
	test_attach();
	test_many();
	test_pairs();
	test_read();
	test_poll();
	test_unmount();
	test_several();
	test_same_probe();
	test_rights();
	return done_testing();
}

/* workload.h's call to say that something is wrong with a test itself */
void wl_die(const char *what)
{
	bail_out(what);
	exit(1);
}
