// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Known numbers of objects of the kernel, allocated and not freed, from functions of known
 * names: for tests/guest/kernel-leaks.t.
 *
 *	echo leak > /sys/module/kleak/parameters/run	allocates of slabs
 *	echo pages > ...				pages, areas, and for each processor
 *	echo large > ...				8 MiB of pages, an area of 4 MiB
 *	echo alike > ...				100 of kleak_ctor that look alike
 *	echo waste > ...				200 of 5000 bytes, 300 of kleak_plain
 *	echo grow > ...					3 MiB of 8000 bytes each; not in run
 *	echo free > ...					frees all of it
 *
 * run reads as "FUNCTION OBJECTS BYTES CACHE", a line each, of what was allocated and not
 * freed; BYTES 0: as many as /proc/slabinfo says of the cache; CACHE -: whatever it is.
 * When the module goes it frees what is of its own caches, and leaks the rest.  Movable
 * pages, and the two that vmap() maps, are nobody's question.
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#ifndef SLAB_TYPESAFE_BY_RCU		/* since v4.12 */
#define SLAB_TYPESAFE_BY_RCU SLAB_DESTROY_BY_RCU
#endif

#define MOST	16384
#define MORE_THAN_HUGE	((4 << 20) + PAGE_SIZE)	/* and than kmalloc() has */
#define BULK	64

/* A call here is no jump: the function is on the stack. */
#define FN	static __attribute__((__noipa__, __noinline__))
#define END	asm volatile("")

enum kind { OBJECT, PAGES, AREA, MAPPED, PERCPU };

struct kept {
	enum kind kind;
	unsigned int order;
	struct kmem_cache *cache;	/* OBJECT; NULL: of kmalloc() */
	void *ptr;
};

static struct kept kept[MOST];
static unsigned int nr_kept;
static char expected[4096];
static DEFINE_MUTEX(lock);

/* of the same layout: one, where the kernel merges caches */
static struct kmem_cache *plain, *twin;
static struct kmem_cache *with_ctor, *by_rcu;

static void construct(void *object)
{
	memset(object, 0, 16);
}

static void keep(struct kmem_cache *cache, void *ptr)
{
	if (ptr && nr_kept < MOST)
		kept[nr_kept++] = (struct kept){ OBJECT, 0, cache, ptr };
}

static void keep_other(enum kind kind, void *ptr, unsigned int order)
{
	if (ptr && nr_kept < MOST)
		kept[nr_kept++] = (struct kept){ kind, order, NULL, ptr };
}

static void expect(const char *fn, int nr, int bytes, const char *cache)
{
	size_t len = strlen(expected);

	scnprintf(expected + len, sizeof(expected) - len, "%s %d %d %s\n", fn, nr, bytes, cache);
}

/* --- in a task ----------------------------------------------------------------- */

FN void kl_small(int nr)
{
	while (nr--)
		keep(NULL, kmalloc(96, GFP_KERNEL));
	END;
}

/* kmalloc() gives 8192 */
FN void kl_waste(int nr)
{
	while (nr--)
		keep(NULL, kmalloc(5000, GFP_KERNEL));
	END;
}

/* the largest objects of slab */
FN void kl_grow(int nr)
{
	while (nr-- && nr_kept < MOST)
		keep(NULL, kmalloc(8000, GFP_KERNEL));
	END;
}

FN void kl_large(int nr)
{
	while (nr--)
		keep(NULL, kmalloc(20000, GFP_KERNEL));
	END;
}

FN void kl_node(int nr)
{
	while (nr--)
		keep(NULL, kmalloc_node(200, GFP_KERNEL, 0));
	END;
}

FN void kl_zeroed(int nr)
{
	while (nr--)
		keep(NULL, krealloc(kzalloc(24, GFP_KERNEL), 500, GFP_KERNEL));
	END;
}

FN void kl_plain(int nr)
{
	while (nr--)
		keep(plain, kmem_cache_alloc(plain, GFP_KERNEL));
	END;
}

FN void kl_ctor(int nr)
{
	while (nr--)
		keep(with_ctor, kmem_cache_alloc_node(with_ctor, GFP_KERNEL, 0));
	END;
}

FN void kl_by_rcu(int nr)
{
	while (nr--)
		keep(by_rcu, kmem_cache_alloc(by_rcu, GFP_KERNEL));
	END;
}

FN void kl_bulk(void)
{
	static void *ptrs[BULK];
	int i;

#ifdef SLAB_BULK			/* since v4.3 */
	if (!kmem_cache_alloc_bulk(with_ctor, GFP_KERNEL, BULK, ptrs))
		return;
	kmem_cache_free_bulk(with_ctor, BULK / 2, ptrs + BULK / 2);
#else
	for (i = 0; i < BULK; i++)
		ptrs[i] = kmem_cache_alloc(with_ctor, GFP_KERNEL);
	for (i = BULK / 2; i < BULK; i++)
		kmem_cache_free(with_ctor, ptrs[i]);
#endif
	for (i = 0; i < BULK / 2; i++)
		keep(with_ctor, ptrs[i]);
	END;
}

