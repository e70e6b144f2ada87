// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the lines of the kernel's OOM reports, from 3.10's on. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/int.h"
#include "machine/oom_log_int.h"

#define MOST_ROWS	(1U << 17)
#define MOST_CELL	(1LL << 50)

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* A decimal number at @p, and where it ends; what does not fit is the largest. */
static bool number(const char *p, __u64 *v, const char **end)
{
	char *stop;

	if (!isdigit((unsigned char)*p))
		return false;
	errno = 0;
	*v = strtoull(p, &stop, 10);
	if (errno || *v > 1ULL << 56)
		*v = 1ULL << 56;
	if (end)
		*end = stop;
	return true;
}

bool oom_log_number(const char *text, const char *key, __u64 *v)
{
	const char *p = strstr(text, key);

	if (!p)
		return false;
	p += strlen(key);
	p += strspn(p, " ");
	return number(p, v, NULL);
}

static __u64 kib(__u64 kb)
{
	return machine_times(kb, 1024) > 1ULL << 56 ? 1ULL << 56 : machine_times(kb, 1024);
}

static bool kb_of(const char *text, const char *key, __u64 *bytes)
{
	__u64 kb;

	if (!oom_log_number(text, key, &kb))
		return false;
	*bytes = kib(kb);
	return true;
}

/* A signed number, as of oom_score_adj; false: none, or out of the kernel's range. */
static bool adj_of(const char *text, const char *key, __s32 *adj)
{
	const char *p = strstr(text, key);
	int v;

	if (!p || sscanf(p + strlen(key), "%d", &v) != 1 || v < -1000 || v > 1000)
		return false;
	*adj = v;
	return true;
}

