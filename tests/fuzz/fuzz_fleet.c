// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/fleet/accounts.c ctl/fleet/add.c ctl/fleet/fold.c ctl/fleet/names.c */
/* LINK: ctl/fleet/write.c ctl/fleet/compare.c ctl/fleet/robust.c */
/* LINK: ctl/base/arena.c ctl/base/ids.c ctl/leaks/leaks.c ctl/leaks/look_way.c */
/* LINK: ctl/base/err.c ctl/base/text.c */
/* LINK: ctl/leaks/suppress.c ctl/leaks/suppress_block.c ctl/leaks/suppress_text.c */
/* LINK: ctl/machine/text.c */
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: kmod/core/wire.c -lm */
/* FUZZ: -max_len=8192 */
/*
 * Hostile recordings are merged: see fuzz_snap.c.  What is written can be read, has the same
 * counts, and can be merged again; comparing takes any numbers.  Names are the recording's own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fleet/fleet.h"
#include "snap_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As sym/user.c and sym/kernel.c have names from files; what has none is nowhere. */
static struct sym_frame frames_of[64];

size_t sym_user(struct sym *s, const struct snap *snap, const struct memtap_rec_task *task,
		__u32 era, __u64 ip, bool call, const struct sym_frame **frames)
{
	const struct snap_usym *u;
	size_t nr = task ? snap_usyms(snap, task->space, 0, ip, call, &u) : 0;

	(void)s;
	(void)era;
	*frames = frames_of;
	frames_of[0] = (struct sym_frame){ .object = "x", .addr = ip };
	for (size_t i = 0; i < nr && i < 64; i++)
		frames_of[i] = (struct sym_frame){
			.name = *u[i].name ? u[i].name : NULL, .object = u[i].object,
			.linkage = *u[i].linkage ? u[i].linkage : NULL,
			.file = *u[i].file ? u[i].file : NULL, .line = u[i].line,
			.addr = u[i].addr, .inlined = u[i].flags & MEMTAP_USYM_INLINED,
		};
	return !nr ? 1 : nr < 64 ? nr : 64;
}

size_t sym_kernel(struct sym *s, const struct snap *snap, __u64 ip, bool call,
		  const struct sym_frame **frames)
{
	(void)s;
	(void)call;
	*frames = frames_of;
	frames_of[0] = (struct sym_frame){ .object = "kernel", .kernel = true, .addr = ip };
	for (size_t i = 0; i < snap->nr_ksyms; i++)
		if (snap->ksyms[i].addr == ip)
			frames_of[0].name = snap->ksyms[i].name;
	return 1;
}

const char *sym_cgroup(struct sym *s, const struct snap *snap, __u64 inode)
{
	(void)s;
	(void)snap;
	return inode % 3 ? "/a/group" : NULL;
}

static bool owned(const struct snap *s, struct sym *sym, const struct memtap_block *b)
{
	(void)s;
	(void)sym;
	return b->size % 7 == 3;
}

static u64 counted(const struct snap *s)
{
	u64 sum = 0;

	for (size_t i = 0; i < s->nr_counters; i++)
		sum += s->counters[i].count;
	return sum;
}

static struct snap *written(struct fleet *f)
{
	static const char *const notes[] = { "foot=x", NULL };
	struct snap *s = NULL;
	char *bytes = NULL, why[256];
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);

	if (!out || fleet_write(f, notes, out) || fclose(out) || snap_decode(bytes, len, &s, why))
		abort();
	return s;
}

static struct fleet *fleet_of(const struct snap *s, bool names, u64 max_mem)
{
	const struct fleet_opts o = { names, max_mem, owned };
	struct fleet *f = fleet_new(&o);
	char why[FLEET_WHY] = "";
	int err, again;

	if (!f)
		abort();
	err = fleet_add(f, s, NULL, "a/file.memtap", 0, why);
	if (err && err != -EINVAL && err != -ENOSPC)
		abort();
	if ((err == -EINVAL || err == -ENOSPC) && !why[0])
		abort();
	/* (two of its own events may have one name and other units) */
	again = err ? -EEXIST : fleet_add(f, s, NULL, "b", 1, why);
	if (again != -EEXIST && (again != -EINVAL || !why[0]))
		abort();
	if (!err)
		return f;
	fleet_free(f);
	return NULL;
}

static void merge(const struct snap *s, u64 max_mem)
{
	struct fleet *f = fleet_of(s, false, max_mem), *g;
	struct snap *a, *b;

	if (!f)
		return;
	a = written(f);
	fleet_free(f);
	if (!(s->header.flags & (MEMTAP_CFG_LIVE | MEMTAP_CFG_OBJECTS)) &&
	    counted(a) != counted(s))
		abort();
	g = fleet_of(a, false, 0);
	if (!g)
		abort();
	b = written(g);
	fleet_free(g);
	if (counted(b) != counted(a) || b->nr_hosts > a->nr_hosts)
		abort();
	snap_free(a);
	snap_free(b);
}

static void compare(const struct snap *s)
{
	struct fleet *f = fleet_of(s, true, 0);
	struct fleet_result r;

	if (!f)
		return;
	for (int i = 0; i < 4; i++) {
		if (fleet_compare(f, i & 1, i & 2, &r))
			abort();
		fleet_result_free(&r);
	}
	fleet_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[256], *bytes;
	struct snap *s;
	size_t len;

	bytes = snap_bytes(data, size, &len);
	if (!bytes || snap_decode(bytes, len, &s, why))
		return 0;
	merge(s, 0);
	merge(s, 6000);
	compare(s);
	snap_free(s);
	return 0;
}
