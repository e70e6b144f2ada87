// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls about memory with known arguments and results, also such that fail: what memtap is
 * to print of each, in order, for each thread.
 *
 *	wl_calls mmap DIR FILE	for `memtap mmap --snoop --all`
 *	wl_calls shm DIR FILE	for `memtap shm`
 *	wl_calls hold FILE	holds some shared memory until it is killed: a segment twice, a
 *				memfd, a file of shm_open(); then writes FILE
 *	wl_calls fault DIR FILE	for `memtap faults --by file`: FILE has pages and paths
 *	wl_calls where FILE	for `memtap faults --by mapping`: FILE has pages, what is allowed
 *				there, and where it is
 *	wl_calls huge N		for `memtap faults --huge`: maps N huge pages, splits the mapping of
 *				one and one itself, says where they are
 *	wl_calls hugetlb N	the same of hugetlbfs, and splits nothing
 *	wl_calls major DIR N	reads N pages of a file, each from the disk
 *	wl_calls many N		calls mmap() N times, which fails
 *	wl_calls rate N S	N such calls a second, for S seconds
 *	wl_calls exit		leaves in the middle of others' calls
 *
 * A line of FILE is "COMM CALL ..."; blanks between columns are one.  Before and behind all
 * that is known there is a call which fails as nobody's would: munmap() of 77 bytes at 1, or
 * shmdt() of 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096UL
#define TEXT	(256 << 10)

#ifdef __i386__
#define MMAP(addr, len, prot, flags, fd, offset) \
	syscall(SYS_mmap2, addr, len, prot, flags, fd, (offset) / PAGE)
#else
#define MMAP(addr, len, prot, flags, fd, offset) \
	syscall(SYS_mmap, addr, len, prot, flags, fd, offset)
#endif

struct truth {
	char name[16];
	size_t len;
	char text[TEXT];
};

static struct truth truths[2];
static const char *dir;
static pthread_barrier_t barrier;

__attribute__((format(printf, 2, 3)))
static void say(struct truth *t, const char *fmt, ...)
{
	va_list ap;

	t->len += (size_t)sprintf(t->text + t->len, "%s ", t->name);
	va_start(ap, fmt);
	t->len += (size_t)vsprintf(t->text + t->len, fmt, ap);
	va_end(ap);
	t->text[t->len++] = '\n';
}

static const char *errno_name(int err)
{
	switch (err) {
	case EINVAL: return "EINVAL";
	case EBADF: return "EBADF";
	case ENOMEM: return "ENOMEM";
	case EACCES: return "EACCES";
	case ENODEV: return "ENODEV";
	case EFAULT: return "EFAULT";
	case ENOENT: return "ENOENT";
	case EEXIST: return "EEXIST";
	case EPERM: return "EPERM";
	case EIDRM: return "EIDRM";
	default: return strerror(err);
	}
}

/* What a call returned, as memtap shows it. */
static const char *result(long ret, int address)
{
	static __thread char buf[2][32];
	static __thread int turn;

	turn = !turn;
	if (ret == -1)
		snprintf(buf[turn], sizeof(buf[0]), "-%s", errno_name(errno));
	else if (address)
		snprintf(buf[turn], sizeof(buf[0]), "0x%lx", (unsigned long)ret);
	else
		snprintf(buf[turn], sizeof(buf[0]), "%ld", ret);
	return buf[turn];
}

static void *map(struct truth *t, unsigned long addr, size_t len, int prot, int flags, int fd,
		 unsigned long offset, const char *file)
{
	const long ret = MMAP(addr, len, prot, flags, fd, offset);

	say(t, "mmap %c%c%c %c%c%c%c %lu %lu %s %s", prot & PROT_READ ? 'R' : '-',
	    prot & PROT_WRITE ? 'W' : '-', prot & PROT_EXEC ? 'E' : '-',
	    flags & MAP_SHARED ? 'S' : '-', flags & MAP_PRIVATE ? 'P' : '-',
	    flags & MAP_FIXED ? 'F' : '-', flags & MAP_ANONYMOUS ? 'A' : '-', offset / 1024,
	    (unsigned long)((len + 1023) / 1024), result(ret, 1), file);
	return (void *)ret;
}

static void unmap(struct truth *t, void *p, size_t len)
{
	const long ret = syscall(SYS_munmap, p, len);

	say(t, "munmap - - - %lu %s 0x%lx", (unsigned long)((len + 1023) / 1024), result(ret, 0),
	    (unsigned long)p);
}