static void copy(char *to, size_t room, const char *from, size_t len)
{
	if (len >= room)
		len = room - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

/* --- who asked for memory -------------------------------------------------------- */

static bool invoked(struct oom_log_part *p, char *text)
{
	static const char words[] = " invoked oom-killer: ";
	char *at = strstr(text, words), *open, *close;
	struct memtap_oom_record *r = &p->k.r;
	unsigned long long gfp;
	int order;

	if (!at)
		return false;
	copy(r->trigger.comm, sizeof(r->trigger.comm), text, (size_t)(at - text));
	at += sizeof(words) - 1;
	p->k.has |= OOM_LOG_INVOKED;
	if (sscanf(at, "gfp_mask=%llx", &gfp) == 1)
		r->gfp = gfp;
	open = strchr(at, '(');
	close = open ? strchr(open, ')') : NULL;
	/* "nodemask=(null)" has brackets, too */
	if (close && open - at < 24 && open[-1] != '=')
		copy(r->gfp_text, sizeof(r->gfp_text), open + 1, (size_t)(close - open - 1));
	at = strstr(at, " order=");
	if (at && sscanf(at, " order=%d", &order) == 1 && order >= -1 && order < 64)
		r->order = order;
	else
		p->k.has &= ~OOM_LOG_INVOKED;
	if (r->order == -1)
		r->flags |= MEMTAP_OOM_SYSRQ;
	return true;
}

/* "NAME cpuset=/ mems_allowed=0", before v4.20 */
static bool cpuset(struct oom_log_part *p, char *text)
{
	const char *at = strstr(text, " cpuset="), *end;

	if (!at || !strstr(at, " mems_allowed="))
		return false;
	at += strlen(" cpuset=");
	end = strstr(at, " mems_allowed=");
	copy(p->k.cpuset, sizeof(p->k.cpuset), at, (size_t)(end - at));
	return true;
}

/* "CPU: 0 PID: 12 Comm: x Not tainted 3.10.0 #1", since 6.12 with "UID: 0" */
static bool cpu(struct oom_log_part *p, char *text)
{
	char *at = strstr(text, " PID: "), *hash, *word;
	int pid;

	if (!starts(text, "CPU: ") || !at)
		return false;
	if (sscanf(at, " PID: %d", &pid) == 1 && pid > 0) {
		p->k.r.trigger.tid = pid;
		p->k.has |= OOM_LOG_TRIGGER;
	}
	hash = strstr(at, " #");
	if (!hash)
		hash = at + strlen(at);
	for (word = hash; word > at && word[-1] != ' '; word--)
		;
	if (strstr(at, "ainted") && isdigit((unsigned char)*word))
		copy(p->k.release, sizeof(p->k.release), word, (size_t)(hash - word));
	return true;
}

/* " [<ffffffff8110f3b4>] dump_header+0x84/0xc9", " dump_stack_lvl+0x44/0x5c"; not "? x+0x1/0x2" */
static bool in_stack(struct oom_log_part *p, char *text)
{
	char *at = text + strspn(text, " "), *plus, *end;

	if (starts(at, "Call Trace:") || starts(at, "Call trace:")) {
		/* a panic has another one */
		p->in_stack = true;
		p->other_stack = p->k.stack_nr;
		return true;
	}
	if (!p->in_stack)
		return false;
	if (*at == '<' && strchr(at, '>'))	/* "<TASK>" */
		return true;
	if (starts(at, "[<"))
		at = strchr(at, ']') ? strchr(at, ']') + 1 + strspn(strchr(at, ']') + 1, " ") : at;
	plus = strstr(at, "+0x");
	end = plus ? strstr(plus, "/0x") : NULL;
	if (!end || memchr(at, '=', (size_t)(plus - at))) {
		p->in_stack = false;
		return false;
	}
	if (*at != '?' && !p->other_stack && p->k.stack_nr < OOM_LOG_STACK)
		copy(p->k.stack[p->k.stack_nr++], sizeof(p->k.stack[0]), at, (size_t)(plus - at));
	return true;
}

/* --- a cgroup ------------------------------------------------------------------- */

static void at_limit(struct oom_log_part *p, const char *path, size_t len)
{
	struct memtap_oom_record *r = &p->k.r;

	r->constraint = MEMTAP_CONSTRAINT_MEMCG;
	p->k.has |= OOM_LOG_CONSTRAINT;
	copy(r->limit_long, sizeof(r->limit_long), path, len);
	copy(r->limit_path, sizeof(r->limit_path), path, len);
}

/* "Task in /a/b killed as a result of limit of /a", before v4.20 */
static bool task_in(struct oom_log_part *p, char *text)
{
	static const char words[] = " killed as a result of limit of ";
	char *at;

	if (!starts(text, "Task in /"))
		return false;
	at = strstr(text, words);
	if (at) {
		copy(p->k.r.victim_path, sizeof(p->k.r.victim_path), text + 8,
		     (size_t)(at - text - 8));
		at += sizeof(words) - 1;
		at_limit(p, at, strlen(at));
	}
	return true;
}

/* "memory: usage 1kB, limit 2kB, failcnt 3", and "kmem: usage 1kB, ..." of cgroup v1 */
static bool usage(struct oom_log_part *p, char *text)
{
	struct memtap_oom_record *r = &p->k.r;
	__u64 used, limit;

	if (starts(text, "kmem: usage ") && kb_of(text, "usage ", &used)) {
		r->charged[MEMTAP_CHARGED_KERNEL] = used;
		return true;
	}
	if (!starts(text, "memory: usage "))
		return false;
	if (kb_of(text, "usage ", &used) && kb_of(text, "limit ", &limit)) {
		r->usage = used;
		r->limit = limit;
		p->k.has |= OOM_LOG_LIMIT;
	}
	return true;
}

static const struct {
	const char *name;
	__u32 to;
	bool kb;			/* of the one line that kernels before v5.3 print */
} stats[] = {
	{ "anon", MEMTAP_CHARGED_ANON, false },
	{ "file", MEMTAP_CHARGED_FILE, false },
	{ "shmem", MEMTAP_CHARGED_SHMEM, false },
	{ "kernel", MEMTAP_CHARGED_KERNEL, false },
	{ "kernel_stack", MEMTAP_CHARGED_STACKS, false },
	{ "pagetables", MEMTAP_CHARGED_TABLES, false },
	{ "percpu", MEMTAP_CHARGED_PERCPU, false },
	{ "vmalloc", MEMTAP_CHARGED_VMALLOC, false },
	{ "slab_unreclaimable", MEMTAP_CHARGED_SLAB, false },
	{ "slab_reclaimable", MEMTAP_CHARGED_SLAB_RECLAIMABLE, false },
	{ "sock", MEMTAP_CHARGED_SOCKETS, false },
	{ "unevictable", MEMTAP_CHARGED_UNEVICTABLE, false },
	/* of cgroup v1 */
	{ "total_rss", MEMTAP_CHARGED_ANON, false },
	{ "total_cache", MEMTAP_CHARGED_FILE, false },
	{ "total_shmem", MEMTAP_CHARGED_SHMEM, false },
	{ "total_unevictable", MEMTAP_CHARGED_UNEVICTABLE, false },
	{ "rss", MEMTAP_CHARGED_ANON, true },
	{ "cache", MEMTAP_CHARGED_FILE, true },
	{ "shmem", MEMTAP_CHARGED_SHMEM, true },
	{ "unevictable", MEMTAP_CHARGED_UNEVICTABLE, true },
};

static void charge(struct oom_log_part *p, const char *name, size_t len, __u64 v, bool kb)
{
	__u64 *charged = p->k.r.charged;

	for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++) {
		if (stats[i].kb != kb || strlen(stats[i].name) != len ||
		    memcmp(stats[i].name, name, len))
			continue;
		/* the old line is of each cgroup below the limit, without those below it */
		if (charged[stats[i].to] == MEMTAP_OOM_UNKNOWN)
			charged[stats[i].to] = 0;
		charged[stats[i].to] = kb ? charged[stats[i].to] + kib(v) : v;
		p->k.has |= OOM_LOG_STAT;
	}
	if ((kb && len == 11 && !memcmp(name, "mapped_file", len)) ||
	    (!kb && len == 11 && !memcmp(name, "file_mapped", len)))
		p->stat_mapped = (kb && p->stat_mapped != MEMTAP_OOM_UNKNOWN ? p->stat_mapped : 0) +
				 (kb ? kib(v) : v);
}

