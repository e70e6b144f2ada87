// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap leaks -k --census`: sum up all memory by kind, and show which kind grows. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "render/triage_int.h"

/* What is not told by a kernel stands in what is left over. */
static void put_missing(const struct triage *t, FILE *out)
{
	size_t nr = 0;

	for (int i = 0; i < NR_MACHINE_KIND; i++) {
		if (t->is.has[i] || i == KIND_ZSMALLOC)
			continue;
		fprintf(out, "%s%s", nr++ ? "; " : "  including, because this kernel does not "
						   "report it: ",
			kind_words[i]);
	}
	if (nr)
		fputc('\n', out);
}

static void put_row(const struct triage *t, const struct triage_opts *o, const char *sign,
		    int kind, const char *more)
{
	const __s64 grew = t->is.bytes[kind] - t->was.bytes[kind];
	char text[TEXT_LEN], change[TEXT_LEN];

	fprintf(o->out, "%s %-28s %11s  ", sign, kind_words[kind],
		text_bytes(text, t->is.bytes[kind], false));
	snprintf(text, sizeof(text), "%11s", grew ? text_bytes(change, grew, true) : "-");
	page_paint(o, grew >= triage_floor(t) && kind != KIND_FREE ? COLOR_WATCH : COLOR_NONE,
		   text);
	if (*more)
		fprintf(o->out, "  %s", more);
	fputc('\n', o->out);
}

static void put_sum(const struct triage *t, const struct triage_opts *o)
{
	const __s64 grew = triage_mem_grew(t, MEM_TOTAL);
	const __u64 *mem = t->now->f.mem;
	char text[TEXT_LEN], change[TEXT_LEN], more[96];

	fprintf(o->out, "\n  %-28s %11s  %11s\n", "", "BYTES", "GREW");
	fprintf(o->out, "  %-28s %11s  %11s\n", "MemTotal",
		text_bytes(text, (__s64)mem[MEM_TOTAL], false),
		grew ? text_bytes(change, grew, true) : "-");
	for (int i = 0; i < NR_MACHINE_KIND; i++) {
		if (!t->is.has[i] || (!t->is.bytes[i] && !t->was.bytes[i]))
			continue;
		more[0] = '\0';
		if (i == KIND_FREE && mem[MEM_UNACCEPTED])
			snprintf(more, sizeof(more), "%s of it not accepted yet",
				 text_bytes(text, (__s64)mem[MEM_UNACCEPTED], false));
		else if (i == KIND_FILE && (mem[MEM_DIRTY] + mem[MEM_WRITEBACK]) >> 20)
			snprintf(more, sizeof(more), "%s dirty or in writeback",
				 text_bytes(text, (__s64)(mem[MEM_DIRTY] +
							  mem[MEM_WRITEBACK]), false));
		else if (i == KIND_UNACCOUNTED)
			snprintf(more, sizeof(more), "drivers' pages, and memory without a "
						     "counter");
		put_row(t, o, i ? "+" : "=", i, more);
	}
	put_missing(t, o->out);
}

static void put_kinds(const struct triage *t, const struct triage_opts *o)
{
	const struct machine *m = t->now;
	const struct page_holders kinds[] = {
		{ .kind = "slab", .at = t->slabs, .nr = m->slabs.nr, .top = 8,
		  .unit = "object" },
		{ .kind = "vmalloc", .at = t->callers, .nr = m->callers.nr, .top = 5,
		  .unit = "area" },
		{ .kind = "line", .at = t->sites, .nr = m->sites.nr, .top = 8,
		  .unit = "object" },
		{ .kind = "tmpfs", .at = t->tmpfs, .nr = m->tmpfs.nr, .top = 3,
		  .limits = true },
		{ .kind = "deleted", .at = t->deleted, .nr = m->deleted.nr, .top = 2,
		  .unit = "holder" },
	};

	fprintf(o->out, "\n  %-10s%-38s %11s  %11s\n", "who", "", "HOLDS", "GREW");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		page_holders(t, o, &kinds[i]);
}

/* The processes with the largest page tables. */
static void put_tables(const struct triage *t, FILE *out)
{
	const struct machine_growth *best[3] = { NULL };
	char has[TEXT_LEN], grew[TEXT_LEN];

	for (size_t i = 0; i < t->now->processes.nr; i++) {
		const struct machine_growth *g = &t->processes[i];

		for (int k = 0; k < 3; k++)
			if (!best[k] || g->now->tables > best[k]->now->tables) {
				const struct machine_growth *pushed = best[k];

				best[k] = g;
				g = pushed;
				if (!g)
					break;
			}
	}
	for (int k = 0; k < 3 && best[k] && best[k]->now->tables; k++) {
		const struct machine_holder *now = best[k]->now, *was = best[k]->before;
		const __s64 change = was ? (__s64)(now->tables - was->tables) : 0;
		char name[32];

		snprintf(name, sizeof(name), "%s (%u)", now->name, now->pid);
		fprintf(out, "  %-10s", k ? "" : "tables");
		text_put(out, name, NULL);
		fprintf(out, "%*s %11s  %11s\n", (int)(38 - strlen(name)), "",
			text_bytes(has, (__s64)now->tables, false),
			!was ? "new" : change ? text_bytes(grew, change, true) : "-");
	}
}

static void put_beside(const struct triage *t, FILE *out)
{
	const struct machine *m = t->now, *b = t->before;
	const __s64 sockets = (__s64)(m->socket_pages - b->socket_pages) * m->page;
	const __u64 unmounted = machine_shmem_unmounted(m);
	char text[TEXT_LEN];
	__u64 own = 0;

	for (size_t i = 0; i < m->processes.nr; i++)
		own += m->processes.at[i].bytes;
	fputs("\n  Also counted above:\n", out);
	fprintf(out, "    sockets of TCP and UDP %s",
		text_bytes(text, (__s64)(m->socket_pages * m->page), false));
	if (sockets)
		fprintf(out, " (%s)", text_bytes(text, sockets, true));
	fprintf(out, ", in slab and unaccounted (not reported for UNIX, packet and netlink "
		     "sockets); System V %s, in shared\n",
		text_bytes(text, (__s64)m->shm_bytes, false));
	fprintf(out, "    shared memory outside tmpfs mounted here %s (memfd, deleted files, "
		     "System V)\n",
		text_bytes(text, (__s64)unmounted, false));
	fprintf(out, "    RSS and swap of %zu process%s %s, file pages counted once per mapping\n",
		m->processes.nr, m->processes.nr == 1 ? "" : "es",
		text_bytes(text, (__s64)own, false));
	if (m->dying || b->dying)
		fprintf(out, "    %llu removed cgroups are still charged (%+lld); kernel memory "
			     "of no live cgroup: %s\n", (unsigned long long)m->dying,
			(long long)(m->dying - b->dying),
			text_bytes(text, (__s64)m->dead_kernel, false));
}

void render_census(const struct triage *t, const struct triage_opts *o)
{
	if (o->json) {
		render_census_json(t, o);
		return;
	}
	page_head(t, o, "memtap leaks -k --census");
	put_sum(t, o);
	put_kinds(t, o);
	put_tables(t, o->out);
	put_beside(t, o->out);
	page_footer(t, o);
}