static void *move(struct truth *t, void *p, size_t old, size_t len, int flags, void *to)
{
	const long ret = syscall(SYS_mremap, p, old, len, flags, to);
	char where[32] = "";

	if (flags & MREMAP_FIXED)
		sprintf(where, " 0x%lx", (unsigned long)to);
	say(t, "mremap - - - %lu %s 0x%lx of %lu KB %s%s%s%s", (unsigned long)(len + 1023) / 1024,
	    result(ret, 1), (unsigned long)p, (unsigned long)(old + 1023) / 1024,
	    flags & MREMAP_MAYMOVE ? "MREMAP_MAYMOVE" : "0",
	    flags & MREMAP_FIXED ? "|MREMAP_FIXED" : "", where, "");
	return (void *)ret;
}

static void protect(struct truth *t, void *p, size_t len, int prot)
{
	const long ret = syscall(SYS_mprotect, p, len, prot);

	say(t, "mprotect %c%c%c - - %lu %s 0x%lx", prot & PROT_READ ? 'R' : '-',
	    prot & PROT_WRITE ? 'W' : '-', prot & PROT_EXEC ? 'E' : '-',
	    (unsigned long)(len + 1023) / 1024, result(ret, 0), (unsigned long)p);
}

static void advise(struct truth *t, void *p, size_t len, int advice, const char *name)
{
	const long ret = syscall(SYS_madvise, p, len, advice);

	say(t, "madvise - - - %lu %s 0x%lx %s", (unsigned long)(len + 1023) / 1024,
	    result(ret, 0), (unsigned long)p, name);
}

static void mark(void)
{
	syscall(SYS_munmap, 1UL, 77UL);
}

static void files(struct truth *t)
{
	char path[4096], deep[2048], shown[256];
	int fd, ro, closed, gone, mem, at;

	snprintf(path, sizeof(path), "%s/%s file", dir, t->name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, 8 * PAGE))
		exit(2);
	ro = open(path, O_RDONLY);
	map(t, 0, 8 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0, path);
	map(t, 0, 3 * PAGE + 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE, path);
	map(t, 0, PAGE, PROT_WRITE, MAP_SHARED, ro, 0, path);	/* not open for it */
	map(t, 0, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, ro, 2 * PAGE, path);
	/* a large offset, as the call of each ABI has it */
	map(t, 0, PAGE, PROT_READ, MAP_SHARED, ro, 0x40000000, path);
	/* (a number that another thread's file does not get) */
	closed = fcntl(ro, F_DUPFD, t->name[0] == 'o' ? 800 : 700);
	close(ro);
	close(closed);
	map(t, 0, PAGE, PROT_READ, MAP_SHARED, closed, 0, "?");
	unlink(path);
	strcat(path, " (deleted)");
	gone = fd;
	map(t, 0, PAGE, PROT_READ, MAP_SHARED, gone, 0, path);
	mem = (int)syscall(SYS_memfd_create, t->name, 0);
	snprintf(path, sizeof(path), "/memfd:%s (deleted)", t->name);
	map(t, 0, PAGE, PROT_READ, MAP_SHARED, mem, 0, path);
	at = open(dir, O_RDONLY | O_DIRECTORY);
	map(t, 0, PAGE, PROT_READ, MAP_SHARED, at, 0, dir);	/* cannot be mapped */
	close(at);
	/* longer than what is kept: the end of it is */
	snprintf(deep, sizeof(deep), "%s/%s-%0120d", dir, t->name, 7);
	fd = open(deep, O_RDWR | O_CREAT | O_TRUNC, 0600);
	unlink(deep);
	strcat(deep, " (deleted)");
	snprintf(shown, sizeof(shown), "...%s", deep + strlen(deep) - 124);
	map(t, 0, PAGE, PROT_READ, MAP_SHARED, fd, 0, shown);
	close(fd);
	close(gone);
	close(mem);
}

