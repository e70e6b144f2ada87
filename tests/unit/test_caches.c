// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/render/caches.c ctl/base/text.c ctl/base/json.c kmod/core/names.c */
#include <stdlib.h>
#include <string.h>

#include "render/caches.h"
#include "tap.h"

static struct memtap_rec_cache all[] = {
	{ .id = 8, .kind = MEMTAP_CACHE_PAGES, .object_size = 4096, .allocs = 100, .unknown = 90,
	  .bytes = 100 * 4096, .unknown_bytes = 90 * 4096, .name = "order-0 pages",
	  .reclaimable = 10, .movable = 20 },
	{ .id = 11, .kind = MEMTAP_CACHE_PAGES, .object_size = 32768, .allocs = 4, .frees = 1,
	  .bytes = 4 * 32768, .freed_bytes = 32768, .name = "order-3 pages", .movable = 3 },
	{ .id = 24, .kind = MEMTAP_CACHE_SLAB, .object_size = 96, .allocs = 10, .unknown = 4,
	  .bytes = 960, .unknown_bytes = 384, .name = "kmalloc-96" },
	{ .id = 25, .kind = MEMTAP_CACHE_SLAB, .object_size = 192, .allocs = 500, .frees = 500,
	  .bytes = 96000, .freed_bytes = 96000, .name = "dentry" },
	{ .id = 26, .kind = MEMTAP_CACHE_SLAB, .object_size = 64, .name = "idle" },
};

static struct snap snap = { .caches = all, .nr_caches = 5 };
static char *text;
static size_t len;

static const char *print(struct caches *c, const struct caches_opts *o)
{
	FILE *f;

	free(text);
	f = open_memstream(&text, &len);
	ok(f && !caches_print(c, &snap, o, f), "it is printed");
	fclose(f);
	return text;
}

static void test_slab(void)
{
	struct machine_holder holder = { .name = "dentry", .objects = 7000, .bytes = 1344000 };
	const struct machine m = { .page = 4096, .slabs = { .at = &holder, .nr = 1 } };
	struct caches_opts o = { .seconds = 2, .m = &m };
	struct caches c = { .before = NULL };
	const char *dentry, *small;

	print(&c, &o);
	dentry = strstr(text, "dentry");
	small = strstr(text, "kmalloc-96");
	ok(dentry && small && dentry < small, "the busiest cache is the first");
	ok(strstr(text, "       250        250      7,000    1.3 MiB           0"),
	   "by the second, with what there is: %s", text);
	ok(strstr(text, "         5          2          -          -           6      +576 B"),
	   "where the kernel does not say what there is, what it grew by is told");
	ok(!strstr(text, "idle") && !strstr(text, "pages"), "no others");
	all[3].allocs += 30;
	all[3].bytes += 30 * 192;
	o.seconds = 5;
	print(&c, &o);
	ok(strstr(text, "        10          0      7,000    1.3 MiB          30"),
	   "rates are since the last time, growth is since the start: %s", text);
	o.final = true;
	print(&c, &o);
	ok(strstr(text, "in total") && strstr(text, "       106        100"),
	   "in total all of the time counts: %s", text);
	all[3].allocs -= 30;
	all[3].bytes -= 30 * 192;
	o.top = 1;
	print(&c, &o);
	ok(!strstr(text, "kmalloc-96") && strstr(text, "and 1 more cache that is less busy"),
	   "those that are asked for");
	caches_free(&c);
}

/* What was given beyond what was asked for, since the last time; the most wasteful first. */
static void test_waste(void)
{
	struct caches_opts o = { .seconds = 2, .waste = true };
	struct caches c = { .before = NULL };
	const char *dentry, *small;

	all[2].waste = 240;
	all[2].frees = 4;
	all[2].unknown = 0;
	all[2].remote = 3;
	print(&c, &o);
	dentry = strstr(text, "dentry");
	small = strstr(text, "kmalloc-96");
	ok(dentry && small && small < dentry, "the cache that wastes most is the first");
	ok(strstr(text, "        10       720 B       960 B       240 B  25.0          4          3"
		  "  75.0  kmalloc-96"), "asked, given, waste; frees on another CPU: %s", text);
	ok(strstr(text, "       500    93.8 KiB    93.8 KiB         0 B   0.0        500          0"
		  "   0.0  dentry"), "one of a size of its own wastes nothing: %s", text);
	ok(strstr(text, "       510    94.5 KiB    94.7 KiB       240 B   0.2        504          3"
		  "   0.6  all"), "and the sum: %s", text);
	all[2].allocs += 1;
	all[2].bytes += 96;
	all[2].waste += 10;
	o.seconds = 3;
	print(&c, &o);
	ok(strstr(text, "         1        86 B        96 B        10 B  10.4          0          0"
		  "     -  kmalloc-96"), "then what came since: %s", text);
	o.json = true;
	print(&c, &o);
	ok(strstr(text, "\"waste_bytes\":250") && strstr(text, "\"other_cpu_frees\":3"),
	   "as JSON since the start: %s", text);
	caches_free(&c);
}

static void test_pages(void)
{
	struct machine_zone zones[] = {
		{ .node = 0, .name = "DMA32", .blocks = { 5, 0, 0, 2 } },
		{ .node = 0, .name = "Normal", .blocks = { 6, 1, 0, 1 }, .types = {
			{ "Unmovable", { 4, 1 }, true }, { "Reclaimable", { 0 } },
			{ "Movable", { 2, 0, 0, 1 } } }, .nr_types = 3 },
	};
	const struct machine m = { .page = 4096, .zones = zones, .nr_zones = 2 };
	struct caches_opts o = { .seconds = 1, .pages = true, .m = &m };
	struct caches c = { .before = NULL };

	print(&c, &o);
	ok(strstr(text, "       100         90         11") &&
	   strstr(text, "         4          1          3"), "free blocks of all zones: %s", text);
	ok(strstr(text, "zone Normal, by order: 6 1 0 1"), "and of each");
	ok(strstr(text, "allocated a second, unmovable, by order: 70 0 0 1 0") &&
	   strstr(text, "allocated a second, reclaimable, by order: 10 0 0 0") &&
	   strstr(text, "allocated a second, movable, by order: 20 0 0 3 0"),
	   "what was asked for, by migratetype: %s", text);
	ok(strstr(text, "zone Normal, Unmovable (at least), by order: 4 1 0") &&
	   strstr(text, "zone Normal, Movable, by order: 2 0 0 1"), "what is free of each");
	o.json = true;
	print(&c, &o);
	ok(strstr(text, "\"name\":\"order-3 pages\"") && strstr(text, "\"free\":3"),
	   "as JSON, too");
	ok(strstr(text, "\"unmovable\":70") && !strstr(text, "free_in"), "by migratetype, too");
	o.final = true;
	print(&c, &o);
	ok(strstr(text, "\"free_in\":[{\"node\":0,\"zone\":\"Normal\",\"migratetype\":"
		  "\"Movable\",\"blocks\":1}]"), "what is free of each, at the end: %s", text);
	o.m = NULL;
	print(&c, &o);
	ok(!strstr(text, "\"free\":"), "what is not known is left out");
	caches_free(&c);
}

int main(void)
{
	test_slab();
	test_waste();
	test_pages();
	free(text);
	return tap_done();
}
