// SPDX-License-Identifier: GPL-2.0-or-later
/* Keep the tree of the targets' descendants; see forks.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "target/forks.h"

struct member {
	pid_t pid;
	bool started;			/* else it is one of those that are watched */
};

struct forks_tree {
	struct member *live;
	size_t nr, room;
	struct forks_sum sum;
};

static struct member *find(const struct forks_tree *t, pid_t pid)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->live[i].pid == pid)
			return &t->live[i];
	return NULL;
}

static void add(struct forks_tree *t, pid_t pid, bool started)
{
	struct member *more;

	if (t->nr == t->room) {
		more = reallocarray(t->live, 2 * t->room + 64, sizeof(*more));
		if (!more) {	/* its children will not be known */
			t->sum.at_least = true;
			return;
		}
		t->live = more;
		t->room = 2 * t->room + 64;
	}
	t->live[t->nr++] = (struct member){ pid, started };
}

struct forks_tree *forks_tree_new(const __u32 *pids, size_t nr)
{
	struct forks_tree *t = calloc(1, sizeof(*t));

	for (size_t i = 0; t && i < nr; i++)
		add(t, (pid_t)pids[i], false);
	return t;
}

void forks_tree_free(struct forks_tree *t)
{
	if (t)
		free(t->live);
	free(t);
}

void forks_tree_fork(struct forks_tree *t, pid_t parent, pid_t child, pid_t tgid)
{
	if (child != tgid || !find(t, parent) || find(t, child))
		return;
	t->sum.started++;
	add(t, child, true);
}

bool forks_tree_exec(const struct forks_tree *t, pid_t tgid)
{
	const struct member *m = find(t, tgid);

	return m && m->started;
}

void forks_tree_name(struct forks_tree *t, const char *name)
{
	struct forks_sum *s = &t->sum;

	for (size_t i = 0; i < s->nr_names; i++)
		if (!strcmp(s->names[i], name))
			return;
	if (s->nr_names == FORKS_NAMES)
		s->more_names = true;
	else
		snprintf(s->names[s->nr_names++], FORKS_NAME, "%s", name);
}

void forks_tree_exit(struct forks_tree *t, pid_t pid, pid_t tgid)
{
	struct member *m = pid == tgid ? find(t, pid) : NULL;

	if (m)
		*m = t->live[--t->nr];
}

void forks_tree_sum(const struct forks_tree *t, struct forks_sum *sum)
{
	*sum = t->sum;
	sum->running = 0;
	for (size_t i = 0; i < t->nr; i++)
		if (t->live[i].started) {
			sum->running++;
			sum->running_pid = t->live[i].pid;
		}
}

/* ---- in words ---- */

static void append(char *text, size_t len, const char *more)
{
	const size_t used = strlen(text);

	snprintf(text + used, len - used, "%s", more);
}

static void append_names(const struct forks_sum *sum, char *text, size_t len)
{
	for (size_t i = 0; i < sum->nr_names; i++) {
		append(text, len, i ? ", " : " (");
		append(text, len, sum->names[i]);
	}
	if (sum->nr_names)
		append(text, len, sum->more_names ? ", ...)" : ")");
}

void forks_text(const struct forks_sum *sum, bool followed, const char *who, char *text,
		size_t len)
{
	const bool one = sum->started == 1 && !sum->at_least;
	char n[TEXT_LEN], part[128];

	*text = '\0';
	if (!sum->started || (followed && !sum->running))
		return;
	if (!followed) {
		snprintf(text, len, "%s%s process%s that %s started %s not followed",
			 sum->at_least ? "at least " : "", text_count(n, sum->started),
			 one ? "" : "es", who, one ? "was" : "were");
		append(text, len, "; --children follows ");
		append(text, len, one ? "it" : "them");
		append_names(sum, text, len);
	}
	if (!sum->running)
		return;
	if (followed) {
		snprintf(part, sizeof(part), "%s process%s that %s started still run%s, but %s no "
			 "longer recorded", text_count(n, sum->running),
			 sum->running == 1 ? "" : "es", who, sum->running == 1 ? "s" : "",
			 sum->running == 1 ? "is" : "are");
		append(text, len, part);
	} else {
		snprintf(part, sizeof(part), "; %s still run%s",
			 one ? "it" : text_count(n, sum->running), sum->running == 1 ? "s" : "");
		append(text, len, part);
	}
	snprintf(part, sizeof(part), ": -p %d%s", sum->running_pid,
		 sum->running == 1 ? "" : " and others");
	append(text, len, part);
}