static void calls(struct truth *t)
{
	char *p, *q;

	p = map(t, 0, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0,
		"[anonymous]");
	map(t, (unsigned long)p + PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED,
	    -1, 0, "[anonymous]");
	map(t, 0, 100 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0,
	    "[anonymous]");
	map(t, 0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, "[anonymous]");
	map(t, 0, (size_t)-2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0,
	    "[anonymous]");
	map(t, 0, PAGE, PROT_READ, MAP_PRIVATE, 1000, 0, "?");
	files(t);
	advise(t, p, 1, MADV_DONTNEED, "MADV_DONTNEED");
	advise(t, p + 1, PAGE, MADV_DONTNEED, "MADV_DONTNEED");
	advise(t, p, PAGE, 999, "0x3e7");
	protect(t, p, 4 * PAGE, PROT_READ);
	protect(t, p, 4 * PAGE, PROT_NONE);
	protect(t, p + 1, PAGE, PROT_READ | PROT_EXEC);
	q = map(t, 0, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0,
		"[anonymous]");
	q = move(t, q, 4 * PAGE, 64 * PAGE, MREMAP_MAYMOVE, NULL);
	q = move(t, q, 64 * PAGE, 2 * PAGE, 0, NULL);
	q = move(t, q, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + 8 * PAGE);
	move(t, (void *)PAGE, PAGE, 2 * PAGE, 0, NULL);		/* nothing is there */
	unmap(t, p + 1, PAGE);
	unmap(t, p, 16 * PAGE);
	unmap(t, p, 16 * PAGE);
}

static void *other(void *arg)
{
	struct truth *t = arg;

	prctl(PR_SET_NAME, t->name);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	calls(t);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* Two threads at once. */
static void mappings(void)
{
	pthread_t id;

	pthread_barrier_init(&barrier, NULL, 2);
	strcpy(truths[1].name, "other");
	if (pthread_create(&id, NULL, other, &truths[1]))
		exit(2);
	pthread_barrier_wait(&barrier);
	mark();
	pthread_barrier_wait(&barrier);
	calls(&truths[0]);
	pthread_barrier_wait(&barrier);
	mark();
	pthread_barrier_wait(&barrier);
	pthread_join(id, NULL);
}

/* ---- shared memory ---- */

static int get(struct truth *t, int key, size_t size, int flags, const char *words)
{
	const int id = shmget(key, size, flags);
	char name[32] = "IPC_PRIVATE";

	if (key)
		sprintf(name, "0x%x", (unsigned int)key);
	say(t, "shmget %s key: %s, size: %lu, flags: %s", result(id, 0), name,
	    (unsigned long)size, words);
	return id;
}

static void *attach(struct truth *t, int id, void *addr, int flags, const char *words)
{
	void *p = shmat(id, addr, flags);

	say(t, "shmat %s shmid: %d, addr: 0x%lx, flags: %s", result((long)p, 1), id,
	    (unsigned long)addr, words);
	return p;
}

static void detach(struct truth *t, void *p)
{
	const int ret = shmdt(p);

	say(t, "shmdt %s addr: 0x%lx", result(ret, 0), (unsigned long)p);
}

static void sealed(struct truth *t, int fd, int seals, const char *words, const char *name)
{
	const int ret = fcntl(fd, F_ADD_SEALS, seals);

	say(t, "seal %s cmd: F_ADD_SEALS, seals: %s, file: \"/memfd:%s (deleted)\"",
	    result(ret, 0), words, name);
}

static int memfd(struct truth *t, const char *name, unsigned int flags, const char *words)
{
	const int fd = (int)syscall(SYS_memfd_create, name, flags);

	say(t, "memfd %s flags: %s, file: \"%s%s%s\"", result(fd, 0), words,
	    fd < 0 ? "" : "/memfd:", fd < 0 ? "" : name, fd < 0 ? "" : " (deleted)");
	return fd;
}

static void resize(struct truth *t, int fd, unsigned long size, const char *name)
{
	const int ret = ftruncate(fd, (off_t)size);

	say(t, "shm-size %s size: %lu, file: \"%s\"", result(ret, 0), size, name);
}

/* As it is: newer C libraries for 32 bits have a structure of their own for it. */
static void control(struct truth *t, int id, int cmd, void *buf, const char *word)
{
#ifdef __i386__
	const long ret = syscall(SYS_ipc, 24, id, cmd | 0x100, 0, buf);
#else
	const long ret = syscall(SYS_shmctl, id, cmd, buf);
#endif

	say(t, "shmctl %s shmid: %d, cmd: %s%s, buf: 0x%lx", result(ret, 0), id, word,
	    sizeof(long) == 4 ? "|IPC_64" : "", (unsigned long)buf);
}

static void shared(struct truth *t)
{
	struct shmid_ds ds[4];
	int id, fd;
	void *p, *q;

	shmdt((void *)1);
	id = get(t, IPC_PRIVATE, 3 * PAGE, IPC_CREAT | 0600, "IPC_CREAT|0600");
	p = attach(t, id, NULL, 0, "0");
	q = attach(t, id, NULL, SHM_RDONLY, "SHM_RDONLY");
	attach(t, id, (void *)0x1001, 0, "0");
	attach(t, -7, NULL, 0, "0");
	detach(t, q);
	detach(t, (char *)p + 16);
	control(t, id, IPC_STAT, ds, "IPC_STAT");
	control(t, id, IPC_RMID, NULL, "IPC_RMID");
	detach(t, p);
	get(t, 0x4d54, 2 * PAGE, 0, "0");			/* there is none */
	id = get(t, 0x4d54, 2 * PAGE, IPC_CREAT | IPC_EXCL | 0640, "IPC_CREAT|IPC_EXCL|0640");
	get(t, 0x4d54, 2 * PAGE, IPC_CREAT | IPC_EXCL | 0640, "IPC_CREAT|IPC_EXCL|0640");
	get(t, 0x4d54, 0, 0, "0");
	control(t, id, IPC_RMID, NULL, "IPC_RMID");
	fd = memfd(t, "frames", MFD_CLOEXEC | MFD_ALLOW_SEALING,
		   "MFD_CLOEXEC|MFD_ALLOW_SEALING");
	resize(t, fd, 5 * PAGE, "memfd:frames");
	sealed(t, fd, F_SEAL_SHRINK | F_SEAL_GROW, "F_SEAL_SHRINK|F_SEAL_GROW", "frames");
	resize(t, fd, PAGE, "memfd:frames");			/* it is sealed */
	sealed(t, fd, F_SEAL_SEAL, "F_SEAL_SEAL", "frames");
	sealed(t, fd, F_SEAL_WRITE, "F_SEAL_WRITE", "frames");
	close(fd);
	memfd(t, "bad", 0x40000000, "0x40000000");
	fd = shm_open("/wl_calls", O_RDWR | O_CREAT | O_EXCL, 0640);
	say(t, "shm-create 0 mode: 0640, file: \"wl_calls\"");
	resize(t, fd, 7 * PAGE, "wl_calls");
	shm_unlink("/wl_calls");
	shmdt((void *)1);
}

static void write_truth(const char *path)
{
	FILE *f = fopen(path, "w");

	for (size_t i = 0; f && i < 2; i++)
		fwrite(truths[i].text, 1, truths[i].len, f);
	if (!f || fclose(f))
		exit(2);
}

static void fill(void *p, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)p)[i * PAGE] = 1;
}

