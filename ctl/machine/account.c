// SPDX-License-Identifier: GPL-2.0-or-later
/* Sum up the machine's memory use, and compare two moments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/int.h"

static __u64 low_marks(const struct machine *m)
{
	__u64 pages = 0;

	for (size_t i = 0; i < m->nr_zones; i++)
		pages += m->zones[i].low;
	return machine_times(pages, m->page);
}

static __u64 half_or(__u64 v, __u64 low)
{
	return v / 2 < low ? v / 2 : low;
}

__u64 machine_available(const struct machine *m)
{
	const __u64 *mem = m->f.mem;
	const __u64 low = low_marks(m);
	const __u64 file = mem[MEM_ACTIVE_FILE] + mem[MEM_INACTIVE_FILE];
	__u64 sum;

	if (m->f.has_mem[MEM_AVAILABLE])
		return mem[MEM_AVAILABLE];
	/* as the kernel counts it since v3.14, with the low marks for what is reserved */
	sum = mem[MEM_FREE] > low ? mem[MEM_FREE] - low : 0;
	sum += file - half_or(file, low);
	sum += mem[MEM_SRECLAIMABLE] - half_or(mem[MEM_SRECLAIMABLE], low);
	return sum < mem[MEM_TOTAL] ? sum : mem[MEM_TOTAL];
}

__u64 machine_shmem_unmounted(const struct machine *m)
{
	__u64 mounted = 0;

	for (size_t i = 0; i < m->tmpfs.nr; i++)
		mounted += m->tmpfs.at[i].bytes;
	return m->f.mem[MEM_SHMEM] > mounted ? m->f.mem[MEM_SHMEM] - mounted : 0;
}

/* Stacks lie in areas of vmalloc since v4.9, and are counted on their own. */
static bool is_stack(const char *caller)
{
	static const char *const makers[] = {
		"dup_task_struct", "alloc_thread_stack_node", "copy_process", "kernel_clone",
		"_do_fork", "do_fork",
	};

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (!strcmp(caller, makers[i]))
			return true;
	return false;
}

static void put(struct machine_account *a, enum machine_kind kind, bool has, __u64 bytes)
{
	a->has[kind] = has;
	a->bytes[kind] = has ? (__s64)bytes : 0;
}

/*
 * VmallocUsed is 0 from v4.4 to v5.2.  Before, it is the address space that is used, with what
 * is no memory (a quarter of a gigabyte for PCI's registers): there is no Percpu then, which
 * came with v4.20, or VmallocChunk is not 0 (RHEL 7's last ones).
 */
bool machine_vmalloc_known(const struct machine *m)
{
	return m->f.has_mem[MEM_PERCPU] && !m->f.mem[MEM_VMALLOC_CHUNK];
}

/* What the areas hold is known exactly. */
static void account_vmalloc(const struct machine *m, struct machine_account *a)
{
	const __u64 used = m->f.mem[MEM_VMALLOC_USED], stacks = m->f.mem[MEM_STACKS];
	__u64 sum = 0;

	for (size_t i = 0; i < m->callers.nr; i++)
		if (!is_stack(m->callers.at[i].name))
			sum += m->callers.at[i].bytes;
	if (m->callers.has)
		put(a, KIND_VMALLOC, true, sum);
	else
		put(a, KIND_VMALLOC, used && machine_vmalloc_known(m),
		    used > stacks ? used - stacks : 0);
}

