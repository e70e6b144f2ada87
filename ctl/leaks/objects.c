// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the files that a process has mapped, and their symbols, by address. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ids.h"
#include "base/path.h"
#include "leaks/held_int.h"
#include "leaks/image.h"

static int add_object(struct objects *o, const struct area *a)
{
	const char *path = o->l->paths[a->path];
	struct object *more = ids_grow(o->at, o->nr, &o->room, sizeof(*more));
	struct maps_file *f = malloc(sizeof(*f) + strlen(path) + 1);

	if (more)
		o->at = more;
	if (!more || !f) {
		free(f);
		return -ENOMEM;
	}
	*f = (struct maps_file){ .start = a->start, .end = a->end, .inode = a->inode,
				 .dev_major = a->dev_major, .dev_minor = a->dev_minor };
	strcpy(f->path, path);
	o->at[o->nr++] = (struct object){ .file = f, .base = a->start, .fd = -1 };
	return 0;
}

static void find_program(struct objects *o)
{
	for (size_t i = 0; i < o->nr; i++)
		if (o->image->is_program(o->image, o->at[i].file)) {
			o->at[i].is_program = true;
			return;
		}
}

int objects_read(struct objects *o, const struct image *image, const struct layout *l)
{
	int err = 0;

	*o = (struct objects){ .image = image, .l = l };
	for (size_t i = 0; i < l->nr && !err; i++)
		if (l->areas[i].is_file && !l->areas[i].offset && l->areas[i].inode)
			err = add_object(o, &l->areas[i]);
	if (err)
		objects_free(o);
	else
		find_program(o);
	return err;
}

void objects_free(struct objects *o)
{
	for (size_t i = 0; i < o->nr; i++) {
		elfsym_objects_free(o->at[i].symbols);
		elfsym_close(o->at[i].elf);
		if (o->at[i].fd >= 0)
			close(o->at[i].fd);
		free(o->at[i].file);
	}
	free(o->at);
	memset(o, 0, sizeof(*o));
}

static struct object *opened(struct objects *o, struct object *at)
{
	if (at->tried)
		return at;
	at->tried = true;
	at->fd = o->image->open(o->image, at->file);
	if (at->fd < 0 || elfsym_open(at->fd, &at->elf))
		return at;
	elfsym_address(at->elf, 0, &at->first);
	elfsym_thread_local(at->elf, &at->tls_size, &at->tls_align);
	elfsym_objects_load(at->elf, &at->symbols);
	return at;
}

/* What begins as zeros has no file, and follows the rest of a file's data. */
static const struct area *file_area(const struct layout *l, __u64 addr)
{
	const struct area *a = layout_find(l, addr);

	while (a && !a->is_file && !a->is_heap && !a->is_stack && a > l->areas &&
	       a[-1].end == a->start)
		a--;
	return a && a->is_file && a->inode ? a : NULL;
}

/* What follows a file's mapping may be another one, by chance. */
static bool is_its_own(const struct object *o, __u64 vaddr)
{
	return o->elf && elfsym_is_mapped(o->elf, vaddr);
}

struct object *objects_find(struct objects *o, __u64 addr, __u64 *vaddr)
{
	const struct area *in = layout_find(o->l, addr), *a;
	struct object *found = NULL;

	/* (addresses of one mapping come one after the other) */
	if (in && in == o->area) {
		*vaddr = addr - o->found->base + o->found->first;
		return in->is_file || is_its_own(o->found, *vaddr) ? o->found : NULL;
	}
	a = file_area(o->l, addr);
	for (size_t i = 0; a && i < o->nr && o->at[i].base <= a->start; i++)
		if (o->at[i].file->inode == a->inode &&
		    o->at[i].file->dev_major == a->dev_major &&
		    o->at[i].file->dev_minor == a->dev_minor)
			found = &o->at[i];
	if (!found)
		return NULL;
	opened(o, found);
	*vaddr = addr - found->base + found->first;
	if (addr >= a->end && !is_its_own(found, *vaddr))
		return NULL;
	o->area = in;
	o->found = found;
	return found;
}

struct object *objects_named(struct objects *o, const char *begin)
{
	for (size_t i = 0; i < o->nr; i++)
		if (!strncmp(object_name(&o->at[i]), begin, strlen(begin)))
			return opened(o, &o->at[i]);
	return NULL;
}

struct object *objects_program(struct objects *o)
{
	for (size_t i = 0; i < o->nr; i++)
		if (o->at[i].is_program)
			return opened(o, &o->at[i]);
	return NULL;
}

const char *object_name(const struct object *o)
{
	return base_name(o->file->path);
}
