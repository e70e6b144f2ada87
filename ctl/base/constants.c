// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the names of system call constants: flags, commands, errors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"

struct value {
	__u64 v;
	const char *name;
};

/* How a number is made of its names. */
struct kind {
	const struct value *values, *bits;	/* the last one has no name */
	__u64 field;			/* what of it is one of the values; the rest are bits */
	const char *none;		/* 0, where that has a name */
	bool octal;			/* what is left over is a mode */
};

static const struct value prot_bits[] = {
	{ 1, "PROT_READ" }, { 2, "PROT_WRITE" }, { 4, "PROT_EXEC" }, { 8, "PROT_SEM" },
	{ 0x01000000, "PROT_GROWSDOWN" }, { 0x02000000, "PROT_GROWSUP" }, { 0, NULL }
};

static const struct value map_types[] = {
	{ 1, "MAP_SHARED" }, { 2, "MAP_PRIVATE" }, { 3, "MAP_SHARED_VALIDATE" }, { 0, NULL }
};

static const struct value map_bits[] = {
	{ 0x10, "MAP_FIXED" }, { 0x20, "MAP_ANONYMOUS" }, { 0x40, "MAP_32BIT" },
	{ 0x100, "MAP_GROWSDOWN" }, { 0x800, "MAP_DENYWRITE" }, { 0x1000, "MAP_EXECUTABLE" },
	{ 0x2000, "MAP_LOCKED" }, { 0x4000, "MAP_NORESERVE" }, { 0x8000, "MAP_POPULATE" },
	{ 0x10000, "MAP_NONBLOCK" }, { 0x20000, "MAP_STACK" }, { 0x40000, "MAP_HUGETLB" },
	{ 0x80000, "MAP_SYNC" }, { 0x100000, "MAP_FIXED_NOREPLACE" }, { 0, NULL }
};

static const struct value mremap_bits[] = {
	{ 1, "MREMAP_MAYMOVE" }, { 2, "MREMAP_FIXED" }, { 4, "MREMAP_DONTUNMAP" }, { 0, NULL }
};

static const struct value advices[] = {
	{ 0, "MADV_NORMAL" }, { 1, "MADV_RANDOM" }, { 2, "MADV_SEQUENTIAL" },
	{ 3, "MADV_WILLNEED" }, { 4, "MADV_DONTNEED" }, { 8, "MADV_FREE" },
	{ 9, "MADV_REMOVE" }, { 10, "MADV_DONTFORK" }, { 11, "MADV_DOFORK" },
	{ 12, "MADV_MERGEABLE" }, { 13, "MADV_UNMERGEABLE" }, { 14, "MADV_HUGEPAGE" },
	{ 15, "MADV_NOHUGEPAGE" }, { 16, "MADV_DONTDUMP" }, { 17, "MADV_DODUMP" },
	{ 18, "MADV_WIPEONFORK" }, { 19, "MADV_KEEPONFORK" }, { 20, "MADV_COLD" },
	{ 21, "MADV_PAGEOUT" }, { 22, "MADV_POPULATE_READ" }, { 23, "MADV_POPULATE_WRITE" },
	{ 24, "MADV_DONTNEED_LOCKED" }, { 25, "MADV_COLLAPSE" }, { 100, "MADV_HWPOISON" },
	{ 101, "MADV_SOFT_OFFLINE" }, { 102, "MADV_GUARD_INSTALL" },
	{ 103, "MADV_GUARD_REMOVE" }, { 0, NULL }
};

static const struct value shmget_bits[] = {
	{ 01000, "IPC_CREAT" }, { 02000, "IPC_EXCL" }, { 04000, "SHM_HUGETLB" },
	{ 010000, "SHM_NORESERVE" }, { 0, NULL }
};

static const struct value shmat_bits[] = {
	{ 010000, "SHM_RDONLY" }, { 020000, "SHM_RND" }, { 040000, "SHM_REMAP" },
	{ 0100000, "SHM_EXEC" }, { 0, NULL }
};

