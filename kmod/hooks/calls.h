/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_CALLS_H
#define _MEMTAP_CALLS_H

#include <linux/types.h>

#include "hooks/hooks.h"
#include "record/arch.h"

/*
 * System calls of all ABIs: how their arguments are had, and what is told of them to
 * those who ask for more than counts.
 */
enum call_abi {
	ABI_DIRECT,		/* as the function's own */
	ABI_REGS,		/* as the user's registers */
	ABI_REGS32,		/* the same, of a 32-bit call */
	ABI_IPC32,		/* the same, of ipc(), in which several calls are one */
};

/* Candidates in order: the first that the kernel has is taken. */
struct call_name {
	const char *symbol;
	enum call_abi abi;
};

/*
 * Before v4.17 one function served all ABIs (4.4 and 3.10 know it as SyS_ too);
 * since then each has its own, that takes the user's registers.
 */
#define NATIVE(call)							\
	{ "__x64_sys_" call, ABI_REGS }, { "__arm64_sys_" call, ABI_REGS }, \
	{ "sys_" call, ABI_DIRECT }, { "SyS_" call, ABI_DIRECT }

/* Those that follow are for what the others do not see: has this kernel none of it? */
static inline bool memtap_call_needs_none(const struct call_name *names)
{
	return names->abi == ABI_REGS32 && !MEMTAP_CALLS32_APART;
}

static inline unsigned long memtap_call_arg(enum call_abi abi, const struct pt_regs *regs, u32 n)
{
	const struct pt_regs *user;

	if (abi == ABI_DIRECT)
		return memtap_karg(regs, n);
	user = (const struct pt_regs *)memtap_karg(regs, 0);
	return abi == ABI_REGS ? memtap_sysarg(user, n) : memtap_sysarg32(user, n);
}

#define CALL_ARGS	6
#define CALL_PATH	128		/* with the 0 */

/* The record of an event that is a call.  All that memtap knows put the lowest byte first. */
struct memtap_call_record {
	u64 arg[CALL_ARGS];
	s64 ret;
	char path[CALL_PATH];
};

/* Its length without the path. */
#define CALL_RECORD_SHORT	offsetof(struct memtap_call_record, path)

#define S32	(4 | MEMTAP_TYPE_SIGNED)
#define S64	(8 | MEMTAP_TYPE_SIGNED)

#define CALL_FIELD(_name, _arg, _type, _flags)				\
	{ _name, offsetof(struct memtap_call_record, arg[_arg]),	\
	  (_type) & MEMTAP_TYPE_BYTES, _type, _flags }
#define CALL_RET(_type, _flags)						\
	{ "ret", offsetof(struct memtap_call_record, ret),		\
	  (_type) & MEMTAP_TYPE_BYTES, _type, _flags }
#define CALL_FIELD_PATH(_name)						\
	{ _name, offsetof(struct memtap_call_record, path), CALL_PATH, MEMTAP_TYPE_TEXT, 0 }

struct file;

/*
 * calls.c: what current's open file is called, as it sees it, or the end of that; "" where
 * nothing is open, or cannot be said.  Preemption is off, no lock is held.
 */
void memtap_call_path(int fd, char path[CALL_PATH]);
void memtap_call_file_path(const struct file *file, char path[CALL_PATH]);

#endif
