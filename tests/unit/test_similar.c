// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/similar.c ctl/base/text.c */
#include <errno.h>
#include <string.h>

#include "leaks/similar.h"
#include "tap.h"

/* Who is asked: the machine, as this test has it. */
static const struct memtap_block blocks[] = {
	{ .space = 30, .ustack = 100, .size = 64, .birth_ns = 10 },
	{ .space = 31, .ustack = 200, .size = 4096, .birth_ns = 900 },
	{ .space = 30, .ustack = 100, .size = 64, .birth_ns = 20 },
	{ .space = 30, .ustack = 101, .size = 100, .birth_ns = 30 },
	{ .space = 8, .ustack = 300, .size = 1 << 20, .birth_ns = 5 },
};

static const struct memtap_rec_cache caches[] = {
	{ .id = 8, .kind = MEMTAP_CACHE_PAGES, .name = "order-0 pages" },
	{ .id = 30, .kind = MEMTAP_CACHE_SLAB, .name = "kmalloc-64" },
	{ .id = 31, .kind = MEMTAP_CACHE_SLAB, .name = "dentry" },
};

static struct snap snap = { .nr_blocks = 5, .header = { .now_ns = 1000 } };
static struct memtap_similar answer, asked;
static int result;

bool snap_next_block(struct snap_walk *w)
{
	if (w->number == snap.nr_blocks)
		return false;
	w->block = &blocks[w->number++];
	return true;
}

const struct memtap_rec_cache *snap_cache(const struct snap *s, __u32 id)
{
	for (size_t i = 0; s && i < sizeof(caches) / sizeof(caches[0]); i++)
		if (caches[i].id == id)
			return &caches[i];
	return NULL;
}

static char lines[SIMILAR_LINES][SIMILAR_TEXT];

/* As watch_similar() does. */
static struct similar ask(__u64 older_ms)
{
	struct similar r = { .asked = true };

	memset(lines, 0, sizeof(lines));
	if (!similar_suspect(&snap, older_ms * 1000000, &r))
		return r;
	asked = r.arg;
	r.arg = answer;
	r.err = result;
	return r;
}

int main(void)
{
	struct similar r = { 0 };

	is(similar_footer(&r, lines), 0, "who did not ask is told nothing");
	answer = (struct memtap_similar){
		.survivors = 64, .pages = 200, .looked = 50, .slabs = 1200, .places = 5000,
		.kept = 1000, .alike = 3100, .unread = 7, .common = 5,
		.nr_words = 3, .at = {
			{ 0, MEMTAP_SIMILAR_SYMBOL, 0, "leaky_ops+0x8 [leaky]" },
			{ 8, MEMTAP_SIMILAR_NUMBER, 7, "" },
			{ 16, MEMTAP_SIMILAR_OTHER, 0, "" } },
	};
	r = ask(0);
	is(asked.cache, 31, "asked about is the stack that holds most bytes of a cache");
	is(asked.stack, 200, "that stack");
	is(similar_footer(&r, lines), 2, "two sentences");
	ok(strstr(lines[0], "64 survivors were compared with 4,000 other objects and free places "
		  "of dentry, in 1,200 slabs (25 % of all pages were searched): 3,100 look like") &&
	   strstr(lines[0], " them, 7 could not be read") && strstr(lines[0], "not a proof"),
	   "how many look alike: %s", lines[0]);
	ok(!strcmp(lines[1], "their common words: leaky_ops+0x8 [leaky] at 0, 7 at 8, "
		   "some word at 16, and 2 more words"), "what they have in common: %s", lines[1]);
	snap.header.now_ns = 900 + 500000;
	r = ask(1);
	is(similar_footer(&r, lines), 1, "where none is that old,");
	ok(strstr(lines[0], "no slab object is old enough"), "it is said");
	snap.header.now_ns = 500 + 1000000;
	r = ask(1);
	is(asked.cache, 30, "what is younger does not count");
	is(asked.stack, 100, "objects of a stack are added up");
	result = -ENODATA;
	r = ask(0);
	similar_footer(&r, lines);
	ok(strstr(lines[0], "survivors of dentry is not known: fewer than four"), "too few: %s",
	   lines[0]);
	result = -EPERM;
	r = ask(0);
	similar_footer(&r, lines);
	ok(strstr(lines[0], "locked down"), "not allowed");
	return tap_done();
}
