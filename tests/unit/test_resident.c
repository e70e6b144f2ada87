// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/resident.c ctl/base/ids.c */
/* What of mappings is resident: by a text, and of ourselves. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "leaks/resident.h"
#include "tap.h"

#define GIB	(1ULL << 30)

static const char text[] =
	"7f0000000000-7f1900000000 ---p 00000000 00:00 0 \n"
	"Size:          104857600 kB\nRss:                   0 kB\nSwap:                  0 kB\n"
	"7f1900000000-7f1900a00000 rw-p 00000000 00:00 0 \n"
	"Size:              10240 kB\nRss:               10000 kB\nSwap:                 40 kB\n"
	"VmFlags: rd wr mr mw me ac sd\n"
	"7f2000000000-7f6000000000 rw-p 00000000 00:00 0                 [heap]\n"
	"Rss:                  12 kB\n";

static void test_text(void)
{
	struct resident r = { .pid = 0 };
	FILE *f = fmemopen((void *)text, sizeof(text) - 1, "r");
	__u64 resident, swapped;

	is(resident_parse(&r, f), 0, "a text is read");
	fclose(f);
	is(r.nr, 3, "it has three mappings");
	ok(resident_of(&r, 0x7f0000000000, 0x7f1900a00000, &resident, &swapped),
	   "two that follow each other are one that the program made");
	is(resident, 10000 << 10, "what is resident of them");
	is(swapped, 40 << 10, "and swapped out");
	ok(resident_of(&r, 0x7f0000000000, 0x7f0000001000, &resident, &swapped) && !resident,
	   "of a part of what nobody touched nothing is resident");
	ok(resident_of(&r, 0x7f1a00000000, 0x7f1b00000000, &resident, &swapped) && !resident,
	   "nor of what is not mapped");
	ok(!resident_of(&r, 0x7f2000000000, 0x7f2000000000 + 2 * GIB, &resident, &swapped),
	   "a part of a mapping that is too large to be read is not known");
	resident_free(&r);
}

static void test_self(void)
{
	const size_t len = 64 << 20;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	__u64 resident, swapped, at = (__u64)(unsigned long)p;
	struct resident r;

	madvise(p, len, MADV_NOHUGEPAGE);
	memset(p + (1 << 20), 1, 1 << 20);
	if (!ok(!resident_read(&r, getpid()), "a process is read"))
		return;
	ok(resident_of(&r, at, at + len, &resident, &swapped), "of a mapping it is known");
	is(resident + swapped, 1 << 20, "what was touched of it");
	ok(resident_of(&r, at, at + (1 << 20) + 8192, &resident, &swapped), "of a part, too");
	is(resident + swapped, 8192, "page by page");
	resident_free(&r);
	/* the rest of a large one */
	p = mmap(NULL, 4 * GIB, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	madvise(p, 4 * GIB, MADV_NOHUGEPAGE);
	memset(p, 1, 1 << 20);
	memset(p + 2 * GIB, 1, 1 << 20);
	at = (__u64)(unsigned long)p + (1 << 20);
	ok(!resident_read(&r, getpid()) &&
	   resident_of(&r, at, at + 4 * GIB - (1 << 20), &resident, &swapped),
	   "it is known of the larger part of a large mapping");
	is(resident + swapped, 1 << 20, "as that of the rest is");
	resident_free(&r);
	ok(resident_read(&r, 1 << 30) < 0, "of a process that is not there nothing");
}

int main(void)
{
	test_text();
	test_self();
	return tap_done();
}
