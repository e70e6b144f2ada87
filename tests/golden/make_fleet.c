// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: tests/golden/records.c kmod/core/wire.c */
/*
 * make_fleet DIR HOSTS [NAME=NUMBER...]: recordings of invented machines, DIR/web-1.memtap and so
 * on.  Each has its own addresses of kernel and programs, and varies by some percent.  NUMBERs:
 *
 *	seed=	of what varies
 *	stacks=	that each host has (8)
 *	grow=	percent by which read_in_chunks() is more than usual (0)
 *	odd=	this host has eight times as much of it (0: none)
 *	own=	stacks that no other host has (0)
 *	parts=	recordings of each host, one after the other (1)
 *	plain=	1: no event but page faults
 *	build=	1: handle_*() is inlined into its caller, and lines are other ones
 *	names=	1: hosts have no names in their recordings
 */
#include <stdio.h>
#include <string.h>

#include "records.h"

static u64 seed = 1, stacks = 8, grow, odd, own, parts = 1, plain, build, names;

static const struct {
	const char *name;
	u64 *at;
} numbers[] = {
	{ "seed=", &seed }, { "stacks=", &stacks }, { "grow=", &grow }, { "odd=", &odd },
	{ "own=", &own }, { "parts=", &parts }, { "plain=", &plain }, { "build=", &build },
	{ "names=", &names },
};

/* From 95 to 105 percent of it, by host and stack. */
static u64 vary(u64 n, u64 host, u64 k)
{
	u64 h = (seed * 1000003 + host) * 0x9e3779b97f4a7c15ULL ^ k * 0xc2b2ae3d27d4eb4fULL;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9ULL;
	h ^= h >> 32;
	return n * (950 + h % 101) / 1000;
}

#define USER(slide, n)	(0x400000000000ULL + ((slide) << 24) + 0x40 * (u64)(n))
#define KERN(slide, n)	(0xffffffff80000000ULL + ((slide) << 21) + 0x40 * (u64)(n))

static void put_counter(u32 ev, u32 tsk, u32 kstack, u32 ustack, u64 count, s64 total)
{
	struct memtap_rec_counter *c = record(MEMTAP_REC_COUNTER, sizeof(*c));

	c->event = ev;
	c->task = tsk;
	c->kstack = kstack;
	c->ustack = ustack;
	c->count = count;
	c->sum = total;
	put(c);
}

static void usym(u64 ip, u32 flags, const char *name, const char *from, u32 line)
{
	const size_t len = strlen(name) + strlen(from) + strlen("server") + 4;
	struct memtap_rec_usym *u = record(MEMTAP_REC_USYM, sizeof(*u) + len);
	char *at = u->text;

	u->space = 1;
	u->flags = flags;
	u->ip = ip;
	u->addr = ip & 0xffffff;
	u->offset = 4;
	u->line = line;
	at = stpcpy(at, name) + 1;
	at = stpcpy(at, "server") + 1;
	strcpy(at, from);
	put(u);
}

/* read_in_chunks() is stack 0; the others are called by their number, of a host also by it. */
static void name_of(u64 host, u64 k, char name[64])
{
	if (!k)
		strcpy(name, "read_in_chunks");
	else if (k < stacks)
		snprintf(name, 64, "work_%llu", (unsigned long long)k);
	else
		snprintf(name, 64, "own_%llu_%llu", (unsigned long long)host,
			 (unsigned long long)k);
}

static u64 count_of(u64 host, u64 k)
{
	const u64 n = vary(1000 * (k % 8 + 1), host, k);

	return k ? n : n * (host == odd ? 8 : 1) * (100 + grow) / 100;
}

static void put_stacks(u64 slide)
{
	stack(8, MEMTAP_STACK_ENTRY, 2, KERN(slide, 1), KERN(slide, 2));
	for (u64 k = 0; k < stacks + own; k++)
		if (build)
			stack(20 + k, MEMTAP_STACK_USER | MEMTAP_STACK_ROWS, 3,
			      USER(slide, 16 + k), USER(slide, 1 + k % 4), USER(slide, 0));
		else
			stack(20 + k, MEMTAP_STACK_USER | MEMTAP_STACK_ROWS, 4,
			      USER(slide, 16 + k), USER(slide, 1 + k % 4), USER(slide, 9),
			      USER(slide, 0));
}