static void hold(const char *file)
{
	const int id = shmget(0x4d55, 5 * PAGE, IPC_CREAT | 0600);
	const int fd = (int)syscall(SYS_memfd_create, "held", 0);
	const int posix = shm_open("/wl_held", O_RDWR | O_CREAT | O_TRUNC, 0600);
	FILE *f;

	fill(shmat(id, NULL, 0), 3);
	shmat(id, NULL, SHM_RDONLY);
	if (ftruncate(fd, 7 * PAGE) || ftruncate(posix, 9 * PAGE))
		exit(2);
	fill(mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, posix, 0), 1);
	close(posix);
	f = fopen(file, "w");
	fprintf(f, "%d\n", id);
	fclose(f);
	pause();
}

static void *mapped(const char *path, size_t pages, int flags)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	void *p;

	if (fd < 0 || ftruncate(fd, (off_t)(pages * PAGE)))
		exit(2);
	p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
	close(fd);
	return p;
}

/* What is written to comes page by page. */
static void faults(const char *truth)
{
	char a[512], b[512];
	FILE *f = fopen(truth, "w");

	snprintf(a, sizeof(a), "%s/shared pages", dir);
	snprintf(b, sizeof(b), "%s/private", dir);
	fill(mapped(a, 40, MAP_SHARED), 40);
	fill(mapped(b, 23, MAP_PRIVATE), 23);
	fill(mapped("/dev/shm/wl_fault", 11, MAP_SHARED), 11);
	fprintf(f, "40 %s\n23 %s\n11 /dev/shm/wl_fault\n", a, b);
	fclose(f);
	unlink("/dev/shm/wl_fault");
}

__attribute__((noinline)) static void deep(size_t pages)
{
	char page[PAGE];

	memset(page, 1, sizeof(page));
	__asm__ volatile("" : : "r"(page) : "memory");
	if (pages > 1)
		deep(pages - 1);
	__asm__ volatile("" : : "r"(page) : "memory");
}

