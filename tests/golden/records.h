/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _GOLDEN_RECORDS_H
#define _GOLDEN_RECORDS_H

/* The records of invented files: one function for each kind. */
#include <stdbool.h>
#include <stdlib.h>

#include "wire.h"

#define SEC	1000000000ULL
#define TEXT	0x1000ULL		/* address and offset of the code */
#define LOADED	0x560000000000ULL	/* where the first process has it */
#define LOADED2	0x550000000000ULL	/* ... and the second one */
#define KERNEL	0xffffffff81000000ULL

/* Return addresses behind a call in each of the functions of make_elf(). */
#define MAIN(at)	((at) + 0x015ULL)
#define READ(at)	((at) + 0x125ULL)
#define PROCESS(at)	((at) + 0x235ULL)
#define RUST(at)	((at) + 0x345ULL)
#define NOWHERE(at)	((at) + 0xe05ULL)

/* Of the next begin(): what each machine has of its own. */
struct made {
	const char *host, *release;
	u64 start_ns, now_ns, real_ns;
};

extern struct made made;

/* Of the next begin(). */
extern u32 depth;
extern bool running;		/* the session, when it was read */

/* A record under construction, zeroed; put() writes and frees it. */
void *record(u32 type, size_t len);
void put(void *rec);
void begin(const char *dir, const char *name, u32 flags);
void begin_sampled(const char *dir, const char *name, u32 flags, u64 bytes, u32 rate);
void end(void);
void finish(void);

void event(u32 id, const char *name, u32 unit, u64 counted, u64 filtered, u64 recursion,
	   u64 missed);
void hook(u32 ev, const char *target, u32 error);
void stack(u32 id, u32 flags, u32 nr, ...);
void task(u32 id, u32 space, s32 pid, s32 tid, u32 flags, const char *comm);
void map(u32 space, u32 file, u64 start);
void file(u32 id, const char *path, bool has_id);
void memory(void);
void ksym(u64 addr, u64 offset, const char *name);
void note(const char *text);
void tool_part(void);

/* Stacks, tasks and mappings of the program that make_elf() writes. */
void common_stacks(void);
void common_tasks(void);
void make_elf(const char *dir);

#endif
