// SPDX-License-Identifier: GPL-2.0-or-later
/* Stubs of functions that the parsers' files refer to, but the parsers do not call. */
#include <stdlib.h>

#include "sym/int.h"
#include "sym/jitmaps.h"

const char *sym_intern(struct sym *s, const char *text)
{
	return text;
}

void sym_note(struct sym *s, const char *fmt, ...)
{
}

size_t sym_cache_get(struct sym *s, const void *owner, __u64 key,
		     const struct sym_frame **frames)
{
	return 0;
}

size_t sym_cache_put(struct sym *s, const void *owner, __u64 key,
		     const struct sym_frame *in, size_t nr,
		     const struct sym_frame **frames)
{
	return 0;
}

char *jitmaps_text(struct jitmaps *j, const struct memtap_rec_task *task, bool last,
		   size_t *len)
{
	return NULL;
}

bool jitmaps_why(struct jitmaps *j, const struct memtap_rec_task *task, char *why, size_t len)
{
	return false;
}

char *jitmaps_slurp(int fd, size_t *len)
{
	return NULL;
}

const char *sym_demangle(struct sym *s, const char *name)
{
	return name;
}

bool sym_is_local(const struct snap *snap)
{
	return false;
}

bool sym_task_lives(const struct snap *snap, const struct memtap_rec_task *task)
{
	return false;
}
