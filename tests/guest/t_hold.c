// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * t_hold FILE OFFSET exec|fork|wait: a session with one hook of each kind, whose
 * descriptor is not closed on exec.  Prints "ready PID" with the process that
 * holds it in the end: one that became `sleep`, a child that outlives its
 * parent, or this one.
 */
#include <sys/wait.h>

#include "session.h"

static void attach(int fd, uint32_t kind, uint32_t flags, const char *name, int file,
		   uint64_t offset)
{
	struct memtap_attach a = {
		.size = sizeof(a), .kind = kind, .flags = flags, .fd = file, .offset = offset,
	};

	snprintf(a.name, sizeof(a.name), "%s", name);
	session_must(ioctl(fd, MEMTAP_ATTACH, &a), name);
}

int main(int argc, char **argv)
{
	struct memtap_config config = {
		.size = sizeof(config),
		.flags = MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK,
	};
	int fd, file;

	if (argc != 4)
		return 2;
	fd = open(MEMTAP_DEVICE, O_RDWR);	/* no O_CLOEXEC: that is the point */
	file = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || file < 0)
		bail_out(argv[1]);
	config.events = 1ULL << event_id(fd, "minor-fault") | 1ULL << event_id(fd, "brk");
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	attach(fd, MEMTAP_ATTACH_UPROBE, 0, "entry", file, strtoull(argv[2], NULL, 0));
	attach(fd, MEMTAP_ATTACH_UPROBE, MEMTAP_ATTACH_RETURN, "return", file,
	       strtoull(argv[2], NULL, 0));
	attach(fd, MEMTAP_ATTACH_KPROBE, 0, "do_exit", 0, 0);
	attach(fd, MEMTAP_ATTACH_TRACEPOINT, 0, "task:task_rename", 0, 0);
	session_must(session_run(fd, MEMTAP_START), "START");
	if (!strcmp(argv[3], "fork") && fork())
		return 0;
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (!strcmp(argv[3], "exec"))
		execlp("sleep", "sleep", "600", NULL);
	sleep(600);
	return 0;
}
