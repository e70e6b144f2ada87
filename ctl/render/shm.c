// SPDX-License-Identifier: GPL-2.0-or-later
/* Print existing shared memory and the processes that use it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "render/shm.h"
#include "target/maps.h"

#define HOLDERS	4			/* that are named */

static const char *const kinds[] = { "sysv", "posix", "memfd" };

static char *comm_of(pid_t pid, char buf[32])
{
	char path[32], *text;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	*buf = '\0';
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return buf;
	snprintf(buf, 32, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	return buf;
}

/* "name[12]"; who is gone has only a number */
static void put_process(pid_t pid, FILE *out)
{
	char comm[32];

	text_put(out, comm_of(pid, comm), NULL);
	fprintf(out, *comm ? "[%d]" : "%d, gone", pid);
}

static void put_holders(const struct shm_segment *at, FILE *out)
{
	for (size_t i = 0; i < at->nr_holders && i < HOLDERS; i++) {
		const struct shm_holder *h = &at->holders[i];

		fputs(i ? ", " : "", out);
		put_process(h->pid, out);
		if (h->maps != 1 || h->fds)
			fprintf(out, " %u map%s %u fd%s", h->maps, text_s(h->maps), h->fds,
				text_s(h->fds));
	}
	if (at->nr_holders > HOLDERS)
		fprintf(out, ", and %zu more", at->nr_holders - HOLDERS);
	if (!at->nr_holders)
		fputs("nobody", out);
}

static __u32 attached(const struct shm_segment *at)
{
	__u32 n = 0;

	if (at->kind == SHM_SYSV)
		return at->attached;
	for (size_t i = 0; i < at->nr_holders; i++)
		n += at->holders[i].maps;
	return n;
}

static void put_segment(const struct shm_segment *at, FILE *out)
{
	char size[TEXT_LEN] = "?", used[TEXT_LEN] = "?";

	if (at->sized) {
		text_bytes(size, (__s64)at->size, false);
		text_bytes(used, (__s64)at->used, false);
	}
	fprintf(out, "%-5s %10s %10s %8u  ", kinds[at->kind], size, used, attached(at));
	text_put(out, at->name, NULL);
	if (at->kind == SHM_SYSV) {
		fprintf(out, ", key 0x%x, %#o%s", (__u32)at->key, at->perms & 0777,
			at->perms & SHM_DEST ? ", removed at the last detach" : "");
		fputs(", created by ", out);
		put_process(at->creator, out);
		if (at->last) {
			fputs(", last attached or detached by ", out);
			put_process(at->last, out);
		}
	}
	fputs("\n      held by ", out);
	put_holders(at, out);
	fputc('\n', out);
}

void render_shm(const struct shm *s, FILE *out)
{
	char size[TEXT_LEN], used[TEXT_LEN];
	__u64 sizes = 0, uses = 0;

	fprintf(out, "%-5s %10s %10s %8s  %s\n", "KIND", "SIZE", "USED", "ATTACHED", "NAME");
	for (size_t i = 0; i < s->nr; i++) {
		put_segment(&s->at[i], out);
		sizes += s->at[i].size;
		uses += s->at[i].used;
	}
	fprintf(out, "\n%zu segment%s of %s, of which %s are used\n", s->nr, text_s(s->nr),
		text_bytes(size, (__s64)sizes, false), text_bytes(used, (__s64)uses, false));
	if (s->unread)
		fprintf(out, "%u process%s could not be read; root can read them\n", s->unread,
			s->unread == 1 ? "" : "es");
}

void render_shm_json(const struct shm *s, FILE *out)
{
	struct json j = { .out = out, .line = true };
	char comm[32];

	json_document(&j, "shm");
	json_u64(&j, "processes_not_read", s->unread);
	json_open(&j, "segments", '[');
	for (size_t i = 0; i < s->nr; i++) {
		const struct shm_segment *at = &s->at[i];

		json_open(&j, NULL, '{');
		json_str(&j, "kind", kinds[at->kind]);
		json_str(&j, "name", at->name);
		if (at->sized) {
			json_u64(&j, "size", at->size);
			json_u64(&j, "used", at->used);
		}
		json_u64(&j, "attached", attached(at));
		if (at->kind == SHM_SYSV) {
			json_u64(&j, "swapped", at->swapped);
			json_u64(&j, "shmid", at->inode);
			json_u64(&j, "key", (__u32)at->key);
			json_u64(&j, "mode", at->perms & 0777);
			json_bool(&j, "removed", at->perms & SHM_DEST);
			json_s64(&j, "creator", at->creator);
			json_s64(&j, "last", at->last);
		}
		json_open(&j, "holders", '[');
		for (size_t k = 0; k < at->nr_holders; k++) {
			json_open(&j, NULL, '{');
			json_s64(&j, "pid", at->holders[k].pid);
			json_str(&j, "comm", comm_of(at->holders[k].pid, comm));
			json_u64(&j, "maps", at->holders[k].maps);
			json_u64(&j, "fds", at->holders[k].fds);
			json_close(&j, '}');
		}
		json_close(&j, ']');
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	fputc('\n', out);
}