static const struct value shm_cmds[] = {
	{ 0, "IPC_RMID" }, { 1, "IPC_SET" }, { 2, "IPC_STAT" }, { 3, "IPC_INFO" },
	{ 11, "SHM_LOCK" }, { 12, "SHM_UNLOCK" }, { 13, "SHM_STAT" }, { 14, "SHM_INFO" },
	{ 15, "SHM_STAT_ANY" }, { 0, NULL }
};

/* How the structure looks: 32-bit C libraries say so. */
static const struct value shm_cmd_bits[] = { { 0x100, "IPC_64" }, { 0, NULL } };

static const struct value memfd_bits[] = {
	{ 1, "MFD_CLOEXEC" }, { 2, "MFD_ALLOW_SEALING" }, { 4, "MFD_HUGETLB" },
	{ 8, "MFD_NOEXEC_SEAL" }, { 0x10, "MFD_EXEC" }, { 0, NULL }
};

static const struct value seal_cmds[] = {
	{ 1033, "F_ADD_SEALS" }, { 1034, "F_GET_SEALS" }, { 0, NULL }
};

static const struct value seal_bits[] = {
	{ 1, "F_SEAL_SEAL" }, { 2, "F_SEAL_SHRINK" }, { 4, "F_SEAL_GROW" },
	{ 8, "F_SEAL_WRITE" }, { 0x10, "F_SEAL_FUTURE_WRITE" }, { 0x20, "F_SEAL_EXEC" },
	{ 0, NULL }
};

static const struct value huge_pages[] = {
	{ 0, "no" }, { 1, "THP" }, { 2, "hugetlb" }, { 0, NULL }
};

/* Those that have been the same since Linux 3.10: bits that had several meanings have no name. */
static const struct value vm_bits[] = {
	{ 0x1, "VM_READ" }, { 0x2, "VM_WRITE" }, { 0x4, "VM_EXEC" }, { 0x8, "VM_SHARED" },
	{ 0x10, "VM_MAYREAD" }, { 0x20, "VM_MAYWRITE" }, { 0x40, "VM_MAYEXEC" },
	{ 0x80, "VM_MAYSHARE" }, { 0x100, "VM_GROWSDOWN" }, { 0x200, "VM_UFFD_MISSING" },
	{ 0x400, "VM_PFNMAP" }, { 0x1000, "VM_UFFD_WP" }, { 0x2000, "VM_LOCKED" },
	{ 0x4000, "VM_IO" }, { 0x8000, "VM_SEQ_READ" }, { 0x10000, "VM_RAND_READ" },
	{ 0x20000, "VM_DONTCOPY" }, { 0x40000, "VM_DONTEXPAND" }, { 0x80000, "VM_LOCKONFAULT" },
	{ 0x100000, "VM_ACCOUNT" }, { 0x200000, "VM_NORESERVE" }, { 0x400000, "VM_HUGETLB" },
	{ 0x4000000, "VM_DONTDUMP" }, { 0x8000000, "VM_SOFTDIRTY" },
	{ 0x10000000, "VM_MIXEDMAP" }, { 0x20000000, "VM_HUGEPAGE" },
	{ 0x40000000, "VM_NOHUGEPAGE" }, { 0x80000000, "VM_MERGEABLE" }, { 0, NULL }
};

static const struct value keys[] = { { 0, "IPC_PRIVATE" }, { 0, NULL } };
static const struct value no_values[] = { { 0, NULL } };