/* "Memory cgroup stats for /a: cache:0KB rss:1KB ..."; or "anon 1" below it, each on its line */
static bool stat_line(struct oom_log_part *p, char *text)
{
	char *at = text + strspn(text, " "), *colon;
	const char *end;
	size_t len;
	__u64 v;

	if (starts(text, "Memory cgroup stats")) {
		at = strchr(text, ':');
		p->in_stat = true;
		while (at && (at = strchr(at, ' '))) {
			at++;
			colon = at + strcspn(at, ": ");
			if (*colon == ':' && number(colon + 1, &v, &end) && starts(end, "KB"))
				charge(p, at, (size_t)(colon - at), v, true);
		}
		return true;
	}
	if (!p->in_stat)
		return false;
	len = strcspn(at, " ");
	if (at[len] != ' ' || !number(at + len + 1, &v, &end) || *end) {
		p->in_stat = !*at;
		return false;
	}
	charge(p, at, len, v, false);
	return true;
}

/* --- the machine ------------------------------------------------------------------- */

static void count(struct oom_log_part *p, __u32 vm, __u64 pages)
{
	if (p->pages[vm] == MEMTAP_OOM_UNKNOWN)
		p->pages[vm] = 0;
	p->pages[vm] += pages;
}

static void counter(struct oom_log_part *p, const char *name, size_t len, __u64 v)
{
	static const struct {
		const char *name;
		int vm;
	} names[] = {
		/* the first are summed up */
		{ "active_anon", MEMTAP_VM_ANON }, { "inactive_anon", MEMTAP_VM_ANON },
		{ "isolated_anon", MEMTAP_VM_ANON }, { "unevictable", MEMTAP_VM_UNEVICTABLE },
		{ "dirty", MEMTAP_VM_DIRTY }, { "writeback", MEMTAP_VM_WRITEBACK },
		{ "slab_reclaimable", MEMTAP_VM_SLAB_RECLAIMABLE },
		{ "slab_unreclaimable", MEMTAP_VM_SLAB }, { "shmem", MEMTAP_VM_SHMEM },
		{ "pagetables", MEMTAP_VM_TABLES }, { "sec_pagetables", MEMTAP_VM_TABLES },
		{ "free", MEMTAP_VM_FREE }, { "mapped", -1 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i].name) != len || memcmp(names[i].name, name, len))
			continue;
		if (names[i].vm < 0)
			p->mapped = v;
		else
			count(p, (__u32)names[i].vm, v);
		p->anon_lists += i < ANON_LISTS;
		p->k.has |= OOM_LOG_MEMORY;
	}
}

