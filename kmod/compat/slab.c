// SPDX-License-Identifier: GPL-2.0-only
/* Find the cache, name and size of a slab object. */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "port/slabsize.h"

#include "compat/kernel_read.h"
#include "compat/slab.h"

#define OWN_NAME	"memtap_learns_of_caches"
#define OWN_SIZE	1016		/* as no other member is likely to be */
#define CACHE_BYTES	512		/* of struct kmem_cache that are looked at, */
#define PAGE_BYTES	64		/* and of struct page */
#define CACHE_WORDS	(CACHE_BYTES / sizeof(u32))
#define KMALLOC_BYTES	2048		/* all kernels have a cache for */

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

/* What cannot be read is 0, which is nobody's size. */
static void take_words(u32 *words, const void *cache)
{
	u32 i;

	for (i = 0; i < CACHE_WORDS; i++)
		if (!memtap_kernel_bytes(&words[i], (unsigned long)cache + i * sizeof(u32),
					 sizeof(u32)))
			words[i] = 0;
}

/* By our own cache and one of kmalloc()'s. */
static u32 find_size(const void *cache, u32 page_cache)
{
	void *object = kmalloc(KMALLOC_BYTES, GFP_KERNEL);
	u32 *words = kmalloc(2 * CACHE_BYTES, GFP_KERNEL);
	struct page *page;
	unsigned long other;
	u32 at = 0;

	if (object && words && page_cache) {
		page = virt_to_head_page(object);
		if (PageSlab(page) && memtap_kernel_bytes(&other, (unsigned long)page + page_cache,
							  sizeof(other))) {
			take_words(words, cache);
			take_words(words + CACHE_WORDS, (const void *)other);
			at = slabsize_find(words, OWN_SIZE, words + CACHE_WORDS, KMALLOC_BYTES,
					   CACHE_WORDS) * sizeof(u32);
		}
	}
	kfree(words);
	kfree(object);
	return at;
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
		p.size = find_size(cache, p.page_cache);
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
