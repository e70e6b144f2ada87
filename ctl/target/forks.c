// SPDX-License-Identifier: GPL-2.0-or-later
/* The process connector, read by a thread of its own; see forks.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread.h"
#include "target/forks.h"
#include "target/maps.h"
#include "target/target.h"

#define ROOM		(4 << 20)	/* reports that wait to be read */
#define ANSWER_MS	500

struct forks {
	int fd, wake;
	pthread_t thread;
	pthread_mutex_t lock;		/* of the tree */
	struct forks_tree *tree;
	bool lost;
};

/* What the kernel sends and takes: a header in a header in a header. */
struct __attribute__((aligned(NLMSG_ALIGNTO))) message {
	struct nlmsghdr nl;
	struct __attribute__((packed)) {
		struct cn_msg cn;
		union {
			enum proc_cn_mcast_op op;
			struct proc_event event;
		};
	} body;
};

static int send_op(int fd, enum proc_cn_mcast_op op)
{
	struct message m = { .nl = {
		.nlmsg_len = NLMSG_LENGTH(sizeof(m.body.cn) + sizeof(op)),
		.nlmsg_type = NLMSG_DONE,
		.nlmsg_pid = (__u32)getpid(),
	} };

	m.body.cn.id.idx = CN_IDX_PROC;
	m.body.cn.id.val = CN_VAL_PROC;
	m.body.cn.len = sizeof(op);
	m.body.op = op;
	return send(fd, &m, m.nl.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* ---- reports ---- */

/* What it became, unless it is gone already. */
static void take_name(struct forks *f, pid_t pid)
{
	char path[32], *text;
	size_t len;

	if (!forks_tree_exec(f->tree, pid))
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return;
	text[strcspn(text, "\n")] = '\0';
	forks_tree_name(f->tree, text);
	free(text);
}

static void take(struct forks *f, const struct proc_event *e)
{
	switch (e->what) {
	case PROC_EVENT_FORK:
		forks_tree_fork(f->tree, e->event_data.fork.parent_tgid,
				e->event_data.fork.child_pid, e->event_data.fork.child_tgid);
		break;
	case PROC_EVENT_EXEC:
		take_name(f, e->event_data.exec.process_tgid);
		break;
	case PROC_EVENT_EXIT:
		forks_tree_exit(f->tree, e->event_data.exit.process_pid,
				e->event_data.exit.process_tgid);
		break;
	default:
		break;
	}
}

/* One report, or what else comes that way; false: there is none. */
static bool read_one(struct forks *f)
{
	struct sockaddr_nl from = { 0 };
	socklen_t from_len = sizeof(from);
	struct proc_event event;
	struct message m;
	ssize_t len;

	memset(&m, 0, sizeof(m));
	len = recvfrom(f->fd, &m, sizeof(m), MSG_DONTWAIT, (struct sockaddr *)&from, &from_len);
	if (len < 0) {
		if (errno == ENOBUFS)
			f->lost = true;
		return errno == ENOBUFS || errno == EINTR;
	}
	/* anybody may send to us; the kernel is 0 */
	if (!from.nl_pid && (size_t)len >= NLMSG_LENGTH(sizeof(m.body.cn)) &&
	    m.body.cn.id.idx == CN_IDX_PROC && m.body.cn.id.val == CN_VAL_PROC) {
		memcpy(&event, &m.body.event, sizeof(event));
		take(f, &event);
	}
	return true;
}

static void read_all(struct forks *f)
{
	pthread_mutex_lock(&f->lock);
	while (read_one(f))
		;
	pthread_mutex_unlock(&f->lock);
}

static void *serve(void *arg)
{
	struct forks *f = arg;
	struct pollfd fds[] = {
		{ .fd = f->wake, .events = POLLIN }, { .fd = f->fd, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[0].revents)
			return NULL;
		read_all(f);
	}
}

/* ---- its life ---- */

/* The kernel answers who may listen, and no one else. */
static bool is_answered(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct message m;
	ssize_t len;

	while (poll(&p, 1, ANSWER_MS) == 1) {
		memset(&m, 0, sizeof(m));
		len = recv(fd, &m, sizeof(m), MSG_DONTWAIT);
		if (len > 0 && m.body.event.what == PROC_EVENT_NONE)
			return !m.body.event.event_data.ack.err;
	}
	return false;
}

static int open_socket(void)
{
	const struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	const int room = ROOM;
	int fd;

	fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (bind(fd, (const struct sockaddr *)&to, sizeof(to)) ||
	    send_op(fd, PROC_CN_MCAST_LISTEN) || !is_answered(fd)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

struct forks *forks_start(const __u32 *pids, size_t nr)
{
	struct forks *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	f->tree = forks_tree_new(pids, nr);
	f->wake = eventfd(0, EFD_CLOEXEC);
	f->fd = f->tree && f->wake >= 0 ? open_socket() : -1;
	if (f->fd >= 0 && !thread_start(&f->thread, serve, f))
		return f;
	if (f->fd >= 0)
		close(f->fd);
	if (f->wake >= 0)
		close(f->wake);
	forks_tree_free(f->tree);
	free(f);
	return NULL;
}

void forks_get(struct forks *f, struct forks_sum *sum)
{
	struct target_stat st;

	read_all(f);
	forks_tree_sum(f->tree, sum);
	sum->at_least |= f->lost;
	/* with reports lost, that of its end may be among them */
	if (sum->running == 1 && (target_stat(sum->running_pid, &st) || st.state == 'Z'))
		sum->running = 0;
}

void forks_end(struct forks *f)
{
	if (!f)
		return;
	eventfd_write(f->wake, 1);
	pthread_join(f->thread, NULL);
	send_op(f->fd, PROC_CN_MCAST_IGNORE);
	close(f->fd);
	close(f->wake);
	forks_tree_free(f->tree);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
