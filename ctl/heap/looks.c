// SPDX-License-Identifier: GPL-2.0-or-later
/* What a block's contents look like; see looks.h. */
#include "heap/int.h"
#include "heap/looks.h"

#define LEAST_TEXT	4		/* characters */
#define SLACK		24		/* bytes more than malloc was asked for, with a 0 */

static bool is_zero(const void *at, size_t len)
{
	const unsigned char *p = at;

	for (size_t i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

bool looks_zero(const struct graph *g, __u64 addr, __u64 size, const __u64 *words, size_t len)
{
	const void *at;
	size_t n;

	if (!is_zero(words, len))
		return false;
	for (__u64 done = len; done < size; done += n) {
		n = size - done < (64UL << 10) ? (size_t)(size - done) : 64UL << 10;
		at = g->view.at(g->view.ctx, addr + done, &n);
		if (at && !is_zero(at, n))
			return false;
		if (!n)
			n = 1;
	}
	return true;
}

/* ---- text ---- */

/* How many bytes of UTF-8 that can be printed begin here; 0: none. */
static size_t printable(const unsigned char *p, size_t len)
{
	size_t more;

	if ((*p >= ' ' && *p <= '~') || *p == '\n' || *p == '\t' || *p == '\r')
		return 1;
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	more = *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
	for (size_t i = 1; i <= more; i++)
		if (i >= len || (p[i] & 0xc0) != 0x80)
			return 0;
	return more + 1;
}

bool looks_text(const struct graph *g, const __u64 *words, size_t len, __u64 size)
{
	const unsigned char *text = (const unsigned char *)words;
	size_t at = 0, n, one = 1;

	while (at < len && (n = printable(text + at, len - at)))
		at += n;
	if (at < LEAST_TEXT)
		return false;
	/* six bytes of an address may be letters by chance */
	if (at < WORD && len >= WORD && g->view.at(g->view.ctx, words[0], &one))
		return false;
	/* (a character may end behind what was read) */
	if (at + 4 > len || at + SLACK >= size)
		return true;
	return !text[at] && (2 * at >= size || is_zero(text + at, len - at));
}

/* (a node of a hash has its hash and its key behind the address of the next one, too) */
static bool begins_with_address(const struct graph *g, __u64 addr, __u64 len)
{
	__u64 word;

	return len >= sizeof(word) && graph_read(g, addr, &word, sizeof(word)) &&
	       word >= 1ULL << 20 && !(word >> 47) && word % 8 == 0;
}

bool looks_string(const struct graph *g, const __u64 words[5], __u64 addr, __u64 size,
		  bool is_text)
{
	unsigned char end[2] = { 0xff, 0xff };
	__u64 len = words[3], room = words[4];

	if (len <= room && room > 15 && room + 1 <= size && size - room - 1 < SLACK &&
	    graph_read(g, addr + len, end, 1) && !end[0])
		return is_text || !begins_with_address(g, addr, len);
	/* libc++'s: one bit of the room says that it is a long one; only text is believed */
	len = words[1];
	room = words[0] & ~(1ULL | 1ULL << 63);
	return is_text && words[0] != room && len < room && room <= size &&
	       size - room < SLACK && graph_read(g, addr + len, end, 1) && !end[0];
}

bool looks_vector(const __u64 words[5], __u64 size)
{
	const __u64 begin = words[2], end = words[3], room = words[4];

	return end > begin && end <= room && room - begin <= size && size - (room - begin) < SLACK;
}

/* ---- addresses ---- */

bool looks_repeated(const __u64 *words, size_t nr)
{
	size_t step = 1;

	while (step < nr && words[step] != words[0])
		step++;
	if (step * 2 > nr)
		return false;
	for (size_t i = step; i < nr && i < 4 * step; i += step)
		if (words[i] != words[0])
			return false;
	return true;
}

#define LEAST_POINTERS	4

bool looks_pointers(const struct graph *g, const __u64 *words, size_t nr)
{
	size_t pointers = 0, others = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!words[i])
			continue;
		if (graph_target(g, words[i]) != GRAPH_NONE)
			pointers++;
		else
			others++;
	}
	return pointers >= LEAST_POINTERS && others <= pointers / 4;
}

/* Is @want the word at @addr? */
static bool has_word(const struct graph *g, __u64 addr, __u64 want)
{
	__u64 word = 0;

	return addr % WORD == 0 && graph_read(g, addr, &word, sizeof(word)) && word == want;
}

bool looks_list(const struct graph *g, __u64 addr, const __u64 *words, size_t nr)
{
	return nr > 2 && words[0] && words[1] && words[0] != addr && words[1] != addr &&
	       has_word(g, words[0] + WORD, addr) && has_word(g, words[1], addr);
}

/* libstdc++: colour, parent, left, right. */
static bool is_std_node(const struct graph *g, __u64 addr, const __u64 *words)
{
	const __u64 parent = words[1], left = words[2], right = words[3];

	/* (a colour has 32 bits, and nobody writes the others) */
	if ((words[0] & 0xffffffff) > 1 || !parent)
		return false;
	if ((left && !has_word(g, left + WORD, addr)) ||
	    (right && !has_word(g, right + WORD, addr)))
		return false;
	/* the root's parent is the map itself, whose "parent" it is */
	return has_word(g, parent + 2 * WORD, addr) || has_word(g, parent + 3 * WORD, addr) ||
	       has_word(g, parent + WORD, addr);
}

/* libc++: left, right, parent, colour, which is a byte. */
static bool is_libcxx_node(const struct graph *g, __u64 addr, const __u64 *words)
{
	const __u64 left = words[0], right = words[1], parent = words[2];

	if ((words[3] & 0xff) > 1 || !parent)
		return false;
	if ((left && !has_word(g, left + 2 * WORD, addr)) ||
	    (right && !has_word(g, right + 2 * WORD, addr)))
		return false;
	return has_word(g, parent, addr) || has_word(g, parent + WORD, addr);
}

bool looks_tree(const struct graph *g, __u64 addr, const __u64 *words, size_t nr)
{
	return nr > 4 && (is_std_node(g, addr, words) || is_libcxx_node(g, addr, words));
}
