// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The one function of glibc that libgcc's unwinder needs and musl lacks: find the table for an
 * address.  There is only one object.
 */
#include <link.h>
#include <stddef.h>

struct dl_find_object {
	unsigned long long flags;
	void *start, *end;
	struct link_map *map;
	void *eh_frame;
	unsigned long long reserved[7];
};
int _dl_find_object(void *pc, struct dl_find_object *found);

static int table_of(struct dl_phdr_info *info, size_t size __attribute__((unused)), void *table)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			*(void **)table = (void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return *(void **)table != NULL;
}

int _dl_find_object(void *pc __attribute__((unused)), struct dl_find_object *found)
{
	found->eh_frame = NULL;
	return dl_iterate_phdr(table_of, &found->eh_frame) ? 0 : -1;
}
