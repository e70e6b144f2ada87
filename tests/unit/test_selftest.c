// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/json.c ctl/base/text.c ctl/selftest/check.c ctl/selftest/find.c */
/* LINK: kmod/core/names.c */
#include <stdlib.h>
#include <string.h>

#include "report/cut.h"
#include "selftest/selftest.h"
#include "tap.h"

/* ---- a snapshot, and names for addresses: 1 is names[1] ---- */

static const char *const names[] = {
	NULL, "selftest_touch", "main", "__kmalloc", "load_msg", "security_msg_msg_alloc",
	"__pcs_replace_empty_main", "do_msgsnd",
};

static const __u64 touch[] = { 1, 2 }, other[] = { 2 }, message[] = { 3, 4, 7 },
		   label[] = { 3, 5, 4, 7 }, sheaf[] = { 3, 6, 3, 4, 7 };
static struct snap_stack stacks[] = {
	{ .id = 8, .nr = 2, .ip = touch }, { .id = 9, .nr = 1, .ip = other },
	{ .id = 10, .nr = 3, .ip = message }, { .id = 11, .nr = 4, .ip = label },
	{ .id = 12, .nr = 5, .ip = sheaf },
};
static struct memtap_rec_task task = { .id = 8 };

const struct snap_stack *snap_stack(const struct snap *s, __u32 id)
{
	return id < 8 || id > 12 ? NULL : &stacks[id - 8];
}

const struct memtap_rec_task *snap_task(const struct snap *s, __u32 id)
{
	return id == 8 ? &task : NULL;
}

static size_t name_of(__u64 ip, const struct sym_frame **f)
{
	static struct sym_frame frame;

	frame.name = names[ip];
	*f = &frame;
	return 1;
}

size_t sym_user(struct sym *s, const struct snap *snap, const struct memtap_rec_task *t,
		__u32 era, __u64 ip, bool call, const struct sym_frame **f)
{
	return name_of(ip, f);
}

size_t sym_kernel(struct sym *s, const struct snap *snap, __u64 ip, bool call,
		  const struct sym_frame **f)
{
	return name_of(ip, f);
}

/* ---- numbers ---- */

static void test_compare(void)
{
	struct st_check c = { .numbers = { { "blocks", 3000, 3000 }, { "bytes", 5, 5 } } };

	ok(st_compare(&c) == ST_OK, "equal numbers are well");
	c.numbers[1].got = 4;
	ok(st_compare(&c) == ST_FAILED, "one byte less is a failure");
	c.numbers[1].got = 6;
	ok(st_compare(&c) == ST_FAILED, "one more, too");
	c.numbers[1].got = 5;
	c.numbers[2] = (struct st_number){ "left", 0, 1 };
	ok(st_compare(&c) == ST_FAILED, "so is what should not be there");
	c.numbers[2].unit = NULL;
	ok(st_compare(&c) == ST_OK, "numbers end where there is no unit");
}

static void test_called_by(void)
{
	static const char *const callers[ST_CALLERS] = { "load_msg", "do_msgsnd" };
	static const char *const plain[] = { "__kmalloc_node_noprof", "load_msg", "do_msgsnd" };
	static const char *const inner[] = { "__kmalloc_noprof", "alloc_slab_obj_exts",
					     "__kmalloc_node_noprof", "load_msg" };
	static const char *const label[] = { "__kmalloc", "security_msg_msg_alloc", "load_msg" };
	static const char *const helper[] = { "__kmalloc", NULL, "load_msg.isra.0" };
	static const char *const foreign[] = { "__kmalloc", "alloc_pipe_info" };
	static const char *const freers[ST_CALLERS] = { "pipe_release", "free_pipe_info" };
	static const char *const emptied[] = { "__free_pages_ok", "__free_slab", "__slab_free",
					       "kfree", "free_pipe_info", "pipe_release" };
	/* before v4.15 */
	static const char *const old[] = { "free_pages_prepare", "free_hot_cold_page",
					   "__free_pages", "free_pipe_info", "pipe_release" };
	static const char *const given[] = { "free_unref_page", "__put_page", "pipe_release" };

	ok(st_called_by(plain, 3, callers), "who called the allocator is found");
	ok(st_called_by(plain, 2, callers), "also where the stack is short");
	ok(!st_called_by(plain, 1, callers), "but not where it ends before");
	ok(!st_called_by(inner, 4, callers),
	   "what the allocator takes for itself is not the caller's");
	ok(!st_called_by(emptied, 6, freers),
	   "nor a page that the last object in it gave back, of whatever order");
	ok(st_called_by(given, 3, freers), "but one that was given back by itself");
	ok(st_called_by(old, 5, freers), "also through functions that old kernels had");
	ok(!st_called_by(label, 3, callers), "nor what a security module takes");
	ok(st_called_by(helper, 3, callers), "a function without a name is in nobody's way");
	ok(!st_called_by(foreign, 2, callers), "others are others");
	ok(!st_called_by(NULL, 0, callers), "no stack, nobody");
}

/* ---- sums ---- */

