// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the page of a history. */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "render/flame_data.h"
#include "render/history_page.h"

enum { ANON, FILES, SHMEM, SLAB, KERNEL, HUGE_PAGES, OTHER, FREE };

static const char *const names[HISTORY_KINDS] = {
	[ANON] = "anonymous", [FILES] = "file cache", [SHMEM] = "shared", [SLAB] = "slab",
	[KERNEL] = "stacks, page tables, percpu, vmalloc", [HUGE_PAGES] = "huge page pool",
	[OTHER] = "other", [FREE] = "free",
};

static __u64 less(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

void history_moment(struct history_moment *to, const struct machine *m,
		    const struct machine *before)
{
	const __u64 *mem = m->f.mem;
	__u64 sum = 0;

	memset(to, 0, sizeof(*to));
	to->kinds[ANON] = mem[MEM_ANON];
	to->kinds[FILES] = less(mem[MEM_CACHED] + mem[MEM_BUFFERS], mem[MEM_SHMEM]);
	to->kinds[SHMEM] = mem[MEM_SHMEM];
	to->kinds[SLAB] = mem[MEM_SLAB];
	to->kinds[KERNEL] = mem[MEM_STACKS] + mem[MEM_PAGE_TABLES] + mem[MEM_SEC_PAGE_TABLES] +
			    mem[MEM_PERCPU] + mem[MEM_VMALLOC_USED];
	to->kinds[HUGE_PAGES] = mem[MEM_HUGETLB] ? mem[MEM_HUGETLB] :
				mem[MEM_HUGE_TOTAL] * mem[MEM_HUGE_SIZE];
	to->kinds[FREE] = mem[MEM_FREE];
	for (int i = 0; i < HISTORY_KINDS; i++)
		sum += to->kinds[i];
	/* kinds are read one after the other, and vmalloc's areas need not be memory */
	to->kinds[OTHER] = less(mem[MEM_TOTAL], sum);
	to->available = machine_available(m);
	to->swap = less(mem[MEM_SWAP_TOTAL], mem[MEM_SWAP_FREE]);
	if (before && before->psi.has && m->psi.has && m->ns > before->ns &&
	    m->psi.some_us >= before->psi.some_us)
		to->pressure = (double)(m->psi.some_us - before->psi.some_us) * 1e5 /
			       (double)(m->ns - before->ns);
}

static void put_moment(struct json *j, const struct history_moment *m)
{
	char when[TEXT_LEN];

	json_open(j, NULL, '{');
	json_u64(j, "t", m->real_ns / 1000000);
	json_str(j, "w", text_time(when, m->real_ns));
	json_open(j, "v", '[');
	for (int i = 0; i < HISTORY_KINDS; i++)
		json_u64(j, NULL, m->kinds[i]);
	json_close(j, ']');
	json_u64(j, "a", m->available);
	json_u64(j, "s", m->swap);
	json_seconds(j, "p", m->pressure);
	json_u64(j, "e", m->events);
	if (m->gap)
		json_str(j, "g", m->gap);
	if (m->triage)
		json_str(j, "x", m->triage);
	json_close(j, '}');
}

void history_page(const struct history_page *p, FILE *out)
{
	struct json j = { .out = out, .html = true };

	fputs(history_head, out);
	fputs("<script id=\"data\" type=\"application/json\">", out);
	json_open(&j, NULL, '{');
	json_str(&j, "title", p->title);
	json_str(&j, "subtitle", p->subtitle);
	json_u64(&j, "total", p->total);
	json_open(&j, "kinds", '[');
	for (int i = 0; i < HISTORY_KINDS; i++)
		json_str(&j, NULL, names[i]);
	json_close(&j, ']');
	json_open(&j, "moments", '[');
	for (size_t i = 0; i < p->nr; i++)
		put_moment(&j, &p->moments[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	fprintf(out, "</script>\n<script>\n%s</script>\n</body>\n</html>\n", history_app);
}
