// SPDX-License-Identifier: GPL-2.0-or-later
/* Print what a heap was read from, if that is a file, and what of the process the file lacks. */
#include <string.h>

#include "base/text.h"
#include "render/heap.h"

static const char *const state_names[] = {
	[CORE_FILE_NEW] = "not needed", [CORE_FILE_SAME] = "same", [CORE_FILE_SIZE] = "size",
	[CORE_FILE_GONE] = "missing", [CORE_FILE_OTHER] = "different",
};

static void put_file(const struct core_mapped *f, FILE *out)
{
	if (f->state != CORE_FILE_GONE && f->state != CORE_FILE_OTHER)
		return;
	text_put(out, f->path, NULL);
	if (strcmp(f->at, f->path)) {
		fputs(" (", out);
		text_put(out, f->at, NULL);
		fputc(')', out);
	}
	if (f->state == CORE_FILE_GONE)
		fprintf(out, " cannot be opened: %s", strerror(-f->err));
	else
		fputs(" is not the file that was mapped", out);
	fprintf(out, "; names of its functions, variables and classes may be missing%s\n",
		f->is_program ? "; --exe FILE says where the program is" : "");
}

/* Files that are there, but have nothing by which they could be recognized. */
static void put_unsure(const struct core *c, FILE *out)
{
	size_t nr, unsure = 0;
	const struct core_mapped *f = core_files(c, &nr);

	for (size_t i = 0; i < nr; i++)
		unsure += f[i].state == CORE_FILE_SIZE;
	if (unsure)
		fprintf(out, "%zu of the files were checked by their size alone, since the file "
			     "read does not have their build ID\n", unsure);
}

static void put_missing(const struct core_told *told, FILE *out)
{
	char bytes[TEXT_LEN];

	if (told->truncated)
		fprintf(out, "the file is %s: %s of memory are missing\n",
			told->damaged ? "damaged" : "truncated",
			text_bytes(bytes, (__s64)told->truncated, false));
	if (told->shared)
		fprintf(out, "%s of writable mappings of files, or of shared memory, are not in "
			     "the file (coredump_filter)\n",
			text_bytes(bytes, (__s64)told->shared, false));
	if (told->closed)
		fprintf(out, "%s of the heap are not in the file, since the program could not "
			     "touch them (mprotect)\n",
			text_bytes(bytes, (__s64)told->closed, false));
	if (told->excluded)
		fprintf(out, "%s of other writable memory are not in the file: never touched, or "
			     "left out (coredump_filter, MADV_DONTDUMP)\n",
			text_bytes(bytes, (__s64)told->excluded, false));
	if (told->unknown)
		fprintf(out, "%s of mapped files are not in the file, nor whether they could be "
			     "written to\n", text_bytes(bytes, (__s64)told->unknown, false));
	if (told->swapped)
		fprintf(out, "%s were swapped out, and were not saved; memtap heap --swapped "
			     "--save saves them\n",
			text_bytes(bytes, (__s64)told->swapped, false));
}

void render_core_footer(const struct core *c, size_t threads, FILE *out)
{
	const struct core_told *told = core_told(c);
	char bytes[TEXT_LEN], when[64] = "";
	struct tm tm;
	size_t nr;
	const struct core_mapped *f = core_files(c, &nr);

	if (told->when && localtime_r(&told->when, &tm))
		strftime(when, sizeof(when), " on %F %T", &tm);
	fprintf(out, "\n%s%s: %zu thread%s, %s of memory%s\n",
		told->saved ? "saved" : "from a core file", when, threads, text_s(threads),
		text_bytes(bytes, (__s64)told->bytes, false), told->saved ? "" :
		"; a core has no arguments of epoll_ctl() and timer_create(), which may hold "
		"blocks, too");
	put_missing(told, out);
	for (size_t i = 0; i < nr; i++)
		put_file(&f[i], out);
	put_unsure(c, out);
}

void json_core(struct json *j, const struct core *c, const char *file)
{
	const struct core_told *told = core_told(c);
	size_t nr;
	const struct core_mapped *f = core_files(c, &nr);

	json_open(j, "core", '{');
	json_str(j, "file", file);
	json_bool(j, "saved", told->saved);
	if (told->when)
		json_s64(j, "saved_s", told->when);
	json_bool(j, "damaged", told->damaged);
	json_u64(j, "truncated_bytes", told->truncated);
	json_u64(j, "shared_bytes", told->shared);
	json_u64(j, "closed_bytes", told->closed);
	json_u64(j, "excluded_bytes", told->excluded);
	json_u64(j, "unknown_bytes", told->unknown);
	json_open(j, "files", '[');
	for (size_t i = 0; i < nr; i++) {
		if (f[i].state == CORE_FILE_NEW)
			continue;
		json_open(j, NULL, '{');
		json_str(j, "path", f[i].path);
		json_str(j, "state", state_names[f[i].state]);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}
