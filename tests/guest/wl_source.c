// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines with variables, for probes by source line: source.t finds the lines by their names, LINE_*.
 * What memtap is to print of each goes to the file that is named.  Built with and without
 * optimization, and at fixed and at any addresses.
 *
 *	wl_source FILE [TIMES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One statement, which needs its values and changes nothing. */
#define USE2(a, b)	__asm__ volatile("nop" : : "r"(a), "r"(b) : "memory")

enum color { RED = -3, GREEN = 70000 };

struct pair {
	int first, second;
};

struct node {
	struct node *next;
	const char *name;
	unsigned int low : 3;
	int high : 5;
	struct pair pairs[2];
};

static FILE *out;
static const char *me;
static int total = 7;
unsigned short shared = 60000;

static inline __attribute__((always_inline)) long twice(long v)
{
	long w = v * 2;

	USE2(v, w);				/* LINE_INLINE */
	fprintf(out, "%s:LINE_INLINE v=%ld w=%ld\n", me, v, w);
	return w;
}

__attribute__((noinline, noclone)) static enum color color_of(int n)
{
	return n & 1 ? RED : GREEN;
}

__attribute__((noinline, noclone)) static int take(const struct node *item, int n)
{
	fprintf(out, "%s:take item->pairs[1].second=%d high=%d n=%d\n", me, item->pairs[1].second,
		item->high, n);
	return item->pairs[1].first + n;
}

__attribute__((noinline)) static long work(int n, const char *name, unsigned char c)
{
	enum color color = color_of(n);
	struct pair pair = { n, 2 };
	char text[16] = "hello";
	long sum = -1000;
	struct node nodes[2] = {
		{ &nodes[1], name, 5, 0, { { 1, 2 }, { 3, -n } } },
		{ NULL, "last", 2, -n, { { 4, 5 }, { 6, 7 } } },
	};
	const struct node *node = nodes;

	text[4] = (char)('0' + n);
	__asm__ volatile("" : "+m"(text), "+m"(pair), "+m"(nodes), "+r"(node) : : "memory");
	for (int i = 0; i < n; i++) {
		sum += (long)i * total;
		USE2(i, sum);			/* LINE_LOOP */
		fprintf(out, "%s:LINE_LOOP i=%d sum=%ld\n", me, i, sum);
	}
	sum += take(node, n) - 3 - n;
	USE2(name, color);			/* LINE_STRINGS */
	fprintf(out, "%s:LINE_STRINGS name=\"%s\" text=\"%s\" color=%d\n", me, name, text, color);
	USE2(node, &pair);			/* LINE_MEMBERS */
	fprintf(out, "%s:LINE_MEMBERS pair.first=%d node->next->name=\"%s\" last=%d low=%d\n", me,
		pair.first, node->next->name, node->next->high, node->low);
	total += n;
	shared++;
	USE2(total, (int)c);			/* LINE_GLOBALS */
	fprintf(out, "%s:LINE_GLOBALS total=%d shared=%u\n", me, total, shared);
	return sum + twice(n) + twice(sum) + pair.first;
}

int main(int argc, char **argv)
{
	const int times = argc > 2 ? atoi(argv[2]) : 1;

	out = argc > 1 ? fopen(argv[1], "w") : NULL;
	if (!out)
		return 2;
	me = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	for (int k = 1; k <= times; k++)
		work(k + 1, argv[1], (unsigned char)k);
	return fclose(out) != 0;
}