void machine_account(const struct machine *m, struct machine_account *a)
{
	const __u64 *mem = m->f.mem, *vm = m->f.vm;
	const bool *has = m->f.has_mem;
	const __u64 zs = machine_times(vm[VM_ZSPAGES], m->page);
	const __u64 isolated = machine_times(vm[VM_ISOLATED_ANON] + vm[VM_ISOLATED_FILE], m->page);
	const __u64 lru = mem[MEM_ACTIVE] + mem[MEM_INACTIVE] + mem[MEM_UNEVICTABLE] + isolated;
	const __u64 misc = has[MEM_KRECLAIMABLE] && mem[MEM_KRECLAIMABLE] > mem[MEM_SRECLAIMABLE] ?
			   mem[MEM_KRECLAIMABLE] - mem[MEM_SRECLAIMABLE] : 0;
	__u64 lists = 0, sum = 0;

	memset(a, 0, sizeof(*a));
	for (size_t i = 0; i < m->nr_zones; i++)
		lists += m->zones[i].lists;
	put(a, KIND_FREE, true, mem[MEM_FREE]);
	put(a, KIND_LISTS, m->nr_zones > 0, machine_times(lists, m->page));
	put(a, KIND_ANON, has[MEM_ANON], mem[MEM_ANON]);
	put(a, KIND_SHMEM, has[MEM_SHMEM], mem[MEM_SHMEM]);
	/* all others on the lists of reclaim are of files, or of the swap cache */
	put(a, KIND_FILE, true, lru > mem[MEM_ANON] + mem[MEM_SHMEM] ?
	    lru - mem[MEM_ANON] - mem[MEM_SHMEM] : 0);
	put(a, KIND_SLAB_UNRECLAIM, has[MEM_SUNRECLAIM], mem[MEM_SUNRECLAIM]);
	put(a, KIND_SLAB_RECLAIM, has[MEM_SRECLAIMABLE], mem[MEM_SRECLAIMABLE]);
	put(a, KIND_MISC_RECLAIM, has[MEM_KRECLAIMABLE], misc);
	put(a, KIND_STACKS, has[MEM_STACKS], mem[MEM_STACKS]);
	put(a, KIND_PAGE_TABLES, has[MEM_PAGE_TABLES],
	    mem[MEM_PAGE_TABLES] + mem[MEM_SEC_PAGE_TABLES]);
	put(a, KIND_PERCPU, has[MEM_PERCPU], mem[MEM_PERCPU]);
	account_vmalloc(m, a);
	put(a, KIND_ZSMALLOC, m->f.has_vm[VM_ZSPAGES] || m->zram_bytes,
	    m->f.has_vm[VM_ZSPAGES] ? zs : m->zram_bytes);
	put(a, KIND_HUGETLB, true, m->hugetlb);
	put(a, KIND_OTHER, true, mem[MEM_BOUNCE] + mem[MEM_BALLOON] + mem[MEM_GPU_ACTIVE] +
	    mem[MEM_GPU_RECLAIM] + mem[MEM_CORRUPTED]);
	for (int i = 0; i < KIND_UNACCOUNTED; i++)
		sum += (__u64)a->bytes[i];
	a->has[KIND_UNACCOUNTED] = true;
	a->bytes[KIND_UNACCOUNTED] = (__s64)(mem[MEM_TOTAL] - sum);
}

/* Of two moments the same: number and start of a process, else the name. */
static int same(const struct machine_holder *a, const struct machine_holder *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->pid ? 0 : strcmp(a->name, b->name);
}

static int by_identity(const void *a, const void *b)
{
	return same(*(const struct machine_holder *const *)a,
		    *(const struct machine_holder *const *)b);
}

static int by_growth(const void *a, const void *b)
{
	const struct machine_growth *x = a, *y = b;

	if (x->grew != y->grew)
		return x->grew > y->grew ? -1 : 1;
	if (x->now->bytes != y->now->bytes)
		return x->now->bytes > y->now->bytes ? -1 : 1;
	return same(x->now, y->now);
}

/* The list's holders, sorted by what they are. */
static const struct machine_holder **sorted(const struct machine_list *list)
{
	const struct machine_holder **at = malloc((list->nr + 1) * sizeof(*at));

	if (!at)
		return NULL;
	for (size_t i = 0; i < list->nr; i++)
		at[i] = &list->at[i];
	qsort(at, list->nr, sizeof(*at), by_identity);
	return at;
}

/* Not in the list before: that one had no time for all, or the process is older than it. */
static bool was_not_read(const struct machine_list *before, const struct machine_holder *h)
{
	const double tick = (double)sysconf(_SC_CLK_TCK);

	if (h->pid && h->start && before->uptime > 0)
		return (double)h->start / tick < before->uptime;
	return before->late;
}

int machine_compare(const struct machine_list *before, const struct machine_list *now,
		    struct machine_growth **out)
{
	const struct machine_holder **old = sorted(before), **new = sorted(now);
	struct machine_growth *g = malloc((now->nr + 1) * sizeof(*g));
	size_t at = 0;
	int order;

	*out = g;
	if (!old || !new || !g) {
		free(old);
		free(new);
		free(g);
		*out = NULL;
		return -ENOMEM;
	}
	for (size_t i = 0; i < now->nr; i++) {
		order = 1;
		while (at < before->nr && (order = same(old[at], new[i])) < 0)
			at++;
		g[i].now = new[i];
		g[i].before = at < before->nr && !order ? old[at] : NULL;
		g[i].unknown = !g[i].before && was_not_read(before, new[i]);
		g[i].grew = g[i].unknown ? 0 :
			    (__s64)(new[i]->bytes - (g[i].before ? g[i].before->bytes : 0));
	}
	qsort(g, now->nr, sizeof(*g), by_growth);
	free(old);
	free(new);
	return 0;
}
