// SPDX-License-Identifier: GPL-2.0-or-later
/* Receive the module's notices by generic netlink. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/dev.h"
#include "session/listen.h"

#ifdef MEMTAP_LIBNL
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

struct notices {
	struct nl_sock *sock;
	notice_fn *fn;
	void *ctx;
};

static int on_message(struct nl_msg *msg, void *arg)
{
	/* what is shorter or of another kind is not believed */
	static struct nla_policy policy[MEMTAP_NR_NA] = {
		[MEMTAP_NA_NR] = { .type = NLA_U64 },
	};
	struct nlattr *a[MEMTAP_NR_NA] = { NULL };
	struct notices *n = arg;
	struct notice notice;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, a, MEMTAP_NR_NA - 1, policy))
		return NL_SKIP;
	memset(&notice, 0, sizeof(notice));
	notice.kind = genlmsg_hdr(nlmsg_hdr(msg))->cmd;
	notice.nr = a[MEMTAP_NA_NR] ? nla_get_u64(a[MEMTAP_NA_NR]) : 0;
	n->fn(&notice, n->ctx);
	return NL_OK;
}

/* libnl has errors of its own. */
static int as_errno(int err)
{
	switch (-err) {
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_NOMEM:
		return -ENOBUFS;
	case NLE_AGAIN:
		return 0;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	default:
		return err < 0 ? -EIO : err;
	}
}

static int join(struct notices *n)
{
	int group, err = genl_connect(n->sock);

	if (err)
		return as_errno(err);
	group = genl_ctrl_resolve_grp(n->sock, MEMTAP_GENL_NAME, MEMTAP_GENL_GROUP);
	if (group < 0)
		return as_errno(group);
	err = nl_socket_add_membership(n->sock, group);
	if (!err)
		err = nl_socket_set_nonblocking(n->sock);
	return as_errno(err);
}

int notices_open(struct notices **out)
{
	struct notices *n = calloc(1, sizeof(*n));
	int err;

	if (!n)
		return -ENOMEM;
	n->sock = nl_socket_alloc();
	if (!n->sock) {
		free(n);
		return -ENOMEM;
	}
	/* notices are no answers */
	nl_socket_disable_seq_check(n->sock);
	err = join(n);
	if (!err)
		err = as_errno(nl_socket_modify_cb(n->sock, NL_CB_VALID, NL_CB_CUSTOM, on_message,
						   n));
	if (err) {
		notices_close(n);
		return err;
	}
	*out = n;
	return 0;
}

void notices_close(struct notices *n)
{
	if (!n)
		return;
	nl_socket_free(n->sock);
	free(n);
}

int notices_fd(const struct notices *n)
{
	return nl_socket_get_fd(n->sock);
}

int notices_read(struct notices *n, notice_fn *fn, void *ctx)
{
	n->fn = fn;
	n->ctx = ctx;
	return as_errno(nl_recvmsgs_default(n->sock));
}
#else
int notices_open(struct notices **out)
{
	*out = NULL;
	return -ENOSYS;
}

void notices_close(struct notices *n)
{
	(void)n;
}

int notices_fd(const struct notices *n)
{
	(void)n;
	return -1;
}

int notices_read(struct notices *n, notice_fn *fn, void *ctx)
{
	(void)n;
	(void)fn;
	(void)ctx;
	return -ENOSYS;
}
#endif

int notice_fill(int dev, struct notice *n)
{
	struct memtap_notice a = { .nr = n->nr };
	int err = dev_notice(dev, &a);

	if (err)
		return err;
	n->value = a.value;
	n->dropped = a.dropped;
	n->session = a.session;
	n->pid = (__u32)a.pid;
	snprintf(n->comm, sizeof(n->comm), "%.*s", (int)sizeof(a.comm), a.comm);
	snprintf(n->event, sizeof(n->event), "%.*s", (int)sizeof(a.event) - 1, a.event);
	snprintf(n->reason, sizeof(n->reason), "%.*s", (int)sizeof(a.reason), a.reason);
	return 0;
}
