/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _T_DIE_H
#define _T_DIE_H

/* The parts of t_die; t_die.c tells what it does. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <memtap.h>

#include "wl_die.h"

/* --- t_die.c ------------------------------------------------------------- */

struct die_kind {
	const char *name;
	const char *threads;		/* of the target, see wl_die.c */
	void (*run)(unsigned int times);
	unsigned int ways;		/* in which what it says happens */
	/* in each, unless TIMES says how often in all; in make check half as often */
	unsigned int times;
	const char *what;
};

/* The process that must not be hurt. */
struct die_target {
	pid_t pid;
	struct die_shared *sh;
	int shared, naps, wake;		/* its file, its end of a pipe and ours */
	char threads[DIE_THREADS + 1];
	char exe[128], lib[128];
	bool by_proc;			/* its program is opened by /proc */
};

extern struct die_target target;
extern unsigned long failures;

void target_start(struct die_target *t);
int target_end(struct die_target *t);	/* what wait() says */
void target_forget(struct die_target *t);	/* it died as it should */
bool target_moves(struct die_target *t);	/* each of its threads goes on */

void __attribute__((format(printf, 1, 2))) wrong(const char *fmt, ...);
bool enough(void);			/* so much went wrong that it may end */
uint64_t now_ns(void);
uint64_t too_late(void);		/* nothing is waited for until then, ns */
void nap_ns(uint64_t ns);
uint64_t below(uint64_t n);		/* a random number */
void counted(const char *what, unsigned long n, unsigned long least);
void round_clean(const char *when);	/* nothing is attached, nobody hurt */
void noise(bool on);
pid_t spawn(char *const argv[], const char *log);
bool died_of(int status, int sig);

/* --- t_die_check.c ------------------------------------------------------- */

bool text_clean(pid_t pid);		/* each byte of code is the file's */
bool nothing_attached(void);
long module_users(void);		/* -1: not loaded */
unsigned long leaking_uprobes(void);
ssize_t slurp(const char *path, char *buf, size_t len);
/* file and offset in it of an address of @pid; -1: none */
long file_offset(pid_t pid, uintptr_t addr, char *path, size_t len);
bool kernel_function(const char *name, char *buf, size_t len);

/* --- t_die_life.c: a session from open() to close() ---------------------- */

enum phase { PH_NONE, PH_ATTACH, PH_RUN, PH_READ, PH_DETACH, PH_OVER, PH_NR };

#define LIFE_BUILTIN	(1U << 0)	/* page faults, brk, mmap ... */
#define LIFE_FAULTS	(1U << 9)	/* page faults alone */
#define LIFE_USER	(1U << 1)	/* functions of the target */
#define LIFE_KERNEL	(1U << 2)	/* kernel functions, a tracepoint */
#define LIFE_HEAP	(1U << 3)	/* live blocks by libc's malloc() ... */
#define LIFE_HOLD	(1U << 4)	/* threads are made to wait */
#define LIFE_LIB	(1U << 5)	/* the library that comes and goes */
#define LIFE_NAPS	(1U << 6)	/* returns of those who sleep */
#define LIFE_STOP	(1U << 7)	/* STOP before close() */
#define LIFE_ALL_MM	(1U << 8)	/* no filter: all processes */
#define LIFE_ALL	(LIFE_BUILTIN | LIFE_USER | LIFE_KERNEL | LIFE_HEAP | LIFE_HOLD | LIFE_LIB)

struct life {
	unsigned int flags;
	uint64_t run_ns;
	unsigned int steps;		/* closes after so many calls; 0: all */
	volatile int *phase;		/* told, if not NULL */
	void (*enters)(struct life *l, enum phase to);
	uint64_t at[PH_NR];		/* when a phase began, ns */
	int fd;
	const char *failed;		/* the call that did, with error */
	int error;
	unsigned int attached;
};

void life_init(void);			/* finds functions; the target runs */
void life_run(struct life *l);
bool life_was_during(const struct life *l, enum phase ph, uint64_t from, uint64_t to);
unsigned int life_flags(void);		/* a random choice */

extern const char *const phase_names[PH_NR];
extern char kernel_fn[64], nap_fn[64];	/* what getppid(), a read of a pipe are there */

/* What is at a path of the target, opened for probes. */
int open_exe(void);
int open_lib(void);

/* Does something at a moment of its own, in a thread. */
struct later {
	pthread_t id;
	uint64_t at, began, ended;
	void (*fn)(void);
};
void later(struct later *l, uint64_t at, void (*fn)(void));
void later_join(struct later *l);

/* --- kinds --------------------------------------------------------------- */

void die_tool(unsigned int times);
void die_two(unsigned int times);
void die_device(unsigned int times);
void die_exits(unsigned int times);
void die_forks(unsigned int times);
void die_files(unsigned int times);
void die_rmmod(unsigned int times);
void die_tracers(unsigned int times);
void die_hotplug(unsigned int times);
void die_pending(unsigned int times);

/* t_die_tool.c: what debugfs says of the session that @pid opened */
enum phase tool_phase(pid_t pid);
pid_t start_tool(unsigned int which, const char *log);
/*
 * Waits for the end of what a tool that is gone had: it may have had a child (the experiment
 * with seccomp), which dies with it, but a moment later.
 */
void tool_over(pid_t pid);

#endif
