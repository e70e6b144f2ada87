/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_SHMEM_H
#define _COMPAT_SHMEM_H

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/mm.h>

/* Pages of what shmem_add_to_page_cache() takes first: a folio, or a (head) page. */
static inline u64 memtap_shmem_pages(void *what)
{
#ifdef HAVE_FOLIO_NR_PAGES			/* since v5.16 */
	return (u64)folio_nr_pages((struct folio *)what);
#else
	return 1ULL << compound_order((struct page *)what);
#endif
}

/* Where it was put; the caller holds its lock.  (Not the second argument: see shmem.c.) */
static inline const struct address_space *memtap_shmem_mapping(const void *what)
{
#ifdef HAVE_FOLIO_NR_PAGES			/* since v5.16 */
	return ((const struct folio *)what)->mapping;
#else
	return ((const struct page *)what)->mapping;
#endif
}

/*
 * Which argument of an inode's operation is the first of those it always had: since v5.12
 * another stands in front of them.
 */
#define MEMTAP_INODE_OP_FIRST						\
	(__builtin_types_compatible_p(__typeof__(((struct inode_operations *)0)->setattr), \
				      int (*)(struct dentry *, struct iattr *)) ? 0 : 1)

/* One of the names of an inode that is in use, or NULL.  Under RCU. */
static inline struct dentry *memtap_first_alias(const struct inode *inode)
{
	struct hlist_node *first = READ_ONCE(inode->i_dentry.first);

	if (!first)
		return NULL;
#ifdef HAVE_D_ALIAS
	return hlist_entry(first, struct dentry, d_alias);
#else
	return hlist_entry(first, struct dentry, d_u.d_alias);
#endif
}

#endif