struct alike {
	void (*fn)(int nr);
	unsigned long number;
	struct mutex *lock;
	void *self;
};

FN void kl_alike(int nr)
{
	struct alike *a;

	while (nr--) {
		a = kmem_cache_alloc(with_ctor, GFP_KERNEL);
		if (a)
			*a = (struct alike){ kl_alike, 7, &lock, a };
		keep(with_ctor, a);
	}
	END;
}

FN void kl_none(int nr)
{
	void *p, *q;

	while (nr--) {
		p = kmalloc(40, GFP_KERNEL);
		q = kmem_cache_alloc(by_rcu, GFP_KERNEL);
		kfree(p);
		kmem_cache_free(by_rcu, q);
	}
	END;
}

/* --- pages ----------------------------------------------------------------------- */

FN void kl_pages(int nr, unsigned int order, gfp_t gfp)
{
	while (nr--)
		keep_other(PAGES, alloc_pages(GFP_KERNEL | gfp, order), order);
	END;
}

FN void kl_page(int nr)
{
	while (nr--)
		keep_other(PAGES, alloc_page(GFP_KERNEL), 0);
	END;
}

FN void kl_compound(int nr)
{
	while (nr--)
		keep_other(PAGES, alloc_pages(GFP_KERNEL | __GFP_COMP, 2), 2);
	END;
}

/* Of eight pages three go, one by one: what is left is 0, 3, 4, and 6 with 7. */
FN void kl_split(void)
{
	struct page *page = alloc_pages(GFP_KERNEL, 3);
	int i;

	if (!page)
		return;
	split_page(page, 3);
	for (i = 0; i < 8; i++)
		if (i == 1 || i == 2 || i == 5)
			__free_page(page + i);
		else
			keep_other(PAGES, page + i, 0);
	END;
}

/* The end goes at once: a block of four is left, and a page. */
FN void kl_exact(void)
{
	void *ptr = alloc_pages_exact(5 * PAGE_SIZE, GFP_KERNEL);
	int i;

	for (i = 0; ptr && i < 5; i++)
		keep_other(PAGES, virt_to_page(ptr + i * PAGE_SIZE), 0);
	END;
}

FN void kl_movable(int nr)
{
	while (nr--)
		keep_other(PAGES, alloc_page(GFP_HIGHUSER_MOVABLE), 0);
	END;
}

#define MANY	40

FN int kl_many(void)
{
	static struct page *pages[MANY];
	int nr = 0, i;

	memset(pages, 0, sizeof(pages));
#ifdef BULK_ARRAY			/* since v5.13 */
	nr = alloc_pages_bulk_array(GFP_KERNEL, MANY, pages);
#elif defined(BULK_PAGES)		/* v6.14 */
	nr = alloc_pages_bulk(GFP_KERNEL, MANY, pages);
#endif
	for (i = 0; i < nr; i++)
		if (i % 4)
			keep_other(PAGES, pages[i], 0);
		else
			__free_page(pages[i]);
	END;
	return nr - nr / 4;
}

static struct page *given[50];

FN void kl_given(int nr)
{
	while (nr--)
		given[nr] = alloc_pages(GFP_KERNEL, nr % 3);
	END;
}

static void take_given(void *unused)
{
	int i;

	for (i = 0; i < 50; i++)
		if (given[i])
			__free_pages(given[i], i % 3);
}

FN void kl_blocks(int nr)
{
	while (nr--)
		keep_other(PAGES, alloc_pages(GFP_KERNEL, 5), 5);
	END;
}

FN void kl_area(void)
{
	keep_other(AREA, vmalloc(4 << 20), 0);
	END;
}

static void leak_large(void)
{
	kl_blocks(64);
	expect("kl_blocks", 64, 2048 * PAGE_SIZE, "order-5 pages");
	kl_area();
	expect("kl_area", 1, 1024 * PAGE_SIZE, "vmalloc");
}

/* --- areas, and for each processor --------------------------------------------------- */

FN void kl_vmalloc(int nr)
{
	while (nr--)
		keep_other(AREA, vmalloc(3 * PAGE_SIZE + 1), 0);
	END;
}

FN void kl_vnone(int nr)
{
	while (nr--)
		vfree(vzalloc(100000));
	END;
}

/* A page more than a huge one: where areas are in huge pages it takes two of these. */
FN void kl_huge(int nr)
{
	while (nr--)
#ifdef KVMALLOC				/* since v4.12 */
		keep_other(AREA, kvmalloc(MORE_THAN_HUGE, GFP_KERNEL), 0);
#else
		keep_other(AREA, vmalloc(MORE_THAN_HUGE), 0);
#endif
	END;
}