static const struct kind kinds[NR_CONSTANTS] = {
	[CONST_PROT] = { no_values, prot_bits, 0, "PROT_NONE", false },
	[CONST_MAP] = { map_types, map_bits, 0xf, "0", false },
	[CONST_MREMAP] = { no_values, mremap_bits, 0, "0", false },
	[CONST_ADVICE] = { advices, no_values, ~0ULL, NULL, false },
	[CONST_KEY] = { keys, no_values, ~0ULL, NULL, false },
	[CONST_SHMGET] = { no_values, shmget_bits, 0, "0", true },
	[CONST_SHMAT] = { no_values, shmat_bits, 0, "0", false },
	[CONST_SHMCTL] = { shm_cmds, shm_cmd_bits, 0xff, NULL, false },
	[CONST_MEMFD] = { no_values, memfd_bits, 0, "0", false },
	[CONST_SEAL_CMD] = { seal_cmds, no_values, ~0ULL, NULL, false },
	[CONST_SEALS] = { no_values, seal_bits, 0, "0", false },
	[CONST_MODE] = { no_values, no_values, 0, "0", true },
	[CONST_HUGE] = { huge_pages, no_values, ~0ULL, NULL, false },
	[CONST_VM] = { no_values, vm_bits, 0, "0", false },
};

static const struct {
	const char *event, *field;
	enum constants what;
} fields[] = {
	{ "brk", "ret", CONST_ADDRESS },
	{ "mmap", "prot", CONST_PROT }, { "mmap", "flags", CONST_MAP },
	{ "mmap", "ret", CONST_ADDRESS },
	{ "mremap", "flags", CONST_MREMAP }, { "mremap", "ret", CONST_ADDRESS },
	{ "mprotect", "prot", CONST_PROT },
	{ "madvise", "advice", CONST_ADVICE },
	{ "shmget", "key", CONST_KEY }, { "shmget", "flags", CONST_SHMGET },
	{ "shmat", "flags", CONST_SHMAT }, { "shmat", "ret", CONST_ADDRESS },
	{ "shmctl", "cmd", CONST_SHMCTL },
	{ "memfd", "flags", CONST_MEMFD },
	{ "seal", "cmd", CONST_SEAL_CMD }, { "seal", "seals", CONST_SEALS },
	{ "shm-create", "mode", CONST_MODE },
	{ "minor-fault", "huge", CONST_HUGE }, { "major-fault", "huge", CONST_HUGE },
};

/* Errors that calls about memory return, and those next to them. */
static const struct {
	int err;
	const char *name;
} errors[] = {
#define E(name)	{ name, #name }
	E(EPERM), E(ENOENT), E(ESRCH), E(EINTR), E(EIO), E(ENXIO), E(E2BIG), E(ENOEXEC), E(EBADF),
	E(ECHILD), E(EAGAIN), E(ENOMEM), E(EACCES), E(EFAULT), E(ENOTBLK), E(EBUSY), E(EEXIST),
	E(EXDEV), E(ENODEV), E(ENOTDIR), E(EISDIR), E(EINVAL), E(ENFILE), E(EMFILE), E(ENOTTY),
	E(ETXTBSY), E(EFBIG), E(ENOSPC), E(ESPIPE), E(EROFS), E(EMLINK), E(EPIPE), E(EDOM),
	E(ERANGE), E(EDEADLK), E(ENAMETOOLONG), E(ENOLCK), E(ENOSYS), E(ENOTEMPTY), E(ELOOP),
	E(EIDRM), E(EOVERFLOW), E(EILSEQ), E(EOPNOTSUPP), E(ETIMEDOUT), E(ESTALE), E(EDQUOT),
	E(ECANCELED), E(EHWPOISON),
#undef E
};

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define MAX_ERRNO	4095

const char *constants_errno(int err)
{
	for (size_t i = 0; i < COUNT(errors); i++)
		if (errors[i].err == err)
			return errors[i].name;
	return NULL;
}

static bool find_value(const struct value *at, const char *name, size_t len, __u64 *v)
{
	for (; at && at->name; at++)
		if (strlen(at->name) == len && !strncmp(at->name, name, len)) {
			*v = at->v;
			return true;
		}
	return false;
}

