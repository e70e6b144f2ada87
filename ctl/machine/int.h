/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MACHINE_INT_H
#define _MACHINE_INT_H

#include "base/opt.h"
#include "machine/machine.h"

/*
 * A whole file below the root, with a zero behind it; for free().  NULL: -errno in @err.
 * Files of /proc may have any size: what is longer than @most is cut at a line's end.
 */
char *machine_file(const struct machine_at *at, const char *path, size_t most, int *err);

/*
 * Each open file of a process: its number, and where its link leads.  What @see returns, where that
 * is not 0: it ends there.
 */
int machine_each_fd(const struct machine_at *at, __u32 pid,
		    int (*see)(void *ctx, const char *fd, const char *target), void *ctx);

#define FILE_SMALL	(64UL << 10)
#define FILE_LARGE	(32UL << 20)

/* Of meminfo, and of vmstat since v4.8: without the zone. */
const char *fields_mem_name(enum machine_mem mem);
const char *fields_vm_name(enum machine_vm vm);

/* Which memory cgroup a process is in: "0::/path", or "4:memory:/path".  False: unknown. */
bool machine_find_group(const struct machine_at *at, __s32 pid, char *path, size_t len, bool *v2);

/* The memory cgroup of a process, of version 1, else of version 2; "": none.  NULL: no memory. */
const char *machine_group_name(const struct machine_at *at, struct machine *m, __u32 pid);

/* Names live as long as @m does: what is at @text, for @len bytes.  NULL: no memory. */
const char *machine_name(struct machine *m, const char *text, size_t len);

/* A new one at the end, all zero; NULL: no memory. */
struct machine_holder *machine_add(struct machine_list *list);

/* The next line of @text, cut off from the rest; NULL: there is none. */
char *machine_line(char **text);
/* The next word of a line, cut off; NULL: none. */
char *machine_word(char **line);
/* A decimal number that fills the word; what does not fit is the largest. */
bool machine_number(const char *word, __u64 *v);
/* bytes of @n pages, or units of 1024; the largest number where that does not fit. */
__u64 machine_times(__u64 n, __u64 unit);

/*
 * Parsers: of a text that they cut into pieces.  They take whatever they are given; what is
 * no line of such a file is passed over.
 */
void fields_parse_mem(char *text, struct machine_fields *f);
void pressure_parse(char *text, struct machine_pressure *p);
void zones_parse_free(char *text, struct machine *m);	/* buddyinfo, after zoneinfo */
void zones_parse_types(char *text, struct machine *m);	/* pagetypeinfo, likewise */
int slabs_parse(char *text, struct machine *m);
int vmalloc_parse(char *text, struct machine *m);
int sites_parse(char *text, struct machine *m);
/* The state and the parent, too; minor, major faults and the start. */
bool process_parse_stat(char *text, struct machine_holder *h, char comm[16]);
void process_parse_status(char *text, struct machine_holder *h);
int swaps_parse(char *text, struct machine *m);
void sockets_parse(char *text, struct machine *m);
void shm_parse(char *text, struct machine *m);
void names_parse(char *text, struct machine_names *n, bool dentries);
void log_parse(char *text, struct machine_log *log);
/* Of "oom-kill:constraint=...": the path of the cgroup at its limit, and the victim's PID. */
void log_limit_of(const char *line, char *to, size_t room);
__u32 log_victim_of(const char *line);
/* "Node 1 MemFree: 12 kB": @h gets size and bytes (used) */
void node_parse(char *text, struct machine_holder *h);
/* memory.stat, memory.events, memory.oom_control ("name value"): the value of a name */
bool pairs_value(const char *text, const char *name, __u64 *v);
/* "123", or "max" and what v1 has in its place: ~0 */
bool limit_parse(const char *text, __u64 *v);

/* One mount of mountinfo; strings point into the line. */
struct machine_mount {
	const char *point, *type, *super;	/* point: unescaped */
	__u32 major, minor;
};

bool mount_parse(char *line, struct machine_mount *mount);
/* What the tmpfs @mount holds, if it is new; its mount point is seen below @below. -ENOMEM. */
int mounts_add_tmpfs(const struct machine_at *at, struct machine *m,
		     const struct machine_mount *mount, const char *below, const char *whose);

/* Readers of what lies in many files. */
int processes_read(const struct machine_at *at, struct machine *m);
int cgroups_read(const struct machine_at *at, struct machine *m);
int slabs_read(const struct machine_at *at, struct machine *m);
int blocks_read(const struct machine_at *at, struct machine *m);
/* After processes and cgroups (mounts). */
int shmem_read(const struct machine_at *at, struct machine *m);
/* After processes. */
void pinned_read(const struct machine_at *at, struct machine *m);
__u64 pinned_parse(char *text);		/* fdinfo of a ring: bytes of its buffers */
void log_read(const struct machine_at *at, struct machine *m);

/* Is there time for PSS of @h, as far as the processes before it say?  And then: it was read. */
bool machine_pss_time(const struct machine_pss *p, const struct machine_holder *h, __u64 now);
void machine_pss_spent(struct machine_pss *p, const struct machine_holder *h, __u64 begun);
/*
 * What smaps_rollup says of a process, or else its smaps; in has[] what it has is added.
 * 0 or an errno, -ETIME: not until @end.
 */
int machine_smaps(const struct machine_at *at, __u32 pid, __u64 end, __u64 v[NR_PS_SUMS],
		  bool has[NR_PS_SUMS]);

__u64 machine_now(void);

#endif