static struct page *mapped[2];

FN void kl_vmap(void)
{
	keep_other(MAPPED, vmap(mapped, 2, VM_MAP, PAGE_KERNEL), 0);
	END;
}

FN void kl_percpu(int nr)
{
	while (nr--)
		keep_other(PERCPU, (void *)(unsigned long)__alloc_percpu(120, 8), 0);
	END;
}

FN void kl_percpu_none(int nr)
{
	while (nr--)
		free_percpu(__alloc_percpu(120, 8));
	END;
}

static void on_other_cpu(void (*fn)(void *))
{
	int here = get_cpu(), other = here, cpu;

	put_cpu();
	/* (not every kernel exports cpumask_any_but()) */
	for_each_online_cpu(cpu) {
		if (cpu != here)
			other = cpu;
	}
	if (other != here)
		smp_call_function_single(other, fn, NULL, 1);
	else
		fn(NULL);
}

static void leak_pages(void)
{
	const int cpus = num_possible_cpus();
	int nr;

	kl_page(30);
	expect("kl_page", 30, 30 * PAGE_SIZE, "order-0 pages");
	kl_pages(6, 1, 0);
	kl_pages(4, 3, 0);
	expect("kl_pages", 10, 44 * PAGE_SIZE, "-");
	kl_compound(5);
	expect("kl_compound", 5, 20 * PAGE_SIZE, "order-2 pages");
	kl_split();
	expect("kl_split", 4, 5 * PAGE_SIZE, "-");
	kl_exact();
	expect("kl_exact", 2, 5 * PAGE_SIZE, "-");
	kl_movable(20);
	expect("kl_movable", 0, 0, "-");
	nr = kl_many();
	expect("kl_many", nr, nr * PAGE_SIZE, "order-0 pages");
	kl_given(50);
	on_other_cpu(take_given);
	expect("kl_given", 0, 0, "-");
	kl_vmalloc(7);
	expect("kl_vmalloc", 7, 28 * PAGE_SIZE, "vmalloc");
	kl_huge(2);
	expect("kl_huge", 2, -1, "vmalloc");
	kl_vnone(10);
	expect("kl_vnone", 0, 0, "-");
	kl_vmap();
	expect("kl_vmap", 1, 2 * PAGE_SIZE, "vmap");
	kl_percpu(9);
	expect("kl_percpu", 9, 9 * 120 * cpus, "percpu memory");
	kl_percpu_none(10);
	expect("kl_percpu_none", 0, 0, "-");
}

/* --- elsewhere -------------------------------------------------------------------- */

static DECLARE_COMPLETION(done);

FN void kl_softirq(int nr)
{
	while (nr--)
		keep(NULL, kmalloc(96, GFP_ATOMIC));
	END;
}

static void on_timer(struct timer_list *t)
{
	kl_softirq(20);
	complete(&done);
}

static struct timer_list timer;

static void prepare_timer(void)
{
#ifdef TIMER_SETUP			/* since v4.14 */
	timer_setup(&timer, on_timer, 0);
#else
	setup_timer(&timer, (void (*)(unsigned long))on_timer, 0);
#endif
}

FN void kl_hardirq(int nr)
{
	while (nr--)
		keep(NULL, kmalloc(96, GFP_ATOMIC));
	END;
}

static void on_irq_work(struct irq_work *w)
{
	kl_hardirq(20);
	complete(&done);
}

static struct irq_work irq_work;

FN void kl_worker(int nr)
{
	while (nr--)
		keep(NULL, kmalloc(96, GFP_KERNEL));
	END;
}

static void on_work(struct work_struct *w)
{
	kl_worker(20);
}

static DECLARE_WORK(work, on_work);

/* --- freed in other ways ------------------------------------------------------------ */

struct thing {
	struct rcu_head rcu;
	char more[80];
};

static struct thing *things[100];

FN void kl_things(int nr)
{
	while (nr--)
		things[nr] = kmalloc(sizeof(struct thing), GFP_KERNEL);
	END;
}

static void free_some(void *unused)
{
	int i;

	for (i = 0; i < 20; i++)
		kfree(things[i]);
}

static void free_one(struct rcu_head *head)
{
	kfree(container_of(head, struct thing, rcu));
}

static void free_things(void)
{
	int i;

	on_other_cpu(free_some);
	for (i = 20; i < 40; i++)
		kfree_rcu(things[i], rcu);
	for (i = 40; i < 60; i++)
		call_rcu(&things[i]->rcu, free_one);
	for (i = 60; i < 100; i++)
		keep(NULL, things[i]);
}

/* --- */

