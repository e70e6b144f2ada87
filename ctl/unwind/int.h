/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _UNWIND_INT_H
#define _UNWIND_INT_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

#include "unwind/elf.h"
#include "unwind/unwind.h"

/* ---- elf.c: more of the file ---- */

/* Bytes of the file; returns how many there were. */
size_t unwind_elf_read(const struct unwind_elf *e, __u64 offset, void *buf, size_t len);

/* A section by name, if it has contents; @sh may be NULL. */
Elf_Scn *unwind_elf_section(Elf *elf, const char *name, GElf_Shdr *sh);

struct unwind_section {
	Elf_Data *data;
	__u64 vaddr;
	bool eh_frame;
};

/* elf_begin() must have been called for @elf; false: there is none */
bool unwind_elf_eh_frame(Elf *elf, struct unwind_section *s);
bool unwind_elf_debug_frame(Elf *elf, struct unwind_section *s);

/* ---- rows.c: rows as they come, and the table they become ---- */

/* Where two say something of the same code, the first of these is believed. */
enum unwind_layer {
	UNWIND_KNOWN,			/* by name, where CFI is known to be wrong */
	UNWIND_EH_FRAME,
	UNWIND_DEBUG_FRAME,
	UNWIND_CODE,			/* by what stands in gaps */
	UNWIND_FRAMES,			/* gaps whose code keeps frame pointers */
	UNWIND_LAYERS
};

struct unwind_row {
	__u32 start;
	__u16 kind;
};

struct unwind_span {			/* rows of one function */
	__u32 start, end;
	__u32 first, nr;		/* its rows */
	__u32 order;
	__u32 layer;
};

struct unwind_piece {			/* of code, and the span that rules there */
	__u32 start, end;
	__u32 span;
};

struct unwind_rows {
	struct unwind_row *rows;
	size_t nr_rows, room_rows;
	struct unwind_span *spans;
	size_t nr_spans, room_spans;
	struct unwind_piece *pieces;	/* disjoint, ascending */
	size_t nr_pieces, room_pieces;
	struct memtap_rule *rules;	/* [0] is MEMTAP_RULE_GAP */
	size_t nr_rules, room_rules;
	__u32 *hash;			/* of rules: index + 1, or 0 */
	size_t hash_size;
};

int unwind_rows_init(struct unwind_rows *r);
void unwind_rows_free(struct unwind_rows *r);
int unwind_rows_begin(struct unwind_rows *r, __u32 start, __u32 end, enum unwind_layer layer);
/* From @start to the next one, or the end of the span; ascending. */
int unwind_rows_add(struct unwind_rows *r, __u32 start, const struct memtap_rule *rule);
/* Give all code that no piece has yet to the spans of a layer. */
int unwind_rows_fill(struct unwind_rows *r, enum unwind_layer layer);
int unwind_rows_finish(const struct unwind_rows *r, struct unwind_table *t);

/* ---- cfa.c: what the instructions of a CIE or FDE say ---- */
enum unwind_how {
	UNWIND_SAME,			/* or nothing was said */
	UNWIND_UNDEFINED,
	UNWIND_AT_CFA,			/* at CFA + value */
	UNWIND_IS_CFA,			/* is CFA + value */
	UNWIND_REG,			/* in register @reg, + value for the CFA */
	UNWIND_AT_EXPR,
	UNWIND_IS_EXPR,
};

struct unwind_where {
	__u32 how;
	__u32 reg;
	__s64 value;
	const unsigned char *expr;
	size_t len;
};

enum {
	UNWIND_BX, UNWIND_BP, UNWIND_SP, UNWIND_RA,
	UNWIND_R12, UNWIND_R13, UNWIND_R14, UNWIND_R15,	/* of no use for rows */
	UNWIND_NR_REG
};

struct unwind_state {
	struct unwind_where cfa;
	struct unwind_where reg[UNWIND_NR_REG];
};

#define UNWIND_DEPTH 64			/* states that may be remembered */

struct unwind_cfa {
	__u64 code_align;
	__s64 data_align;
	__u8 encoding;			/* of addresses */
	__u64 loc, end;			/* addresses: [loc, end) is to be told */
	__u64 vaddr;			/* of base, for relative addresses */
	const unsigned char *base;
	__u64 *budget;			/* instructions that may still be run */
	struct unwind_state now, initial;
	struct unwind_state saved[UNWIND_DEPTH];
	size_t nr_saved;
	int (*emit)(struct unwind_cfa *c, __u64 start, __u64 end);
	void *ctx;
};

/*
 * Run instructions.  emit() is called for each stretch of code with one state;
 * what it returns ends the run.  -EBADMSG: damaged, after emit() for what was
 * told until then; c->loc is where that ended.
 */
