// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count calls on shared memory, at their return: the four of System V, of each ABI;
 * memfd_create(), seals; files on tmpfs that are created and sized, as shm_open() does.
 *
 * Old 32-bit programs use one call for all of System V's: ipc().
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "hooks/calls.h"
#include "record/record.h"

#include "compat/kernel_walk.h"
#include "compat/kprobe.h"
#include "compat/shmem.h"
#include "compat/user_words.h"

struct shm_hook;

/* From entry to return. */
struct shm_call {
	u64 arg[CALL_ARGS];
	u64 result_at;			/* where ipc() leaves what shmat() returns; or 0 */
	char path[CALL_PATH];		/* of files: the last member */
};

struct shm_hook {
	struct memtap_hook hook;
	struct kretprobe probe;
	const struct call_name *names;
	enum call_abi abi;
	u32 ipc;			/* which call it is of ipc() */
	bool has_path;
	bool is_int;			/* the function returns no long */
	/* what the entry knows; false: this is no such call */
	bool (*begin)(struct shm_hook *sh, struct shm_call *c, struct pt_regs *regs);
	/* what only the return does, or NULL */
	void (*end)(struct shm_call *c, long ret);
	bool stays;			/* it could not be taken away */
	u64 missed;			/* of earlier attachments */
};

static bool begin_call(struct shm_hook *sh, struct shm_call *c, struct pt_regs *regs)
{
	u32 i;

	for (i = 0; i < CALL_ARGS; i++)
		c->arg[i] = memtap_call_arg(sh->abi, regs, i);
	return true;
}

#define IPC_SHMAT	21
#define IPC_SHMDT	22
#define IPC_SHMGET	23
#define IPC_SHMCTL	24

/* ipc(call, first, second, third, ptr, fifth); the upper half of call is a version */
static bool begin_ipc(struct shm_hook *sh, struct shm_call *c, struct pt_regs *regs)
{
	u64 a[CALL_ARGS];
	u32 i;

	for (i = 0; i < CALL_ARGS; i++)
		a[i] = memtap_call_arg(sh->abi, regs, i);
	if ((a[0] & 0xffff) != sh->ipc)
		return false;
	switch (sh->ipc) {
	case IPC_SHMAT:
		c->arg[0] = a[1];
		c->arg[1] = a[4];
		c->arg[2] = a[2];
		c->result_at = a[3];
		break;
	case IPC_SHMDT:
		c->arg[0] = a[4];
		break;
	case IPC_SHMGET:
		c->arg[0] = a[1];
		c->arg[1] = a[2];
		c->arg[2] = a[3];
		break;
	default:
		c->arg[0] = a[1];
		c->arg[1] = a[2];
		c->arg[2] = a[4];
		break;
	}
	return true;
}

static bool begin_sysv(struct shm_hook *sh, struct shm_call *c, struct pt_regs *regs)
{
	return sh->abi == ABI_IPC32 ? begin_ipc(sh, c, regs) : begin_call(sh, c, regs);
}

/* A new file has its name when it is there. */
static void end_memfd(struct shm_call *c, long ret)
{
	if (ret >= 0)
		memtap_call_path((int)ret, c->path);
}

/* memfd_fcntl(file, cmd, arg) */
static bool begin_seal(struct shm_hook *sh, struct shm_call *c, struct pt_regs *regs)
{
	c->arg[1] = memtap_karg(regs, 1);
	c->arg[2] = memtap_karg(regs, 2);
	if (memtap_source_has_steps(&sh->hook.source))
		memtap_call_file_path((const struct file *)memtap_karg(regs, 0), c->path);
	return true;
}

/* Who calls holds it; its name changes under a lock that nobody may take here. */
static void name_dentry(const struct dentry *d, char path[CALL_PATH])
{
	u32 len = min_t(u32, READ_ONCE(d->d_name.len), CALL_PATH - 1);

	if (copy_from_kernel_nofault(path, READ_ONCE(d->d_name.name), len))
		len = 0;
	path[len] = '\0';
}