static void leak(void)
{
	kl_small(100);
	expect("kl_small", 100, 9600, "-");
	kl_large(10);
	expect("kl_large", 10, 327680, "[large kmalloc]");
	kl_node(50);
	expect("kl_node", 50, 12800, "-");
	kl_zeroed(30);
	expect("kl_zeroed", 30, 15360, "-");
	kl_plain(70);
	expect("kl_plain", 70, -1, "-");
	kl_ctor(60);
	expect("kl_ctor", 60, 0, "kleak_ctor");
	kl_by_rcu(55);
	expect("kl_by_rcu", 55, 0, "kleak_by_rcu");
	kl_bulk();
	expect("kl_bulk", BULK / 2, 0, "kleak_ctor");
	kl_none(1000);
	expect("kl_none", 0, 0, "-");

	init_completion(&done);
	mod_timer(&timer, jiffies + 1);
	wait_for_completion(&done);
	expect("kl_softirq", 20, 1920, "-");
	init_completion(&done);
	irq_work_queue(&irq_work);
	wait_for_completion(&done);
	expect("kl_hardirq", 20, 1920, "-");
	schedule_work(&work);
	flush_work(&work);
	expect("kl_worker", 20, 1920, "-");

	kl_things(100);
	free_things();
	expect("kl_things", 40, 40 * 96, "-");
	rcu_barrier();
}

static void free_other(const struct kept *k)
{
	switch (k->kind) {
	case PAGES:
		__free_pages(k->ptr, k->order);
		break;
	case AREA:
		vfree(k->ptr);
		break;
	case MAPPED:
		vunmap(k->ptr);
		break;
	default:
		free_percpu((void __percpu *)(unsigned long)k->ptr);
		break;
	}
}

/*
 * @own: objects of its own caches, which go with it, and areas: who looks for those of
 * memtap's would take them for its, if it is loaded where this was
 */
static void free_kept(bool own)
{
	unsigned int i;
	bool area;

	for (i = 0; i < nr_kept; i++) {
		area = kept[i].kind == AREA || kept[i].kind == MAPPED;
		if (area || (kept[i].kind != OBJECT && !own))
			free_other(&kept[i]);
		else if (kept[i].cache)
			kmem_cache_free(kept[i].cache, kept[i].ptr);
		else if (!own)
			kfree(kept[i].ptr);
		else if (kept[i].kind == OBJECT)
			kmemleak_not_leak(kept[i].ptr);	/* it outlives us, for who tells of it */
	}
	nr_kept = 0;
	expected[0] = 0;
}

static void waste(void)
{
	kl_waste(200);
	kl_plain(300);
}

static int set_run(const char *text, const struct kernel_param *param)
{
	int err = 0;

	mutex_lock(&lock);
	if (sysfs_streq(text, "leak"))
		leak();
	else if (sysfs_streq(text, "pages"))
		leak_pages();
	else if (sysfs_streq(text, "large"))
		leak_large();
	else if (sysfs_streq(text, "alike"))
		kl_alike(100);
	else if (sysfs_streq(text, "waste"))
		waste();
	else if (sysfs_streq(text, "grow"))
		kl_grow(384);
	else if (sysfs_streq(text, "free"))
		free_kept(false);
	else
		err = -EINVAL;
	mutex_unlock(&lock);
	return err;
}

static int get_run(char *buf, const struct kernel_param *param)
{
	return scnprintf(buf, PAGE_SIZE, "%s", expected);
}

static const struct kernel_param_ops run_ops = { .set = set_run, .get = get_run };
module_param_cb(run, &run_ops, NULL, 0644);

static void destroy(void)
{
	kmem_cache_destroy(twin);
	kmem_cache_destroy(plain);
	kmem_cache_destroy(with_ctor);
	kmem_cache_destroy(by_rcu);
}

static int __init kleak_init(void)
{
	BUILD_BUG_ON(sizeof(struct thing) != 96);
	init_irq_work(&irq_work, on_irq_work);
	prepare_timer();
	plain = kmem_cache_create("kleak_plain", 328, 8, 0, NULL);
	twin = kmem_cache_create("kleak_twin", 328, 8, 0, NULL);
	with_ctor = kmem_cache_create("kleak_ctor", 504, 8, 0, construct);
	by_rcu = kmem_cache_create("kleak_by_rcu", 264, 8, SLAB_TYPESAFE_BY_RCU, NULL);
	mapped[0] = alloc_page(GFP_KERNEL);
	mapped[1] = alloc_page(GFP_KERNEL);
	if (plain && twin && with_ctor && by_rcu && mapped[0] && mapped[1])
		return 0;
	destroy();
	return -ENOMEM;
}

static void __exit kleak_exit(void)
{
	free_kept(true);
	rcu_barrier();
	destroy();
}

module_init(kleak_init);
module_exit(kleak_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("leaks known objects, for memtap's tests");