static void put_names(u64 host, u64 slide)
{
	char name[64];

	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	ksym(KERN(slide, 1), 0, "__x64_sys_brk");
	ksym(KERN(slide, 2), 8, "do_syscall_64");
	usym(USER(slide, 0), MEMTAP_USYM_CALL, "main", "server.c", 10 + build);
	for (u64 k = 0; k < 4; k++) {
		snprintf(name, sizeof(name), "handle_%llu", (unsigned long long)k);
		if (build)
			usym(USER(slide, 1 + k), MEMTAP_USYM_CALL | MEMTAP_USYM_INLINED, name,
			     "handle.c", 7);
		usym(USER(slide, 1 + k), MEMTAP_USYM_CALL, build ? "dispatch" : name,
		     "handle.c", 20);
	}
	if (!build)
		usym(USER(slide, 9), MEMTAP_USYM_CALL, "dispatch", "handle.c", 30);
	for (u64 k = 0; k < stacks + own; k++) {
		name_of(host, k, name);
		usym(USER(slide, 16 + k), 0, name, "server.c", 100 + k + build);
	}
	note("title=recorded events");
	note("cgroup.4242=/system.slice/server.service");
	end();
}

static void one(const char *dir, u64 host, u64 part)
{
	const u64 slide = (host * 7919 + seed * 31 + part * 3) % 4093;
	u64 sum[3] = { 0 };
	char name[64], file_name[80];

	snprintf(name, sizeof(name), "web-%llu", (unsigned long long)host);
	snprintf(file_name, sizeof(file_name), "%s%s%.0llu", name, part ? "." : "",
		 (unsigned long long)part);
	made.host = names ? "" : name;
	made.release = host % 2 ? "6.1.0-21-amd64" : "5.10.0-30-amd64";
	made.start_ns = (1000 + 13 * host + 100 * part) * SEC;
	/* every third one for twice as long, and so twice as much */
	made.now_ns = made.start_ns + (host % 3 ? 10 : 20) * SEC;
	made.real_ns = (1767225600 + 60 * host + 100 * part) * SEC;
	begin(dir, file_name, MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK | MEMTAP_CFG_ROWS);
	for (u64 k = 0; k < stacks + own; k++) {
		const u64 n = count_of(host, k) * (host % 3 ? 1 : 2);

		sum[0] += n;
		put_counter(0, 8 + (u32)(k % 2), MEMTAP_STACK_NONE, 20 + (u32)k, n, 0);
	}
	sum[1] = vary(100, host, 77) * (host % 3 ? 1 : 2);
	if (!plain)
		put_counter(1, 8, 8, 20, sum[1], (s64)sum[1] * 4096);
	event(0, "minor-fault", MEMTAP_UNIT_NONE, sum[0], 5, 0, 2);
	if (!plain) {
		event(1, "brk", MEMTAP_UNIT_BYTES, sum[1], 0, 0, 0);
		hook(1, "__x64_sys_brk", 0);
	}
	put_stacks(slide);
	task(8, 1, 1000 + (s32)host, 1000 + (s32)host, 0, "server");
	task(9, 1, 1000 + (s32)host, 5000 + (s32)host, 0, "worker");
	memory();
	end();
	put_names(host, slide);
	finish();
}

int main(int argc, char **argv)
{
	const u64 hosts = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	for (int i = 3; i < argc; i++)
		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
			if (!strncmp(argv[i], numbers[k].name, strlen(numbers[k].name)))
				*numbers[k].at = strtoull(argv[i] + strlen(numbers[k].name), NULL,
							  10);
	if (!hosts) {
		fprintf(stderr, "usage: make_fleet DIR HOSTS [NAME=NUMBER...]\n");
		return 2;
	}
	for (u64 host = 1; host <= hosts; host++)
		for (u64 part = 0; part < parts; part++)
			one(argv[1], host, part);
	return 0;
}
