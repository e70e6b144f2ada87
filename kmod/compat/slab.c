// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/kernel_read.h"
#include "compat/slab.h"

#define OWN_NAME	"memtap_learns_of_caches"
#define OWN_SIZE	1016		/* as no other member is likely to be */
#define CACHE_BYTES	512		/* of struct kmem_cache that are looked at, */
#define PAGE_BYTES	64		/* and of struct page */
#define MOST_ADDED	512		/* to an object, by the allocator and its debugging */

struct memtap_slab_places memtap_slab_places;

/* A cache with a constructor is never merged with others. */
static void construct(void *object)
{
}

static bool is_own_name(u64 at)
{
	char name[sizeof(OWN_NAME)];

	return memtap_kernel_bytes(name, at, sizeof(name)) &&
	       !memcmp(name, OWN_NAME, sizeof(name));
}

static u32 find_name(const void *cache)
{
	u64 from = (unsigned long)cache;
	unsigned long word;
	u32 at;

	for (at = sizeof(word); at < CACHE_BYTES; at += sizeof(word))
		if (memtap_kernel_bytes(&word, from + at, sizeof(word)) && is_own_name(word))
			return at;
	return 0;
}

/* SLUB's: what an object takes, and what was asked for, side by side. */
static u32 find_size(const void *cache)
{
	u64 from = (unsigned long)cache;
	u32 pair[2], at;

	for (at = sizeof(u32); at < CACHE_BYTES; at += sizeof(u32))
		if (memtap_kernel_bytes(pair, from + at, sizeof(pair)) &&
		    pair[1] == OWN_SIZE && pair[0] >= OWN_SIZE &&
		    pair[0] <= OWN_SIZE + MOST_ADDED)
			return at;
	return 0;
}

static u32 find_cache(const void *object, const void *cache)
{
	u64 from = (unsigned long)virt_to_head_page(object);
	unsigned long word;
	u32 at;

	for (at = sizeof(word); at < PAGE_BYTES; at += sizeof(word))
		if (memtap_kernel_bytes(&word, from + at, sizeof(word)) &&
		    word == (unsigned long)cache)
			return at;
	return 0;
}

static int learn(void)
{
	struct memtap_slab_places p;
	struct kmem_cache *cache;
	void *object;

	cache = kmem_cache_create(OWN_NAME, OWN_SIZE, sizeof(u64), 0, construct);
	object = cache ? kmem_cache_alloc(cache, GFP_KERNEL) : NULL;
	if (object) {
		p.page_cache = find_cache(object, cache);
		p.name = find_name(cache);
		p.size = find_size(cache);
		kmem_cache_free(cache, object);
	}
	if (cache)
		kmem_cache_destroy(cache);
	if (!object)
		return -ENOMEM;
	memtap_slab_places.name = p.name;
	memtap_slab_places.size = p.size;
	WRITE_ONCE(memtap_slab_places.page_cache, p.page_cache);
	return p.page_cache && p.name ? 0 : -ENOENT;
}

int memtap_slab_learn(void)
{
	static DEFINE_MUTEX(lock);
	static int result = 1;
	int err;

	mutex_lock(&lock);
	if (result > 0 || result == -ENOMEM)
		result = learn();
	err = result;
	mutex_unlock(&lock);
	return err;
}