/* create(dir, dentry, mode, ...), since v5.12 behind another argument */
static bool begin_create(struct shm_hook *sh, struct shm_call *c, struct pt_regs *regs)
{
	c->arg[0] = memtap_karg(regs, MEMTAP_INODE_OP_FIRST + 2) & 07777;
	name_dentry((const struct dentry *)memtap_karg(regs, MEMTAP_INODE_OP_FIRST + 1),
		    c->path);
	return true;
}

/* setattr(dentry, attr), the same */
static bool begin_size(struct shm_hook *sh, struct shm_call *c, struct pt_regs *regs)
{
	const struct iattr *attr = (void *)memtap_karg(regs, MEMTAP_INODE_OP_FIRST + 1);

	if (!(attr->ia_valid & ATTR_SIZE))
		return false;
	c->arg[0] = attr->ia_size;
	name_dentry((const struct dentry *)memtap_karg(regs, MEMTAP_INODE_OP_FIRST), c->path);
	return true;
}

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct shm_call *c = (struct shm_call *)ri->data;
	struct shm_hook *sh;

	if (!rp || !current->mm)
		return 1;
	sh = container_of(rp, struct shm_hook, probe);
	memset(c, 0, offsetof(struct shm_call, path));
	if (sh->has_path)
		c->path[0] = '\0';
	return !sh->begin(sh, c, regs);
}

static noinline void tell(struct shm_hook *sh, struct shm_call *c, long ret,
			  struct memtap_hit *hit)
{
	struct memtap_call_record r;

	/* steps may read all of it, also behind a path's end */
	memset(&r, 0, sizeof(r));
	if (sh->end)
		sh->end(c, ret);
	memcpy(r.arg, c->arg, sizeof(r.arg));
	r.ret = ret;
	hit->record = &r;
	hit->record_len = CALL_RECORD_SHORT;
	if (sh->has_path) {
		strscpy(r.path, c->path, sizeof(r.path));
		hit->record_len = sizeof(r);
	}
	memtap_hit(&sh->hook.source, hit);
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct memtap_hit hit = {
		.flags = MEMTAP_HIT_USER | MEMTAP_HIT_TASK | MEMTAP_HIT_SYSCALL,
	};
	struct shm_call *c = (struct shm_call *)ri->data;
	long ret = regs_return_value(regs);
	struct shm_hook *sh;
	u32 at;

	if (!rp)
		return 0;
	memtap_note_trampoline(regs);
	sh = container_of(rp, struct shm_hook, probe);
	hit.sym = (unsigned long)rp->kp.addr;
	if (sh->is_int)
		ret = (int)ret;
	if (IS_ERR_VALUE(ret))
		hit.key = MEMTAP_KEY_FAILED;
	else if (c->result_at && memtap_user_bytes(&at, c->result_at, sizeof(at)))
		ret = at;
	if (unlikely(memtap_source_has_steps(&sh->hook.source)))
		tell(sh, c, ret, &hit);
	else
		memtap_hit(&sh->hook.source, &hit);
	return 0;
}

static int try_name(struct shm_hook *sh, const struct call_name *name)
{
	memset(&sh->probe, 0, sizeof(sh->probe));
	sh->probe.kp.symbol_name = name->symbol;
	sh->probe.entry_handler = on_entry;
	sh->probe.handler = on_return;
	sh->probe.data_size = sh->has_path ? sizeof(struct shm_call) :
			      offsetof(struct shm_call, path);
	sh->probe.maxactive = max_t(int, 128, 4 * num_possible_cpus());
	sh->abi = name->abi;
	return memtap_kretprobe_register(&sh->probe);
}