static void where(const char *truth)
{
	char *heap = sbrk(0), *at = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *some = getenv("WL_SHARED");
	FILE *f;

	heap = (char *)(((uintptr_t)heap + PAGE - 1) & ~(PAGE - 1));
	if (brk(heap + 50 * PAGE) || at == MAP_FAILED)
		exit(2);
	fill(heap, 50);
	fill(at, 41);
	deep(60);
	fill(mapped(some ? some : "/tmp/wl_where", 31, MAP_SHARED), 31);
	/* what may only be read, once it was written */
	fill(at + 41 * PAGE, 13);
	mprotect(at + 41 * PAGE, 13 * PAGE, PROT_READ);
	madvise(at + 41 * PAGE, 13 * PAGE, MADV_DONTNEED);
	for (size_t i = 41; i < 54; i++)
		(void)*(volatile char *)(at + i * PAGE);
	f = fopen(truth, "w");
	fprintf(f, "50 rw-p [heap]\n54 rw-p [anonymous]\n60 rw-p [stack]\n31 rw-s %s\n"
		"13 r--p [anonymous]\n", some ? some : "/tmp/wl_where");
	fclose(f);
}

#define HUGE	(2UL << 20)

static void huge(size_t nr)
{
	char *p = mmap(NULL, (nr + 1) * HUGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p = (char *)(((uintptr_t)p + HUGE - 1) & ~(HUGE - 1));
	madvise(p, nr * HUGE, MADV_HUGEPAGE);
	for (size_t i = 0; i < nr; i++)
		p[i * HUGE] = 1;
	mprotect(p + PAGE, PAGE, PROT_READ);
	madvise(p + HUGE + PAGE, PAGE, MADV_FREE);
}

static void hugetlb(size_t nr)
{
	char *p = mmap(NULL, nr * HUGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	for (size_t i = 0; i < nr; i++)
		p[i * HUGE] = 1;
}

static void majors(size_t pages)
{
	char path[512];
	volatile char *p;
	int fd;

	snprintf(path, sizeof(path), "%s/on disk", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (size_t i = 0; i < pages; i++)
		if (write(fd, truths, PAGE) != (ssize_t)PAGE)
			exit(2);
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		exit(2);
	p = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	madvise((void *)p, pages * PAGE, MADV_RANDOM);
	for (size_t i = 0; i < pages; i++)
		(void)p[i * PAGE];
}

static void many(unsigned long times)
{
	for (unsigned long i = 0; i < times; i++)
		MMAP(0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void rate(unsigned long times, unsigned long seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	for (unsigned long tick = 0; tick < 100 * seconds; tick++) {
		many(times / 100);
		t.tv_nsec += 10000000;
		if (t.tv_nsec >= 1000000000) {
			t.tv_nsec -= 1000000000;
			t.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

/* Some of these are in a call when their process ends. */
static void *in_calls(void *arg)
{
	for (;;)
		many(1);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t id;

	umask(0);
	strcpy(truths[0].name, "wl_calls");
	prctl(PR_SET_NAME, truths[0].name);
	if (argc == 4 && !strcmp(argv[1], "mmap")) {
		dir = argv[2];
		mappings();
		write_truth(argv[3]);
	} else if (argc == 4 && !strcmp(argv[1], "shm")) {
		shared(&truths[0]);
		write_truth(argv[3]);
	} else if (argc == 4 && !strcmp(argv[1], "fault")) {
		dir = argv[2];
		faults(argv[3]);
	} else if (argc == 3 && !strcmp(argv[1], "where")) {
		where(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "huge")) {
		huge(strtoul(argv[2], NULL, 0));
	} else if (argc == 3 && !strcmp(argv[1], "hugetlb")) {
		hugetlb(strtoul(argv[2], NULL, 0));
	} else if (argc == 4 && !strcmp(argv[1], "major")) {
		dir = argv[2];
		majors(strtoul(argv[3], NULL, 0));
	} else if (argc == 3 && !strcmp(argv[1], "hold")) {
		hold(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "many")) {
		many(strtoul(argv[2], NULL, 0));
	} else if (argc == 4 && !strcmp(argv[1], "rate")) {
		rate(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0));
	} else if (argc == 2 && !strcmp(argv[1], "exit")) {
		for (int i = 0; i < 8; i++)
			pthread_create(&id, NULL, in_calls, NULL);
		usleep(200000);
		_exit(3);
	} else {
		fprintf(stderr, "wl_calls mmap|shm|fault DIR FILE | where FILE | huge|hugetlb N | "
			"major DIR N | hold FILE | many N | rate N SECONDS | exit\n");
		return 2;
	}
	return 0;
}
