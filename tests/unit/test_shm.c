// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/target/shm.c ctl/target/procmaps.c */
/* What /proc says of shared memory, and who holds it. */
#include <string.h>
#include <sys/sysmacros.h>

#include "target/maps.h"
#include "target/shm.h"
#include "tap.h"

pid_t maps_thread(pid_t pid)
{
	return pid;
}

int maps_slurp(int dir, const char *path, char **text, size_t *len)
{
	return -1;
}

static struct shm s;

static const char sysv[] =
	"       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  "
	"cgid      atime      dtime      ctime                   rss                  swap\n"
	"     19796          3   640                  8192  1234  1240      2  1000   100  1000  "
	"100 1700000000 1700000001 1700000002                  4096                  2048\n"
	"        -2      32769  1600 18446744073709547520     1     0      0     0     0     0 "
	"    0          0          0          1                     0                     0\n"
	"nonsense 1 2 3\n"
	"         0         -7   600                  8192     1     0      0     0     0     0 "
	"    0          0          0          1                     0                     0\n";

static const char maps[] =
	"7f0000000000-7f0000002000 rw-s 00000000 00:01 3   /SYSV00004d54 (deleted)\n"
	"7f0000002000-7f0000004000 r--s 00000000 00:01 3   /SYSV00004d54 (deleted)\n"
	"7f0000004000-7f0000005000 rw-s 00000000 00:01 99  /SYSV00000000 (deleted)\n"
	"7f0000005000-7f0000006000 rw-s 00000000 00:01 3   /memfd:with blanks (deleted)\n"
	"7f0000006000-7f0000007000 rw-s 00000000 00:1a 7   /dev/shm/queue\n"
	"7f0000007000-7f0000008000 rw-s 00000000 00:1a 8   /dev/shm/gone (deleted)\n"
	"7f0000008000-7f0000009000 rw-p 00000000 08:01 9   /usr/lib/libc.so.6\n"
	"7f0000009000-7f000000a000 rw-p 00000000 00:00 0\n"
	"7f000000a000-7f000000b000 rw-p 00000000 08:01 3   /SYSVabc\n";

static int see(const struct procmap *m, void *ctx)
{
	struct shm_segment *at;

	return shm_add_map(&s, *(pid_t *)ctx, m, &at);
}

static const struct shm_segment *named(const char *name)
{
	for (size_t i = 0; i < s.nr; i++)
		if (!strcmp(s.at[i].name, name))
			return &s.at[i];
	return NULL;
}

static void read_maps(pid_t pid)
{
	char text[sizeof(maps)];
	int ret;

	memcpy(text, maps, sizeof(maps));
	ret = procmaps_parse(text, see, &pid);
	is(ret, 0, "the mappings of %d", pid);
}

static void test_sysv(void)
{
	char text[sizeof(sysv)];
	const struct shm_segment *at;

	memcpy(text, sysv, sizeof(sysv));
	is(shm_parse_sysv(&s, text), 0, "a table");
	is(s.nr, 2, "lines that are none are left out");
	at = named("shmid 3");
	ok(at && at->kind == SHM_SYSV && at->key == 19796 && at->perms == 0640 &&
	   at->size == 8192 && at->used == 6144 && at->swapped == 2048 && at->attached == 2 &&
	   at->creator == 1234 && at->last == 1240, "all of a segment");
	at = named("shmid 32769");
	ok(at && at->key == -2 && at->perms & SHM_DEST && at->size == 18446744073709547520ULL,
	   "one that was removed, with a key below 0");
}

static void test_holders(void)
{
	const struct shm_segment *at;
	struct shm_segment *which;

	s.posix_dev = makedev(0, 0x1a);
	read_maps(10);
	read_maps(11);
	at = named("shmid 3");
	ok(at->nr_holders == 2 && at->holders[0].pid == 10 && at->holders[0].maps == 2 &&
	   at->holders[1].pid == 11, "two processes map it twice");
	is(s.nr, 5, "a segment of another namespace is none of ours, and a file no memory");
	at = named("memfd:with blanks");
	ok(at && at->kind == SHM_MEMFD && at->inode == 3 && at->dev == makedev(0, 1) && !at->sized,
	   "a memfd, which has the inode of a segment");
	ok(named("/dev/shm/queue") && named("/dev/shm/gone"), "those of POSIX, also removed ones");
	is(shm_add_fd(&s, 11, "/memfd:with blanks (deleted)", makedev(0, 1), 3, &which), 0, "fd");
	ok(which && which->nr_holders == 2 && which->holders[1].fds == 1 &&
	   which->holders[1].maps == 1, "a descriptor and a mapping of one process");
	is(shm_add_fd(&s, 12, "/etc/passwd", makedev(8, 1), 3, &which), 0, "a file");
	ok(!which, "is none");
	is(shm_add_file(&s, "queue", 7, &which), 0, "a file of /dev/shm");
	ok(which && which->nr_holders == 2 && s.nr == 5, "is the one that is mapped");
	is(shm_add_file(&s, "idle", 70, &which), 0, "one that nobody holds");
	ok(named("/dev/shm/idle") && !named("/dev/shm/idle")->nr_holders, "is there, too");
}

int main(void)
{
	test_sysv();
	test_holders();
	shm_free(&s);
	return tap_done();
}
