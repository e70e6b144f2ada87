// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap diff` of two heaps: JSON that `memtap heap` printed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_read.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/diff_heap.h"
#include "render/held.h"
#include "target/maps.h"

#define ROWS	20U

bool diff_is_heap(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char first = 0;

	if (fd < 0)
		return false;
	if (read(fd, &first, 1) != 1)
		first = 0;
	close(fd);
	return first == '{';
}

/* ---- one file ---- */

struct file {
	struct held_rows rows;
	char name[JSON_TEXT];
	__u64 blocks, bytes;
	__u64 all, known;		/* bytes of all kinds: in the list, and as the file says */
	bool is_heap;
};

/* A row of one of the lists is open. */
static bool is_in(const struct json_place *at, const char *list)
{
	return at->depth == 3 && !strcmp(at->keys[0], list);
}

static int see(void *ctx, const struct json_place *at, enum json_event event, const char *text)
{
	struct file *f = ctx;
	const bool holder = !strcmp(at->keys[0], "holders");
	const char *key = at->depth ? at->keys[at->depth - 1] : "";

	if (event == JSON_STRING && at->depth == 1 && !strcmp(key, "document"))
		f->is_heap = !strcmp(text, "malloc");
	if (event == JSON_NUMBER && at->depth == 1 && !strcmp(key, "known_bytes"))
		f->known = strtoull(text, NULL, 10);
	/* the end of a row of a list */
	if (event == JSON_END && at->depth == 2 && (holder || !strcmp(at->keys[0], "kinds"))) {
		f->all += holder ? 0 : f->bytes;
		return held_rows_add(&f->rows, f->name, holder, f->blocks, f->bytes);
	}
	if (!is_in(at, "kinds") && !is_in(at, "holders"))
		return 0;
	if (event == JSON_STRING && !strcmp(key, holder ? "holder" : "kind"))
		memcpy(f->name, text, strlen(text) + 1);
	if (event == JSON_NUMBER && !strcmp(key, holder ? "retained_blocks" : "blocks"))
		f->blocks = strtoull(text, NULL, 10);
	if (event == JSON_NUMBER && !strcmp(key, holder ? "retained_bytes" : "bytes"))
		f->bytes = strtoull(text, NULL, 10);
	return 0;
}

static int read_file(const struct cmd *cmd, const char *path, struct held_rows *rows)
{
	struct file *f = calloc(1, sizeof(*f));
	char *text = NULL;
	size_t len = 0;
	int err = f ? maps_slurp(AT_FDCWD, path, &text, &len) : -ENOMEM;
	bool good;

	if (err) {
		free(f);
		return fail(ERR_READ, err, "%s", path);
	}
	err = json_read(text, len, see, f);
	good = !err && f->is_heap && f->known && f->all == f->known;
	*rows = f->rows;
	free(text);
	free(f);
	if (good) {
		held_rows_sort(rows);
		return 0;
	}
	held_rows_free(rows);
	if (err == -ENOMEM)
		return fail(ERR_READ, err, "%s", path);
	return usage_error(cmd->name, "%s is not one whole report of `memtap heap PID --json "
			   "--top 0`", path);
}

/* ---- two of them ---- */

static void write_json(const struct held_rows rows[2], const struct held_show *s, FILE *out)
{
	struct json j = { .out = out };

	json_document(&j, "malloc_diff");
	json_held_growth(&j, &rows[0], &rows[1], s);
	json_close(&j, '}');
	fputc('\n', out);
}

static int show(const struct opts *o, const struct held_rows rows[2])
{
	const struct held_show s = { .top = o->top_given ? o->top : ROWS,
				     .by_blocks = o->sort + 1 == SORT_COUNT };
	struct out out;
	int err = out_open(&out, o->out);

	if (!err) {
		if (o->format == FORMAT_JSON) {
			write_json(rows, &s, out.f);
		} else {
			fprintf(out.f, "from %s to %s\n", o->args.at[0], o->args.at[1]);
			err = render_held_growth(&rows[0], &rows[1], &s, out.f);
		}
		if (err)
			out_abort(&out);
		else
			err = out_commit(&out);
	}
	return err ? fail(ERR_WRITE, err, "%s", o->out ? o->out : "standard output") : 0;
}

int diff_heaps(const struct cmd *cmd, const struct opts *o)
{
	struct held_rows rows[2] = { { .at = NULL }, { .at = NULL } };
	int ret = 0;

	if (o->format != FORMAT_TABLE && o->format != FORMAT_JSON)
		return usage_error(cmd->name, "of two heaps there is a table and --json alone");
	for (int i = 0; i < 2 && !ret; i++) {
		if (!diff_is_heap(o->args.at[i]))
			ret = usage_error(cmd->name, "%s is a recording, the other file is a heap: "
					  "they cannot be compared", o->args.at[i]);
		else
			ret = read_file(cmd, o->args.at[i], &rows[i]);
	}
	if (!ret)
		ret = show(o, rows);
	held_rows_free(&rows[0]);
	held_rows_free(&rows[1]);
	return ret;
}