/* "active_anon:1 inactive_anon:2 isolated_anon:0", in pages */
static bool mem_info(struct oom_log_part *p, char *text)
{
	static const char *const first[] = {
		"active_anon:", "active_file:", "unevictable:", "slab_reclaimable:", "mapped:",
		"free:", "sec_pagetables:", "dirty:", "kernel_misc_reclaimable:",
	};
	char *at = text + strspn(text, " "), *colon;
	const char *end;
	bool is = false;
	__u64 v;

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		is = is || starts(at, first[i]);
	while (is && *at) {
		colon = at + strcspn(at, ": ");
		if (*colon == ':' && number(colon + 1, &v, &end) && (!*end || *end == ' '))
			counter(p, at, (size_t)(colon - at), v);
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return is;
}

static struct memtap_oom_zone *zone_of(struct memtap_oom_record *r, __u32 node, const char *name,
				       size_t len)
{
	struct memtap_oom_zone *z;

	for (__u32 i = 0; i < r->nr_zones; i++) {
		z = &r->zones[i];
		if (z->node == node && strlen(z->name) == len && !memcmp(z->name, name, len))
			return z;
	}
	if (r->nr_zones == MEMTAP_OOM_ZONES || len >= sizeof(z->name))
		return NULL;
	z = &r->zones[r->nr_zones++];
	z->node = node;
	copy(z->name, sizeof(z->name), name, len);
	return z;
}

/* "free:1kB min:2kB low:3kB high:4kB ... managed:5kB mlocked:0kB ... kernel_stack:6kB" */
static void zone_sizes(struct oom_log_part *p, __u32 node, const char *name, const char *at)
{
	struct memtap_oom_record *r = &p->k.r;
	struct memtap_oom_zone *z = zone_of(r, node, name, strcspn(name, " "));
	__u64 v;

	/* a managed size of 0 is that of a zone that the kernel does not use */
	if (!z || !kb_of(at, "free:", &z->free) || !kb_of(at, " min:", &z->min) ||
	    !kb_of(at, " low:", &z->low) || !kb_of(at, " high:", &z->high)) {
		if (z && z == &r->zones[r->nr_zones - 1])
			r->nr_zones--;
		return;
	}
	if (kb_of(at, " managed:", &z->managed))
		r->total += z->managed;
	if (kb_of(at, " mlocked:", &v))
		r->counters[MEMTAP_VM_LOCKED] = v + (r->counters[MEMTAP_VM_LOCKED] ==
			MEMTAP_OOM_UNKNOWN ? 0 : r->counters[MEMTAP_VM_LOCKED]);
	if (kb_of(at, " kernel_stack:", &v))
		r->counters[MEMTAP_VM_STACKS] = v + (r->counters[MEMTAP_VM_STACKS] ==
			MEMTAP_OOM_UNKNOWN ? 0 : r->counters[MEMTAP_VM_STACKS]);
}

/* "1*4kB (M) 0*8kB ... = 15904kB" */
static void zone_blocks(struct oom_log_part *p, __u32 node, const char *name, size_t len,
			const char *at)
{
	struct memtap_oom_record *r = &p->k.r;
	struct memtap_oom_zone *z = zone_of(r, node, name, len);
	__u64 n, kb, first = 0;
	const char *end;

	if (!z)
		return;
	z->nr_orders = 0;
	while (*at && *at != '=' && z->nr_orders < MEMTAP_OOM_ORDERS) {
		if (number(at, &n, &end) && *end == '*' && number(end + 1, &kb, &end) &&
		    starts(end, "kB")) {
			if (!first)
				first = kb;
			/* a piece is missing: what follows is of other orders */
			if (!first || kb != first << z->nr_orders)
				break;
			z->blocks[z->nr_orders++] = n;
		}
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	if (first >= 4 && first <= 64 && !(first & (first - 1)) && z->nr_orders > 1) {
		r->page_size = (__u32)first << 10;
		p->k.has |= OOM_LOG_PAGE;
	}
}

static void hugepages(struct oom_log_part *p, const char *at)
{
	__u64 *counters = p->k.r.counters, total, unused, kb;

	if (!oom_log_number(at, "hugepages_total=", &total) ||
	    !oom_log_number(at, "hugepages_free=", &unused) ||
	    !oom_log_number(at, "hugepages_size=", &kb))
		return;
	if (counters[MEMTAP_VM_HUGE] == MEMTAP_OOM_UNKNOWN) {
		counters[MEMTAP_VM_HUGE] = 0;
		counters[MEMTAP_VM_HUGE_FREE] = 0;
	}
	counters[MEMTAP_VM_HUGE] += machine_times(total, kib(kb));
	counters[MEMTAP_VM_HUGE_FREE] += machine_times(unused, kib(kb));
}

static bool is_zone(const char *name)
{
	static const char *const names[] = { "DMA", "DMA32", "Normal", "HighMem", "Movable",
					     "Device" };
	const size_t len = strcspn(name, " :");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return true;
	return false;
}

/* A kernel without NUMA leaves out "Node 0 ". */
static bool node_line(struct oom_log_part *p, char *text)
{
	unsigned int node = 0;
	char *at = text;
	__u64 kb;
	int n = 0;
	size_t len;

	if (sscanf(text, "Node %u %n", &node, &n) == 1 && n)
		at += n;
	if (starts(at, "hugepages_total=")) {
		hugepages(p, at);
		return true;
	}
	if (n && starts(at, "active_anon:")) {
		/* since v5.9 stacks and page tables are of the node */
		if (kb_of(at, " kernel_stack:", &kb))
			p->k.r.counters[MEMTAP_VM_STACKS] = kb +
				(p->k.r.counters[MEMTAP_VM_STACKS] == MEMTAP_OOM_UNKNOWN ? 0 :
				 p->k.r.counters[MEMTAP_VM_STACKS]);
		return true;
	}
	if (!is_zone(at))
		return n;
	len = strcspn(at, " :");
	if (starts(at + len, " free:"))
		zone_sizes(p, node, at, at + len + 1);
	else if (at[len] == ':')
		zone_blocks(p, node, at, len, at + len + 1 + strspn(at + len + 1, " "));
	return n || at[len] == ':';
}

static bool totals(struct oom_log_part *p, char *text)
{
	const char *end;
	__u64 v;

	if (starts(text, "Free swap ") && kb_of(text, "=", &v)) {
		p->k.r.counters[MEMTAP_VM_SWAP_FREE] = v;
		return true;
	}
	if (starts(text, "Total swap ") && kb_of(text, "=", &v)) {
		p->k.swap_total = v;
		p->k.has |= OOM_LOG_SWAP;
		return true;
	}
	if (!number(text, &v, &end))
		return false;
	if (!strcmp(end, " total pagecache pages")) {
		count(p, MEMTAP_VM_FILE, v);
	} else if (!strcmp(end, " pages in swap cache")) {
		p->swap_cached = v;
	} else if (!strcmp(end, " pages RAM")) {
		p->ram_pages = v;
		p->has_ram = true;
	} else if (!strcmp(end, " pages reserved")) {
		p->reserved_pages = v;
		p->has_reserved = true;
	} else {
		return false;
	}
	return true;
}

/* "kmalloc-64   1234KB   1250KB", below "Unreclaimable slab info:" */
static bool cache(struct oom_log_part *p, char *text)
{
	struct oom_log_cache *c = p->k.caches;
	char name[48];
	unsigned long long used, total;
	__u32 at;

	if (starts(text, "Unreclaimable slab info:")) {
		p->in_caches = true;
		return true;
	}
	if (!p->in_caches)
		return false;
	if (starts(text, "Name "))
		return true;
	if (sscanf(text, "%47s %lluKB %lluKB", name, &used, &total) != 3) {
		p->in_caches = false;
		return false;
	}
	at = p->k.caches_nr;
	if (at == OOM_LOG_CACHES && c[at - 1].bytes >= kib(total))
		return true;
	if (at < OOM_LOG_CACHES)
		p->k.caches_nr++;
	else
		at--;
	for (; at && c[at - 1].bytes < kib(total); at--)
		c[at] = c[at - 1];
	c[at].bytes = kib(total);
	copy(c[at].name, sizeof(c[at].name), name, strlen(name));
	return true;
}

/* --- processes --------------------------------------------------------------------- */

/* "[ pid ]   uid  tgid total_vm      rss nr_ptes swapents oom_score_adj name" */
static bool columns(struct oom_log_part *p, char *text)
{
	char *close = strchr(text, ']'), *word, *save;

	if (*text != '[' || !close || !strstr(text, "pid") || !strstr(close, " total_vm ") ||
	    !strstr(close, " rss "))
		return false;
	p->in_table = true;
	p->nr_columns = 0;
	for (word = strtok_r(close + 1, " ", &save); word && p->nr_columns < 16;
	     word = strtok_r(NULL, " ", &save))
		copy(p->columns[p->nr_columns++], sizeof(p->columns[0]), word, strlen(word));
	return true;
}

static void cell(struct oom_log_row *r, const char *name, __s64 v)
{
	const __u64 u = v < 0 ? 0 : (__u64)v;

	const struct {
		const char *name;
		__u64 *to;
	} sizes[] = {
		{ "total_vm", &r->virt }, { "rss", &r->rss }, { "rss_anon", &r->anon },
		{ "rss_file", &r->file }, { "rss_shmem", &r->shmem }, { "swapents", &r->swap },
		{ "nr_ptes", &r->tables }, { "nr_pmds", &r->tables }, { "nr_puds", &r->tables },
		{ "pgtables_bytes", &r->tables },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (!strcmp(name, sizes[i].name))
			*sizes[i].to += u;
	if (!strcmp(name, "uid"))
		r->uid = (__u32)u;
	else if (!strcmp(name, "tgid"))
		r->pid = (__s32)(u & 0x7fffffff);
	else if (!strcmp(name, "oom_score_adj"))
		r->adj = v >= -1000 && v <= 1000 ? (__s32)v : 0;
	r->table_pages = r->table_pages || !strcmp(name, "nr_ptes");
	r->split = r->split || !strcmp(name, "rss_anon");
}

/* "[  812]     0   812    12345      678      9        0             0 name" */
static bool row(struct oom_log_part *p, char *text)
{
	struct oom_log_row *more, r = { .pid = 0 };
	char *at = strchr(text, ']'), *end;
	size_t i, room;
	long long v;
	int pid;

	if (!p->in_table)
		return false;
	if (*text != '[' || !at || sscanf(text, "[ %d ]", &pid) != 1) {
		/* other lines may come between */
		return false;
	}
	at++;
	for (i = 0; i + 1 < p->nr_columns; i++) {
		errno = 0;
		v = strtoll(at, &end, 10);
		if (end == at || errno || (*end && *end != ' ') || v > MOST_CELL || v < -MOST_CELL)
			return true;	/* it is cut off */
		cell(&r, p->columns[i], v);
		at = end;
	}
	at += strspn(at, " ");
	if (!*at || r.pid <= 0 || p->nr_rows == MOST_ROWS)
		return true;
	copy(r.name, sizeof(r.name), at, strlen(at));
	if (p->nr_rows == p->room_rows) {
		room = p->room_rows ? 2 * p->room_rows : 256;
		more = realloc(p->rows, room * sizeof(*more));
		if (!more)
			return true;
		p->rows = more;
		p->room_rows = room;
	}
	p->rows[p->nr_rows++] = r;
	p->k.has |= OOM_LOG_TABLE | (r.split ? OOM_LOG_SPLIT : 0);
	return true;
}

/* --- the victim -------------------------------------------------------------------- */

bool oom_log_victim(const char *text, __s32 *pid, char name[16])
{
	static const char *const ends[] = { ") total-vm", "), UID ", ") score ", ") sharing",
					    "), now" };
	const char *open, *end = NULL;

	if (sscanf(text, "process %d", pid) != 1 || *pid <= 0)
		return false;
	name[0] = '\0';
	open = strchr(text, '(');
	if (!open)
		return false;
	for (size_t i = 0; !end && i < sizeof(ends) / sizeof(ends[0]); i++)
		end = strstr(open, ends[i]);
	if (!end)
		end = strrchr(open, ')');
	if (!end)
		return false;
	copy(name, 16, open + 1, (size_t)(end - open - 1));
	return true;
}

/* "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,...,oom_memcg=/a,task_memcg=" */
static bool constraint(struct oom_log_part *p, char *text)
{
	static const struct {
		const char *word;
		__u32 is;
	} words[] = {
		{ "NONE,", MEMTAP_CONSTRAINT_NONE }, { "MEMCG,", MEMTAP_CONSTRAINT_MEMCG },
		{ "CPUSET,", MEMTAP_CONSTRAINT_CPUSET },
		{ "MEMORY_POLICY,", MEMTAP_CONSTRAINT_POLICY },
	};
	static const char first[] = "oom-kill:constraint=CONSTRAINT_";
	struct memtap_oom_record *r = &p->k.r;
	char path[1024] = "";
	const char *at;

	if (!starts(text, first))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (starts(text + sizeof(first) - 1, words[i].word)) {
			r->constraint = words[i].is;
			p->k.has |= OOM_LOG_CONSTRAINT;
		}
	if (r->constraint == MEMTAP_CONSTRAINT_MEMCG && (p->k.has & OOM_LOG_CONSTRAINT)) {
		log_limit_of(text, path, sizeof(path));
		at_limit(p, path, strlen(path));
	}
	r->victim.pid = (__s32)(log_victim_of(text) & 0x7fffffff);
	at = strstr(text, ",task=");
	for (const char *next = at; next; next = strstr(next + 1, ",task="))
		at = next;
	if (at && r->victim.pid) {
		copy(r->victim.comm, sizeof(r->victim.comm), at + 6, strcspn(at + 6, ","));
		p->k.has |= OOM_LOG_CHOSEN;
	}
	return true;
}

static void sizes(struct oom_log_part *p, struct memtap_oom_task *t, const char *at)
{
	__u64 v;

	if (kb_of(at, "total-vm:", &t->virt) && kb_of(at, "anon-rss:", &t->anon) &&
	    kb_of(at, "file-rss:", &t->file)) {
		t->flags |= MEMTAP_OOM_TASK_SIZED;
		if (t == &p->k.r.victim)
			p->k.has |= OOM_LOG_SIZED;
	}
	if (kb_of(at, "shmem-rss:", &t->shmem) && t == &p->k.r.victim)
		p->k.has |= OOM_LOG_SHMEM;
	kb_of(at, "pgtables:", &t->tables);
	if (oom_log_number(at, "UID:", &v) || oom_log_number(at, "UID ", &v)) {
		t->uid = (__u32)v;
		if (t == &p->k.r.victim)
			p->k.has |= OOM_LOG_UID;
	}
	if (adj_of(at, " oom_score_adj:", &t->score_adj) && t == &p->k.r.victim)
		p->k.has |= OOM_LOG_ADJ;
}

/* One more that died with the victim. */
static void member(struct oom_log_part *p, __s32 pid, const char *name, const char *at)
{
	struct memtap_oom_record *r = &p->k.r;
	struct memtap_oom_task *t;

	if (r->nr_members < MEMTAP_OOM_MEMBERS) {
		t = &r->members[r->nr_members];
		t->pid = pid;
		copy(t->comm, sizeof(t->comm), name, strlen(name));
		sizes(p, t, at);
	}
	r->nr_members++;
}

static bool killed(struct oom_log_part *p, char *text)
{
	static const char words[] = "Killed process ";
	char *at = strstr(text, words);
	struct memtap_oom_record *r = &p->k.r;
	char name[16];
	__s32 pid;

	if (!at || !oom_log_victim(at + 7, &pid, name))
		return false;
	if (starts(text, "Memory cgroup out of memory") && !(p->k.has & OOM_LOG_CONSTRAINT)) {
		r->constraint = MEMTAP_CONSTRAINT_MEMCG;
		p->k.has |= OOM_LOG_CONSTRAINT;
	}
	if (strstr(text, "(oom_kill_allocating_task)"))
		r->flags |= MEMTAP_OOM_ALLOCATING;
	if (p->k.has & OOM_LOG_CHOSEN && r->victim.pid != pid) {
		/* before v5.1 a child may be killed instead */
		if (!(r->flags & MEMTAP_OOM_KILLED) && !p->group)
			r->flags |= MEMTAP_OOM_CHILD;
		r->flags |= MEMTAP_OOM_KILLED;
		p->k.has |= OOM_LOG_KILLED;
		member(p, pid, name, at);
		return true;
	}
	r->victim.pid = pid;
	copy(r->victim.comm, sizeof(r->victim.comm), name, strlen(name));
	sizes(p, &r->victim, at);
	r->flags |= MEMTAP_OOM_KILLED;
	p->k.has |= OOM_LOG_CHOSEN | OOM_LOG_KILLED;
	return true;
}

/* "Out of memory: Kill process 12 (name) score 900 or sacrifice child", before v5.1 */
static bool chosen(struct oom_log_part *p, char *text)
{
	char *at = strstr(text, "Kill process ");
	struct memtap_oom_record *r = &p->k.r;
	char name[16];
	__s32 pid;
	__u64 v;

	if (!at || !oom_log_victim(at + 5, &pid, name))
		return false;
	if (strstr(at, "sharing same memory")) {
		r->sharing++;
		return true;
	}
	if (starts(text, "Memory cgroup out of memory")) {
		r->constraint = MEMTAP_CONSTRAINT_MEMCG;
		p->k.has |= OOM_LOG_CONSTRAINT;
	}
	if (strstr(text, "(oom_kill_allocating_task)"))
		r->flags |= MEMTAP_OOM_ALLOCATING;
	r->victim.pid = pid;
	copy(r->victim.comm, sizeof(r->victim.comm), name, strlen(name));
	p->k.has |= OOM_LOG_CHOSEN;
	if (oom_log_number(at, ") score ", &v) && v <= 2000) {
		p->k.score = (__u32)v;
		p->k.has |= OOM_LOG_SCORE;
	}
	return true;
}

static bool panic(struct oom_log_part *p, char *text)
{
	static const char words[] = "Kernel panic - not syncing: ";

	if (!starts(text, words))
		return false;
	p->k.has |= OOM_LOG_PANIC;
	copy(p->k.panic, sizeof(p->k.panic), text + sizeof(words) - 1,
	     strlen(text + sizeof(words) - 1));
	return true;
}

static bool others(struct oom_log_part *p, char *text)
{
	if (strstr(text, "are going to be killed due to memory.oom.group set")) {
		p->group = true;
		return true;
	}
	if (starts(text, "Out of memory and no killable processes")) {
		p->k.has |= OOM_LOG_NO_VICTIM;
		return true;
	}
	return false;
}

void oom_log_line(struct oom_log_part *p, char *text)
{
	static bool (*const all[])(struct oom_log_part *p, char *text) = {
		invoked, killed, chosen, constraint, columns, row, node_line, mem_info, totals,
		cpu, task_in, usage, cache, panic, others, in_stack, stat_line, cpuset,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i](p, text))
			return;
}