static int attach(struct memtap_hook *h)
{
	struct shm_hook *sh = container_of(h, struct shm_hook, hook);
	const struct call_name *name;
	int err = -ENOENT;

	if (sh->stays)
		return -EBUSY;
	for (name = sh->names; name->symbol && err && err != -ENOMEM; name++) {
		err = try_name(sh, name);
		if (!err)
			strscpy(h->target, name->symbol, sizeof(h->target));
	}
	if (err)
		strscpy(h->target, sh->names[0].symbol, sizeof(h->target));
	return err == -ENOENT && memtap_call_needs_none(sh->names) ? MEMTAP_NEEDS_NONE : err;
}

static void detach(struct memtap_hook *h)
{
	struct shm_hook *sh = container_of(h, struct shm_hook, hook);

	sh->stays = !memtap_kretprobe_unregister(&sh->probe);
	sh->missed += memtap_kretprobe_missed(&sh->probe);
	sh->probe.nmissed = 0;
	sh->probe.kp.nmissed = 0;
}

static u64 missed(struct memtap_hook *h)
{
	struct shm_hook *sh = container_of(h, struct shm_hook, hook);

	return sh->missed + memtap_kretprobe_missed(&sh->probe);
}

static const struct memtap_hook_ops shm_ops = {
	.attach = attach,
	.detach = detach,
	.missed = missed,
};

#define SHM_HOOK(_var, _begin, _end, _path, _ipc, ...)			\
	SHM_HOOK_ANY(_var, _begin, _end, _path, false, _ipc, __VA_ARGS__)
/* Operations of inodes. */
#define SHM_HOOK_INT(_var, _begin, ...)					\
	SHM_HOOK_ANY(_var, _begin, NULL, true, true, 0, __VA_ARGS__)

#define SHM_HOOK_ANY(_var, _begin, _end, _path, _int, _ipc, ...)		\
static const struct call_name _var##_names[] = { __VA_ARGS__, { NULL, 0 } }; \
static struct shm_hook _var = {						\
	.hook = { .ops = &shm_ops, .way = MEMTAP_WAY_KRETPROBE },	\
	.names = _var##_names,						\
	.begin = _begin,						\
	.end = _end,							\
	.has_path = _path,						\
	.is_int = _int,							\
	.ipc = _ipc,							\
}

