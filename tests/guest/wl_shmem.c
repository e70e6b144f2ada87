// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_shmem DIR [HUGE]: pages that enter shared memory in all ways there are: memfd, files
 * in DIR (on tmpfs) and in HUGE (the same, huge=always), shm_open(), shmget(), anonymous
 * mappings.  Prints for each function the pages that its file has now, as fstat() tells,
 * and what the file is called.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FN	__attribute__((noipa))
#define PAGE	4096UL
#define CHUNK	65536UL
#define CHUNKS	40UL
#define LEN	(CHUNK * CHUNKS)
#define END	__asm__ volatile("")

static char chunk[CHUNK];

static void check(int bad, const char *what)
{
	if (!bad)
		return;
	perror(what);
	exit(1);
}

static int memfd(const char *name)
{
	int fd = (int)syscall(SYS_memfd_create, name, 0);

	check(fd < 0, "memfd_create");
	return fd;
}

static int new_file(const char *dir, const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	check(fd < 0, path);
	return fd;
}

static char *map(int fd, int flags)
{
	char *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);

	check(p == MAP_FAILED, "mmap");
	return p;
}

static void say(const char *function, int fd, const char *dir, const char *name)
{
	struct stat st;

	check(fstat(fd, &st), "fstat");
	printf("%s %lu %s%s%s\n", function, (unsigned long)st.st_blocks * 512 / PAGE,
	       dir, *dir ? "/" : "", name);
}

FN void s_write(int fd)
{
	for (unsigned long i = 0; i < CHUNKS; i++)
		check(write(fd, chunk, CHUNK) != (ssize_t)CHUNK, "write");
	END;
}

/* The same function is called for several files. */
FN void s_memfd(int fd)
{
	s_write(fd);
	END;
}

FN void s_file(int fd)
{
	s_write(fd);
	END;
}

FN void s_huge(int fd)
{
	s_write(fd);
	END;
}

/* Once more: no page is new. */
FN void s_again(int fd)
{
	check(lseek(fd, 0, SEEK_SET), "lseek");
	s_write(fd);
	END;
}

FN void s_touch(char *p)
{
	for (unsigned long i = 0; i < LEN; i += PAGE)
		((volatile char *)p)[i] = 1;
	END;
}

FN void s_mapped(int fd)
{
	check(ftruncate(fd, LEN), "ftruncate");
	s_touch(map(fd, 0));
	END;
}

FN void s_fallocate(int fd)
{
	check(fallocate(fd, 0, 0, LEN), "fallocate");
	END;
}

FN void s_sendfile(int fd, int from)
{
	off_t at = 0;

	while (at < (off_t)LEN)
		check(sendfile(fd, from, &at, LEN - (size_t)at) <= 0, "sendfile");
	END;
}

FN void s_shmget(void)
{
	int id = shmget(IPC_PRIVATE, LEN, IPC_CREAT | 0600);
	char *p = shmat(id, NULL, 0);

	check(p == (void *)-1, "shmat");
	shmctl(id, IPC_RMID, NULL);
	s_touch(p);
	END;
}

FN void s_anonymous(void)
{
	s_touch(map(-1, MAP_ANONYMOUS));
	END;
}

/* Read only: a page of its own nevertheless, for the file has no other. */
FN void s_read(int fd)
{
	volatile const char *p;

	check(ftruncate(fd, LEN), "ftruncate");
	p = map(fd, 0);
	for (unsigned long i = 0; i < LEN; i += PAGE)
		(void)p[i];
	END;
}

FN void s_race(char *p)
{
	s_touch(p);
	END;
}

static void *racer(void *p)
{
	s_race(p);
	return NULL;
}

static void race(int fd)
{
	pthread_t ids[4];
	char *p;

	check(ftruncate(fd, LEN), "ftruncate");
	p = map(fd, 0);
	for (int i = 0; i < 4; i++)
		check(pthread_create(&ids[i], NULL, racer, p), "pthread_create");
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : "/dev/shm";
	int fd, from;

	memset(chunk, 1, sizeof(chunk));
	fd = memfd("frames");
	s_memfd(fd);
	say("s_memfd", fd, "", "memfd:frames");
	s_again(fd);
	printf("s_again 0 -\n");
	from = fd;
	fd = new_file(dir, "written");
	s_file(fd);
	say("s_file", fd, dir, "written");
	fd = new_file(dir, "mapped file");
	s_mapped(fd);
	say("s_mapped", fd, dir, "mapped file");
	fd = new_file(dir, "allocated");
	s_fallocate(fd);
	say("s_fallocate", fd, dir, "allocated");
	fd = new_file(dir, "sent");
	s_sendfile(fd, from);
	say("s_sendfile", fd, dir, "sent");
	fd = shm_open("/wl_shmem", O_RDWR | O_CREAT | O_TRUNC, 0600);
	check(fd < 0, "shm_open");
	s_read(fd);
	say("s_read", fd, "/dev/shm", "wl_shmem");
	shm_unlink("/wl_shmem");
	s_shmget();
	printf("s_shmget %lu SYSV00000000\n", LEN / PAGE);
	s_anonymous();
	printf("s_anonymous %lu dev/zero\n", LEN / PAGE);
	fd = memfd("race");
	race(fd);
	say("s_race", fd, "", "memfd:race");
	if (argc > 2) {
		fd = new_file(argv[2], "huge");
		s_huge(fd);
		say("s_huge", fd, argv[2], "huge");
	}
	return 0;
}
