// SPDX-License-Identifier: GPL-2.0-or-later
/* Find and print what rules recorded before an OOM kill; see cmd/before.h. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/text.h"
#include "cmd/before.h"
#include "cmd/file.h"
#include "cmd/show.h"
#include "history/act.h"
#include "render/render.h"

#define SECOND		1000000000ULL
#define ROWS		3
#define BEFORE_MOST	4
#define BEFORE_NS	(60 * SECOND)	/* what ended earlier has nothing to do with it */

struct before {
	size_t nr;
	struct before_file {
		char path[512], rule[64];
		__u64 from_ns, until_ns;	/* CLOCK_REALTIME; from: to the second */
	} at[BEFORE_MOST];			/* the newest ones, the newest last */
};

/* 2026-11-29T03-12-10-RULE.memtap */
static bool parse_name(const char *name, struct before_file *f)
{
	const char *dot = strrchr(name, '.'), *rest;
	struct tm tm = { .tm_isdst = -1 };
	time_t from;

	rest = strptime(name, "%Y-%m-%dT%H-%M-%S-", &tm);
	if (!rest || !dot || dot <= rest || strcmp(dot, ".memtap"))
		return false;
	from = mktime(&tm);
	if (from < 0)
		return false;
	f->from_ns = (__u64)from * SECOND;
	snprintf(f->rule, sizeof(f->rule), "%.*s", (int)(dot - rest), rest);
	return true;
}

static void keep(struct before *b, const struct before_file *f)
{
	size_t i;

	if (b->nr == BEFORE_MOST) {
		if (f->from_ns < b->at[0].from_ns)
			return;
		memmove(b->at, b->at + 1, (BEFORE_MOST - 1) * sizeof(b->at[0]));
		b->nr--;
	}
	for (i = b->nr; i && b->at[i - 1].from_ns > f->from_ns; i--)
		b->at[i] = b->at[i - 1];
	b->at[i] = *f;
	b->nr++;
}

static void find(const char *dir, __u64 kill_ns, struct before *b)
{
	char path[400];
	struct before_file f;
	struct dirent *e;
	struct stat st;
	DIR *d;

	b->nr = 0;
	snprintf(path, sizeof(path), "%.300s/%s", dir, ACT_DIR);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		memset(&f, 0, sizeof(f));
		if (!parse_name(e->d_name, &f) ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		f.until_ns = (__u64)st.st_mtim.tv_sec * SECOND + (__u64)st.st_mtim.tv_nsec;
		if (f.from_ns > kill_ns || f.until_ns + BEFORE_NS < kill_ns)
			continue;
		if (snprintf(f.path, sizeof(f.path), "%s/%s", path, e->d_name) <
		    (int)sizeof(f.path))
			keep(b, &f);
	}
	if (d)
		closedir(d);
}

/* Its rows, as `memtap report --top 3` has them, in the column of the kill's lines. */
static int put_rows(struct snap *s)
{
	static const struct sym_opts defaults;
	struct render_opts r = {
		.rows = { .by = show_by(s), .top = ROWS },
		.format = FORMAT_TABLE, .quiet = true, .title = file_note(s, "title"),
	};
	struct sym *sym = sym_new(&defaults);
	char *text = NULL, *line, *rest;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err = -1;

	if (sym && out)
		err = render_report(s, sym, &r, out);
	if (out)
		fclose(out);
	rest = text;
	while (!err && (line = strsep(&rest, "\n")))
		if (*line)
			printf("    %s\n", line);
	free(text);
	sym_free(sym);
	return err;
}

static void print(const struct before *b, __u64 kill_ns)
{
	char from[TEXT_LEN], until[TEXT_LEN];
	struct snap *s;

	for (size_t i = 0; i < b->nr; i++) {
		const struct before_file *f = &b->at[i];

		printf("  rule %s recorded from %s to %s, %s:\n", f->rule,
		       text_clock(from, f->from_ns), text_clock(until, f->until_ns),
		       f->until_ns < kill_ns ? "before the kill" : "the time of the kill included");
		s = NULL;
		if (file_read(f->path, &s) || !s || put_rows(s))
			printf("    it cannot be read\n");
		printf("    all of it: memtap report %s\n", f->path);
		if (s)
			snap_free(s);
	}
}

void before_show(const struct memtap_oom_record *r, const struct oom_opts *oo,
		 const struct opts *o)
{
	const char *files[BEFORE_MOST + 1] = { NULL };
	struct oom_opts with = *oo;
	struct before b;

	find(o->dir ? o->dir : HISTORY_DIR, r->real_ns, &b);
	for (size_t i = 0; i < b.nr; i++)
		files[i] = b.at[i].path;
	with.recordings = files;
	if (o->json) {
		render_oom_json(r, &with);
		return;
	}
	render_oom(r, &with);
	print(&b, r->real_ns);
}
