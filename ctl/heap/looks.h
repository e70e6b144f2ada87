/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LOOKS_H
#define _LOOKS_H

#include "heap/graph.h"

/* What a block's contents look like, which is no proof. */

#define LOOKS_WORDS	512		/* of a block, that are looked at */
#define LOOKS_LEN	(LOOKS_WORDS * 8)

/* @words: the first @len bytes of a block of @size; all of it? */
bool looks_zero(const struct graph *g, __u64 addr, __u64 size, const __u64 *words, size_t len);
/* Printable text, which ends with 0 or fills the block, and is no address. */
bool looks_text(const struct graph *g, const __u64 *words, size_t len, __u64 size);
/* Does the first word come again, at regular distances? */
bool looks_repeated(const __u64 *words, size_t nr);
/* Most of what is not 0 points to blocks. */
bool looks_pointers(const struct graph *g, const __u64 *words, size_t nr);
/* libstdc++'s and libc++'s: a colour, and neighbours that have its address */
bool looks_tree(const struct graph *g, __u64 addr, const __u64 *words, size_t nr);
/* It is what comes before what comes next, and the reverse. */
bool looks_list(const struct graph *g, __u64 addr, const __u64 *words, size_t nr);
/*
 * Of five words, the third of which is the address of a block of @size: is that a std::string
 * (libstdc++: address, length, room; libc++: room, length, address)?
 */
bool looks_string(const struct graph *g, const __u64 words[5], __u64 addr, __u64 size,
		  bool is_text);
/* And a std::vector: begin, end, end of its room? */
bool looks_vector(const __u64 words[5], __u64 size);

#endif