int unwind_cfa_run(struct unwind_cfa *c, const unsigned char *p, const unsigned char *end);

/* Bounded reading: false at the end, and everything after is false too. */
struct unwind_bytes {
	const unsigned char *p, *end;
};

bool unwind_read_uint(struct unwind_bytes *b, size_t len, __u64 *v);
bool unwind_read_uleb(struct unwind_bytes *b, __u64 *v);
bool unwind_read_sleb(struct unwind_bytes *b, __s64 *v);
/* DW_EH_PE_*; @at: address of what is read. */
bool unwind_read_encoded(struct unwind_bytes *b, __u8 encoding, __u64 at, __u64 *v);

/* ---- rule.c ---- */
void unwind_rule_make(const struct unwind_state *s, bool signal, struct memtap_rule *r);

/* ---- frame.c: all FDEs of a section ---- */
struct unwind_maker {
	struct unwind_elf elf;
	bool go;			/* there is code of the Go compiler */
	bool go_cfi;			/* which its linker has described */
	struct unwind_rows rows;
	struct unwind_coverage coverage;
	__u64 budget;
};

int unwind_frame_section(struct unwind_maker *m, const struct unwind_section *s);
/* What one place's FDE says, nothing else is read.  -ENOENT: there is none. */
int unwind_frame_find(const struct unwind_elf *e, const struct unwind_section *s, __u64 vaddr,
		      struct unwind_state *state);

/* ---- gap.c: what is known of code that no CFI describes ---- */
/* Call fn for each piece of code that no span has, while it returns 0. */
int unwind_gap_each(struct unwind_maker *m,
		    int (*fn)(struct unwind_maker *m, __u32 start, __u32 end, void *ctx),
		    void *ctx);
/* A span that is one row. */
int unwind_gap_add(struct unwind_maker *m, __u32 start, __u32 end, enum unwind_layer layer,
		   __u8 kind);
int unwind_gap_entry(struct unwind_maker *m);
int unwind_gap_patterns(struct unwind_maker *m);

/* ---- start.c: where stacks begin in a C library without CFI ---- */
int unwind_start_scan(struct unwind_maker *m);

/* ---- plt.c: entries of a PLT in a piece of a gap ---- */
int unwind_plt_scan(struct unwind_maker *m, __u32 at, const unsigned char *buf, size_t len);

/* ---- crt.c: in bytes of a gap, at this offset of the file ---- */
int unwind_crt_scan(struct unwind_maker *m, __u32 at, const unsigned char *buf, size_t len);

/* ---- fp.c: gaps whose code keeps frame pointers, by its looks ---- */
int unwind_fp_gaps(struct unwind_maker *m);

/* ---- go.c: what Go's runtime does, and its .debug_frame does not say ---- */
bool unwind_go_is(Elf *elf);
int unwind_go_known(struct unwind_maker *m);

/* Where one of its functions saves rbp. */
struct unwind_go_frame {
	bool saved;
	__u32 from;
};

void unwind_go_begin(struct unwind_go_frame *f);
/* At a row from @start on with this CFA; says where rbp is from f->from on. */
void unwind_go_row(struct unwind_go_frame *f, const struct unwind_elf *e, __u32 start,
		   const struct unwind_where *cfa);

/* ---- store.c: files that are ours, and may be lost at any time ---- */
enum unwind_store {
	UNWIND_TABLES,
	UNWIND_COMPANIONS,
};

struct iovec;

/* The whole file, malloc'ed and with a 0 after it; -errno. */
int unwind_store_read(enum unwind_store store, const char *name, char **buf, size_t *len);
/* Replaces the file as a whole; then drops the oldest ones beyond the store's size. */
int unwind_store_write(enum unwind_store store, const char *name, const struct iovec *iov,
		       int nr);
/* Keep @limit bytes of a directory at most. */
void unwind_store_prune(int dir, __u64 limit);

/* ---- id.c: which file is this? ---- */
#define UNWIND_ID_MAX	32

struct unwind_id {
	__u32 build_id_len;		/* 0: the rest identifies it */
	unsigned char build_id[UNWIND_ID_MAX];
	__u32 reserved;
	__u64 dev, inode, size, mtime_ns, ctime_ns;
	__u64 layout;			/* digest of its executable segments, and of
					 * what other files its table is made from */
};

#define UNWIND_NAME_MAX	80

int unwind_id_get(int fd, struct unwind_id *id);
/* A file name for it; others may have the same. */
void unwind_id_name(const struct unwind_id *id, char name[UNWIND_NAME_MAX]);

__u64 unwind_digest(__u64 h, const void *p, size_t len);
#define UNWIND_DIGEST	0xcbf29ce484222325ULL

#endif
