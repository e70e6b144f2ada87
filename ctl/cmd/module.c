// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap load`, `unload`, `status`, `hooks` and `version`. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "core/names.h"
#include "cmd/cmd.h"
#include "base/err.h"
#include "session/module.h"
#include "base/text.h"
#include "session/session.h"
#include "session/tracefs.h"

#ifndef MEMTAP_VERSION
#include "core/version.h"
#endif

int cmd_load(const struct cmd *cmd, struct opts *o)
{
	const char *path = NULL;
	char params[1024] = "";

	for (size_t i = 0; i < o->args.nr; i++) {
		const char *arg = o->args.at[i];
		const size_t used = strlen(params);

		if (i == 0 && module_is_file(arg)) {
			path = arg;
			continue;
		}
		if (module_is_file(arg))
			return usage_error(cmd->name, "'%s': only one FILE.ko is allowed, before "
					   "the parameters", arg);
		if (!strchr(arg, '='))
			return usage_error(cmd->name, "'%s' is neither FILE.ko nor "
					   "parameter=value", arg);
		if (snprintf(params + used, sizeof(params) - used, "%s%s",
			     used ? " " : "", arg) >= (int)(sizeof(params) - used))
			return usage_error(cmd->name, "too many parameters");
	}
	return session_load(path, params);
}

/* Describe what keeps the module loaded, as far as it can be read. */
static void describe_users(char *buf, size_t len)
{
	struct memtap_info info;
	int fd;

	snprintf(buf, len, "a process has %s open", MEMTAP_DEVICE);
	if (dev_open(&fd))
		return;
	/* our own session does not count */
	if (!dev_info(fd, &info) && info.nr_sessions > 1)
		snprintf(buf, len, "%u session%s open", info.nr_sessions - 1,
			 info.nr_sessions == 2 ? " is" : "s are");
	close(fd);
}

static void say_waits(void)
{
	note("waiting for the sessions of memtap processes that have ended");
}

int cmd_unload(const struct cmd *cmd, struct opts *o)
{
	char users[64];
	int err;

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is too much", o->args.at[0]);
	err = module_unload_ended(say_waits);
	if (!err)
		return 0;
	describe_users(users, sizeof(users));
	return fail(ERR_UNLOAD, err, "%s", users);
}

static void print_sessions(void)
{
	char *text, *rest, *line;
	size_t len;

	if (tracefs_debugfs("sessions", &text, &len))
		return;
	/* lines contain process names: escape control bytes */
	for (rest = text; (line = strsep(&rest, "\n")) && (rest || *line);) {
		text_put(stdout, line, NULL);
		putchar('\n');
	}
	free(text);
}

static void print_features(__u64 features)
{
	static const struct {
		__u64 bit;
		const char *name;
	} names[] = {
		{ MEMTAP_FEATURE_UREFCTR, "USDT semaphores" },
		{ MEMTAP_FEATURE_TP_PROBE, "tracepoints without perf" },
		{ MEMTAP_FEATURE_CGROUP1, "cgroup v1 filter" },
		{ MEMTAP_FEATURE_CGROUP2, "cgroup v2 filter" },
		{ MEMTAP_FEATURE_UPROBE32, "any probe on 32-bit programs" },
		{ MEMTAP_FEATURE_DEATHS, "leaks of processes ended by a signal" },
		{ MEMTAP_FEATURE_EXECS, "programs held at execve()" },
	};
	bool first = true;

	printf("features:   ");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (features & names[i].bit) {
			printf("%s%s", first ? "" : ", ", names[i].name);
			first = false;
		}
	printf("%s\n", first ? "none" : "");
}

int cmd_status(const struct cmd *cmd, struct opts *o)
{
	struct session s;
	char word[32];
	int ret;

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is too much", o->args.at[0]);
	ret = session_open(&s);
	if (ret)
		return ret;
	printf("module:     %s, for Linux %s\n", s.info.version, s.info.release);
	printf("events:     %u built in, %u hook%s\n", s.info.nr_events,
	       s.info.nr_hooks, text_s(s.info.nr_hooks));
	print_features(s.info.features);
	printf("rights:     %s\n", s.info.features & MEMTAP_FEATURE_ONLY_COUNT ?
	       "stacks and counts only; the rest needs " SESSION_MISSING : "all");
	printf("CPUs:       %u\n", s.info.nr_cpus);
	printf("memory:     at most %s per session\n",
	       session_size(s.info.max_mem).text);
	printf("tables:     %s stacks, %s counters, %s tasks by default\n",
	       session_size(s.info.mem_stacks).text,
	       session_size(s.info.mem_counters).text,
	       session_size(s.info.mem_tasks).text);
	printf("lockdown:   %s\n",
	       module_lockdown(word, sizeof(word)) ? word : "none");
	printf("sessions:   %u, not counting this command\n",
	       s.info.nr_sessions ? s.info.nr_sessions - 1 : 0);
	print_sessions();
	session_close(&s);
	return 0;
}

static void print_hook(const struct memtap_hook_state *h)
{
	const bool attached = h->state == MEMTAP_HOOK_ATTACHED;
	const char *state = attached && h->error ? "attached, not to 32-bit ones without ASLR" :
			    h->error ? strerror((int)h->error) : attached ? "attached" : "idle";

	printf("%-24s %-10s %5u %14" PRIu64 " %10" PRIu64 "  %-26s %s\n", h->event,
	       way_name(h->way), h->users, (uint64_t)h->hits, (uint64_t)h->missed, h->target,
	       state);
}

int cmd_hooks(const struct cmd *cmd, struct opts *o)
{
	struct memtap_hook_state h;
	struct session s;
	int ret, err = 0;

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is too much", o->args.at[0]);
	ret = session_open(&s);
	if (ret)
		return ret;
	printf("%-24s %-10s %5s %14s %10s  %-26s %s\n", "EVENT", "WAY", "USERS",
	       "HITS", "MISSED", "TARGET", "STATE");
	for (__u32 i = 0; !err; i++) {
		err = dev_hook(s.fd, i, &h);
		if (!err)
			print_hook(&h);
	}
	session_close(&s);
	return err == -ENOENT ? 0 : fail(ERR_INFO, err, "%s", "reading the hooks");
}

const char *cmd_tool_version(void)
{
	return MEMTAP_VERSION;
}

int cmd_version(const struct cmd *cmd, struct opts *o)
{
	struct memtap_info info;
	int fd;

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is too much", o->args.at[0]);
	printf("memtap %s\n", MEMTAP_VERSION);
	if (dev_open(&fd))
		return 0;
	if (!dev_info(fd, &info))
		printf("module %s, for Linux %s\n", info.version, info.release);
	close(fd);
	return 0;
}