/* Three ways: as the machine's programs do, as 32-bit ones, and those by ipc(). */
#define SYSV(_call, _name, _name32, _nr)				\
SHM_HOOK(_call##_native, begin_sysv, NULL, false, 0, NATIVE(_name));	\
SHM_HOOK(_call##_ia32, begin_sysv, NULL, false, 0, { _name32, ABI_REGS32 }); \
SHM_HOOK(_call##_ipc, begin_sysv, NULL, false, _nr,			\
	 { "__ia32_compat_sys_ipc", ABI_IPC32 })

SYSV(shmget, "shmget", "__ia32_sys_shmget", IPC_SHMGET);
SYSV(shmat, "shmat", "__ia32_compat_sys_shmat", IPC_SHMAT);
SYSV(shmdt, "shmdt", "__ia32_sys_shmdt", IPC_SHMDT);
SYSV(shmctl, "shmctl", "__ia32_compat_sys_shmctl", IPC_SHMCTL);

SHM_HOOK(memfd_native, begin_call, end_memfd, true, 0, NATIVE("memfd_create"));
SHM_HOOK(memfd_ia32, begin_call, end_memfd, true, 0,
	 { "__ia32_sys_memfd_create", ABI_REGS32 });
SHM_HOOK(seal_all, begin_seal, NULL, true, 0,
	 { "memfd_fcntl", ABI_DIRECT }, { "shmem_fcntl", ABI_DIRECT });
SHM_HOOK_INT(create_all, begin_create, { "shmem_create", ABI_DIRECT });
SHM_HOOK_INT(size_all, begin_size, { "shmem_setattr", ABI_DIRECT });

static const struct memtap_builtin_field shmget_fields[] = {
	CALL_FIELD("key", 0, 4, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD("size", 1, 8, 0),
	CALL_FIELD("flags", 2, 4, MEMTAP_FIELD_ADDRESS),
	CALL_RET(S64, 0),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field shmat_fields[] = {
	CALL_FIELD("shmid", 0, S32, 0),
	CALL_FIELD("addr", 1, 8, MEMTAP_FIELD_ADDRESS),
	CALL_FIELD("flags", 2, 4, MEMTAP_FIELD_ADDRESS),
	CALL_RET(S64, MEMTAP_FIELD_ADDRESS),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field shmdt_fields[] = {
	CALL_FIELD("addr", 0, 8, MEMTAP_FIELD_ADDRESS),
	CALL_RET(S64, 0),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field shmctl_fields[] = {
	CALL_FIELD("shmid", 0, S32, 0),
	CALL_FIELD("cmd", 1, 4, 0),
	CALL_FIELD("buf", 2, 8, MEMTAP_FIELD_ADDRESS),
	CALL_RET(S64, 0),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field memfd_fields[] = {
	CALL_FIELD("flags", 1, 4, MEMTAP_FIELD_ADDRESS),
	CALL_RET(S64, 0),
	CALL_FIELD_PATH("file"),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field seal_fields[] = {
	CALL_FIELD("cmd", 1, 4, 0),
	CALL_FIELD("seals", 2, 4, MEMTAP_FIELD_ADDRESS),
	CALL_RET(S64, 0),
	CALL_FIELD_PATH("file"),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field create_fields[] = {
	CALL_FIELD("mode", 0, 4, MEMTAP_FIELD_ADDRESS),
	CALL_RET(S64, 0),
	CALL_FIELD_PATH("file"),
	{ NULL, 0, 0, 0, 0 },
};

static const struct memtap_builtin_field size_fields[] = {
	CALL_FIELD("size", 0, 8, 0),
	CALL_RET(S64, 0),
	CALL_FIELD_PATH("file"),
	{ NULL, 0, 0, 0, 0 },
};

#define SHM_EVENT(_var, _name, _summary, _fields, _nr, ...)		\
const struct memtap_builtin _var = {					\
	.name = _name,							\
	.group = "shm",							\
	.summary = _summary,						\
	.unit = MEMTAP_UNIT_NONE,					\
	.fields = _fields,						\
	.nr_hooks = _nr,						\
	.hooks = { __VA_ARGS__ },					\
}

SHM_EVENT(memtap_shmget, "shmget", "shmget() calls", shmget_fields, 3,
	  &shmget_native.hook, &shmget_ia32.hook, &shmget_ipc.hook);
SHM_EVENT(memtap_shmat, "shmat", "shmat() calls", shmat_fields, 3,
	  &shmat_native.hook, &shmat_ia32.hook, &shmat_ipc.hook);
SHM_EVENT(memtap_shmdt, "shmdt", "shmdt() calls", shmdt_fields, 3,
	  &shmdt_native.hook, &shmdt_ia32.hook, &shmdt_ipc.hook);
SHM_EVENT(memtap_shmctl, "shmctl", "shmctl() calls", shmctl_fields, 3,
	  &shmctl_native.hook, &shmctl_ia32.hook, &shmctl_ipc.hook);
SHM_EVENT(memtap_memfd, "memfd", "memfd_create() calls", memfd_fields, 2,
	  &memfd_native.hook, &memfd_ia32.hook);
SHM_EVENT(memtap_seal, "seal", "fcntl() calls about the seals of a memfd", seal_fields, 1,
	  &seal_all.hook);
SHM_EVENT(memtap_shm_create, "shm-create", "files made on tmpfs: shm_open()", create_fields, 1,
	  &create_all.hook);
SHM_EVENT(memtap_shm_size, "shm-size", "files on tmpfs and memfd that get a size", size_fields, 1,
	  &size_all.hook);