static struct snap_event events[2] = {
	{ .id = 3, .name = "kmem:kmalloc", .seen = 100, .counted = 60, .filtered = 40 },
	{ .id = 5, .name = "minor-fault", .seen = 7, .counted = 7 },
};
static struct snap_counter counters[] = {
	{ .event = 3, .kstack = 10, .count = 30 },
	{ .event = 3, .kstack = 11, .count = 20 },
	{ .event = 3, .kstack = 12, .count = 1 },
	{ .event = 3, .kstack = 10, .count = 9, .flags = MEMTAP_KEY_IRQ },
	{ .event = 5, .ustack = 8, .task = 8, .count = 5, .sum = 50 },
	{ .event = 5, .ustack = 9, .task = 8, .count = 2, .sum = 20 },
	{ .event = 3, .ustack = 8, .task = 8, .count = 1000 },
};

static void test_sums(void)
{
	static const char *const callers[ST_CALLERS] = { "load_msg" };
	struct snap s = { .events = events, .nr_events = 2, .counters = counters,
			  .nr_counters = sizeof(counters) / sizeof(counters[0]) };

	ok(st_sum_kernel(&s, NULL, "kmem:kmalloc", callers) == 30,
	   "kernel stacks: the caller's own calls, none of an interrupt");
	ok(st_sum_kernel(&s, NULL, "kmem:kfree", callers) == 0, "an event that is not there: 0");
	ok(st_sum_user(&s, NULL, "minor-fault", "selftest_touch", NULL).count == 5 &&
	   st_sum_user(&s, NULL, "minor-fault", "selftest_touch", NULL).value == 50,
	   "user stacks: those with the function");
	ok(st_sum_user(&s, NULL, "minor-fault", NULL, NULL).count == 7, "or all");
	ok(st_sum_user(&s, NULL, "minor-fault", "selftest_touch", "main").count == 5 &&
	   st_sum_user(&s, NULL, "minor-fault", "main", "selftest_touch").count == 0 &&
	   st_sum_user(&s, NULL, "minor-fault", "main", "main").count == 0,
	   "or those where another function called it");
}

static void test_account(void)
{
	struct snap s = { .events = events, .nr_events = 2 };
	struct st_check c = { .name = "accounts" };

	st_account(&s, &c);
	ok(c.verdict == ST_OK && strstr(c.text, "seen 107 = counted 67 + filtered 40 + lost 0"),
	   "accounts that add up are well");
	events[0].seen += 2;
	events[0].lost[MEMTAP_LOST_TABLE] = 2;
	c.text[0] = 0;
	st_account(&s, &c);
	ok(c.verdict == ST_OK && strstr(c.text, "lost 2, 2 table-full"),
	   "losses are shown, with their reason");
	events[0].seen++;
	c.text[0] = 0;
	st_account(&s, &c);
	ok(c.verdict == ST_FAILED && strstr(c.text, "kmem:kmalloc does not add up"),
	   "one event more than accounted for is a failure, and named");
	events[0].seen -= 3;
	events[0].lost[MEMTAP_LOST_TABLE] = 0;
}

/* ---- words ---- */

static void put_three(struct st_out *out)
{
	struct st_check c = { .verdict = ST_FAILED, .name = "leaks",
			      .numbers = { { "blocks", 3000, 2999 } }, .text = "by selftest_x" };

	st_put(out, &c);
	c.numbers[0].got = 3000;
	c.verdict = ST_OK;
	st_put(out, &c);
	st_say(out, ST_NOT_HERE, "per-CPU memory", "this kernel has no %s", "\"such\"");
}

static void test_text(void)
{
	struct st_out out;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int status;

	st_begin(&out, f, false, "about");
	put_three(&out);
	status = st_end(&out);
	fclose(f);
	ok(status == EXIT_FAILURE, "one failure is the exit status");
	ok(!strcmp(text, "about\n"
		   "FAILED    leaks                       wanted 3,000 blocks; got 2,999 blocks; "
		   "by selftest_x\n"
		   "ok        leaks                       3,000 blocks; by selftest_x\n"
		   "not here  per-CPU memory              this kernel has no \"such\"\n"
		   "FAILED: 1 ok, 1 failed, 1 not here\n"), "text: a line each, and a summary");
	free(text);
}

static void test_json(void)
{
	struct st_out out;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	st_begin(&out, f, true, "about");
	put_three(&out);
	st_end(&out);
	fclose(f);
	ok(strstr(text, "{\"name\":\"leaks\",\"verdict\":\"FAILED\",\"expected\":{\"blocks\":3000},"
		  "\"actual\":{\"blocks\":2999},\"text\":\"by selftest_x\"}"),
	   "JSON: numbers as they were, and as they should be");
	ok(strstr(text, "this kernel has no \\\"such\\\"") &&
	   strstr(text, "\"ok\":1,\n \"failed\":1,\n \"skipped\":1}\n"), "JSON: and the sums");
	free(text);
}

static void test_absent_is_no_failure(void)
{
	struct st_out out;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	st_begin(&out, f, false, "about");
	st_say(&out, ST_NOT_HERE, "pages", "no");
	ok(!st_end(&out), "what a kernel lacks is no failure");
	fclose(f);
	ok(strstr(text, "all found: 0 ok, 0 failed, 1 not here\n"), "and said");
	free(text);
}

int main(void)
{
	test_compare();
	test_called_by();
	test_sums();
	test_account();
	test_text();
	test_json();
	test_absent_is_no_failure();
	return tap_done();
}