bool constants_value(const char *name, size_t len, __u64 *v)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (i != CONST_HUGE && (find_value(kinds[i].values, name, len, v) ||
					find_value(kinds[i].bits, name, len, v)))
			return true;
	for (size_t i = 0; i < COUNT(errors); i++)
		if (strlen(errors[i].name) == len && !strncmp(errors[i].name, name, len)) {
			*v = (__u64)errors[i].err;
			return true;
		}
	return false;
}

enum constants constants_of(const char *event, const char *field)
{
	for (size_t i = 0; i < COUNT(fields); i++)
		if (!strcmp(fields[i].event, event) && !strcmp(fields[i].field, field))
			return fields[i].what;
	return strcmp(field, "ret") ? CONST_NONE : CONST_RESULT;
}

/* Words joined by |, as much as fits; how long all would be. */
struct words {
	char *buf;
	size_t len, used;
};

static void put(struct words *w, const char *text)
{
	w->used += (size_t)snprintf(w->used < w->len ? w->buf + w->used : NULL,
				    w->used < w->len ? w->len - w->used : 0, "%s%s",
				    w->used ? "|" : "", text);
}

static void put_rest(struct words *w, const struct kind *k, __u64 v)
{
	char number[32];

	snprintf(number, sizeof(number), k->octal ? "%#llo" : "0x%llx", (unsigned long long)v);
	put(w, number);
}

/* The size of huge pages is in the upper bits of mmap()'s flags. */
static __u64 put_huge(struct words *w, __u64 v)
{
	const unsigned int shift = (unsigned int)(v >> 26 & 0x3f);
	char text[32];

	if (!(v & 0x40000) || shift < 10)
		return v;
	if (shift < 20)
		snprintf(text, sizeof(text), "MAP_HUGE_%uKB", 1U << (shift - 10));
	else if (shift < 30)
		snprintf(text, sizeof(text), "MAP_HUGE_%uMB", 1U << (shift - 20));
	else
		snprintf(text, sizeof(text), "MAP_HUGE_%lluGB", 1ULL << (shift - 30));
	put(w, text);
	return v & ~(0x3fULL << 26);
}

static int put_words(const struct kind *k, enum constants what, __u64 v, char *buf, size_t len)
{
	struct words w = { buf, len, 0 };
	const __u64 one = v & k->field;
	const struct value *at;

	for (at = k->values; at->name && at->v != one; at++)
		;
	if (at->name && k->field) {
		put(&w, at->name);
		v &= ~k->field;
	}
	for (const struct value *b = k->bits; b->name; b++)
		if (v & b->v) {
			put(&w, b->name);
			v &= ~b->v;
			if (what == CONST_MAP && b->v == 0x40000)
				v = put_huge(&w, v | b->v) & ~b->v;
		}
	if (v || (!w.used && !k->none))
		put_rest(&w, k, v);
	else if (!w.used)
		put(&w, k->none);
	return (int)w.used;
}

static int put_result(enum constants what, __u64 v, char *buf, size_t len)
{
	const __s64 n = (__s64)v;
	const char *name;

	if (n < 0 && n >= -MAX_ERRNO) {
		name = constants_errno((int)-n);
		if (name)
			return snprintf(buf, len, "-%s", name);
		return snprintf(buf, len, "%lld", (long long)n);
	}
	if (what == CONST_ADDRESS)
		return snprintf(buf, len, "0x%llx", (unsigned long long)v);
	return snprintf(buf, len, "%lld", (long long)n);
}

int constants_text(enum constants what, __u64 v, char *buf, size_t len)
{
	if (len)
		*buf = '\0';
	if (what == CONST_RESULT || what == CONST_ADDRESS)
		return put_result(what, v, buf, len);
	if (what > CONST_ADDRESS && what < NR_CONSTANTS)
		return put_words(&kinds[what], what, v, buf, len);
	return snprintf(buf, len, "%llu", (unsigned long long)v);
}
