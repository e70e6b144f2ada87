// SPDX-License-Identifier: GPL-2.0-or-later
/* Print `memtap ps` for programs: JSON, of which --csv is made. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "render/ps_int.h"

static void put_sums(const struct owners *w, const struct owner *row, struct json *j)
{
	char key[32];

	for (int i = 0; i < NR_PS_SUMS; i++)
		if (ps_known(w, row, i))
			json_u64(j, ps_key(i, key), row->v[i]);
	if (!row->nodes)
		return;
	json_open(j, "nodes", '[');
	for (__u32 i = 0; i < w->nr_nodes; i++)
		json_u64(j, NULL, row->nodes[i]);
	json_close(j, ']');
}

static void device_of(const struct owner *row, char buf[32])
{
	snprintf(buf, 32, "%02x:%02x", row->dev_major, row->dev_minor);
}

static void put_row(const struct owners *w, const struct owner *row, const struct ps_opts *o,
		    struct json *j)
{
	char device[32];

	json_open(j, NULL, '{');
	json_str(j, "name", row->name);
	if (o->map) {
		device_of(row, device);
		json_hex(j, "start", row->start);
		json_hex(j, "end", row->end);
		json_str(j, "perms", row->perms);
		json_hex(j, "offset", row->offset);
		json_str(j, "device", device);
		json_u64(j, "inode", row->inode);
		json_str(j, "flags", row->flags);
	} else if (o->by == BY_PROCESS) {
		json_u64(j, "pid", row->pid);
		json_str(j, "user", row->user);
		json_str(j, "cgroup", row->cgroup);
	} else {
		json_u64(j, "processes", row->nr);
	}
	if (!o->map)
		json_u64(j, "not_read", row->unread);
	put_sums(w, row, j);
	json_close(j, '}');
}

static void put_memory(const struct owners *w, const struct machine *m, struct json *j)
{
	static const char *const keys[NR_PS_PARTS] = {
		[PS_IN_ROWS] = "processes", [PS_IN_NO_ROW] = "in_no_row",
		[PS_NOT_MAPPED] = "not_mapped", [PS_KERNEL] = "kernel", [PS_POOL] = "hugetlb_pool",
		[PS_UNACCOUNTED] = "unaccounted", [PS_FREE] = "free",
	};
	struct ps_check checks[PS_CHECKS];
	const size_t nr = ps_checks(w, m, checks);
	__s64 parts[NR_PS_PARTS];

	if (w->chosen)
		return;
	json_open(j, "checks", '{');
	for (size_t i = 0; i < nr; i++) {
		json_open(j, checks[i].key, '{');
		json_u64(j, "processes", checks[i].sum);
		json_u64(j, "kernel", checks[i].kernel);
		json_close(j, '}');
	}
	json_close(j, '}');
	ps_parts(w, m, parts);
	json_open(j, "memory", '{');
	json_u64(j, "total", m->f.mem[MEM_TOTAL]);
	for (int i = 0; i < NR_PS_PARTS; i++)
		json_s64(j, keys[i], parts[i]);
	json_close(j, '}');
}

void render_ps_json(const struct owners *w, const struct machine *m, const struct ps_opts *o)
{
	static const char *const reasons[NR_OWNER_UNREAD] = {
		[OWNER_LATE] = "no_time", [OWNER_REFUSED] = "permission", [OWNER_GONE] = "ended",
		[OWNER_FAILED] = "failed",
	};
	struct json j = { .out = o->out, .line = o->line };
	const size_t nr = o->top && o->top < w->nr ? o->top : w->nr;

	json_document(&j, "ps");
	if (o->real_ns)
		json_u64(&j, "time_ns", o->real_ns);
	json_str(&j, "by", o->map ? "map" : ps_by_words[o->by]);
	json_u64(&j, "processes", w->sum.nr);
	json_open(&j, "not_read", '{');
	for (int i = OWNER_LATE; i < NR_OWNER_UNREAD; i++)
		json_u64(&j, reasons[i], w->unread[i]);
	json_u64(&j, "not_seen", w->chosen ? 0 : m->processes.late);
	json_u64(&j, "nodes", w->numa_unread);
	json_close(&j, '}');
	json_u64(&j, "not_read_rss", w->unread_rss);
	json_u64(&j, "rows_total", w->nr);
	json_open(&j, "rows", '[');
	for (size_t i = 0; i < nr; i++)
		put_row(w, &w->at[i], o, &j);
	json_close(&j, ']');
	json_open(&j, "sum", '{');
	put_sums(w, &w->sum, &j);
	json_close(&j, '}');
	put_memory(w, m, &j);
	json_close(&j, '}');
	fputc('\n', o->out);
}
