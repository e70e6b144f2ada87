// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Work that makes the kernel allocate, in a child with its own namespaces, so that its memory is
 * freed with the child.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <unistd.h>

#include "selftest/kernel.h"

#define MESSAGES	30
#define MESSAGE_SIZE	500		/* all of them fit into one queue */
#define LOCKS		100
#define PIPES		4
#define PIPE_PAGES	16		/* what a pipe takes as it is made */
#define PIPE_BYTES	(PIPE_PAGES * 4096)
#define MOUNTS		7

static int queue = -1, locked = -1, pipes[PIPES][2], mounted;

static int prepare_messages(void)
{
	if (unshare(CLONE_NEWIPC))
		return -errno;
	queue = msgget(IPC_PRIVATE, 0600);
	return queue < 0 ? -errno : 0;
}

static int keep_messages(void)
{
	static struct {
		long type;
		char text[MESSAGE_SIZE];
	} m = { 1, "" };

	for (int i = 0; i < MESSAGES; i++)
		if (msgsnd(queue, &m, MESSAGE_SIZE, IPC_NOWAIT))
			return -errno;
	return 0;
}

static int give_back_messages(void)
{
	static struct {
		long type;
		char text[MESSAGE_SIZE];
	} m;

	for (int i = 0; i < MESSAGES; i++)
		if (msgrcv(queue, &m, MESSAGE_SIZE, 0, IPC_NOWAIT) < 0)
			return -errno;
	return 0;
}

/* To read: nobody is kept out, and nobody can be who does the same. */
static int set_locks(short type, int nr)
{
	for (int i = 0; i < nr; i++) {
		struct flock l = { .l_type = type, .l_whence = SEEK_SET,
				   .l_start = 2 * i, .l_len = 1 };

		if (fcntl(locked, F_SETLK, &l))
			return -errno;
	}
	return 0;
}

static int prepare_locks(void)
{
	int err;

	locked = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (locked < 0)
		return -errno;
	err = set_locks(F_RDLCK, 1);	/* what is made once for the file */
	return err ? err : set_locks(F_UNLCK, 1);
}

static int keep_locks(void)
{
	return set_locks(F_RDLCK, LOCKS);
}

static int free_locks(void)
{
	return set_locks(F_UNLCK, LOCKS);
}

static int prepare_pipes(void)
{
	/* who has many pipes gets smaller ones */
	for (int i = 0; i < PIPES; i++)
		if (pipe2(pipes[i], O_CLOEXEC | O_NONBLOCK) ||
		    (fcntl(pipes[i][1], F_GETPIPE_SZ) != PIPE_BYTES &&
		     fcntl(pipes[i][1], F_SETPIPE_SZ, PIPE_BYTES) < 0))
			return -errno;
	return 0;
}

static int keep_pages(void)
{
	static char pages[PIPE_BYTES];

	for (int i = 0; i < PIPES; i++)
		if (write(pipes[i][1], pages, sizeof(pages)) != (ssize_t)sizeof(pages))
			return -ENOSPC;
	return 0;
}

static int release_pages(void)
{
	for (int i = 0; i < PIPES; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	return 0;
}

static int prepare_mounts(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -errno;
	return 0;
}

/* One on the other; /proc is a directory that all machines have. */
static int keep_mounts(void)
{
	for (; mounted < MOUNTS; mounted++)
		if (mount("memtap-selftest", "/proc", "tmpfs", 0, "size=64k"))
			return -errno;
	return 0;
}

static int give_back_mounts(void)
{
	for (; mounted; mounted--)
		if (umount2("/proc", 0))
			return -errno;
	return 0;
}

/* ---- kinds of memory ---- */

const struct st_kind st_kinds[ST_KINDS] = {
	{ "slab, kmalloc", "messages", "System V messages", MESSAGES,
	  prepare_messages, keep_messages, give_back_messages,
	  "kmem:kmalloc", "kmem:kmalloc_node", "kmem:kfree",
	  { "load_msg", "alloc_msg", "do_msgsnd" }, { "free_msg", "do_msgrcv" } },
	{ "slab, a cache", "file locks", "locks on /dev/null", LOCKS,
	  prepare_locks, keep_locks, free_locks,
	  "kmem:kmem_cache_alloc", NULL, "kmem:kmem_cache_free",
	  { "locks_alloc_lock", "posix_lock_inode", "__posix_lock_file", "fcntl_setlk" },
	  { "locks_free_lock", "locks_dispose_list", "posix_lock_inode", "__posix_lock_file",
	    "fcntl_setlk" } },
	{ "pages", "pages", "written into pipes", PIPES * PIPE_PAGES,
	  prepare_pipes, keep_pages, release_pages,
	  "kmem:mm_page_alloc", NULL, "kmem:mm_page_free",
	  { "pipe_write", "anon_pipe_" }, { "pipe_release", "free_pipe_info", "anon_pipe_" } },
	{ "per-CPU memory", "counters", "of file systems in memory", MOUNTS,
	  prepare_mounts, keep_mounts, give_back_mounts,
	  "percpu:percpu_alloc_percpu", NULL, "percpu:percpu_free_percpu",
	  { "shmem_fill_super" }, { "shmem_put_super" } },
};

void st_work_kernel(int step, int err[ST_KINDS])
{
	for (int i = 0; i < ST_KINDS; i++) {
		const struct st_kind *k = &st_kinds[i];

		if (!err[i])
			err[i] = step == ST_PREPARE ? k->prepare() :
				 step == ST_KEEP ? k->keep() : k->give_back();
	}
}
