/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _PORT_UTF8_H
#define _PORT_UTF8_H

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

/*
 * Names come from programs: of processes, files, cgroups.  What is shown of one to people is
 * decided here, for the tool and for debugfs.
 */

/*
 * Length of the character at @p (which is not the end of the string), and what
 * it is; 0 if the bytes are not UTF-8 (overlong forms and surrogates too).
 */
static inline int utf8_char(const char *p, unsigned int *c)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)p;
	int len, i;

	*c = u[0];
	if (u[0] < 0x80)
		return 1;
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return 0;
	len = u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
	*c = u[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (u[i] & 0x3f);
	}
	if (*c < least[len] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000))
		return 0;
	return len;
}

/*
 * Characters that are not seen but act: controls (0x80..0x9f are some to some
 * terminals), and those that turn the direction of writing, which can disguise
 * a name.
 */
static inline int utf8_hides(unsigned int c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

/*
 * Bytes that the character at @p takes (which is not the end of the string).  *@shown: it is
 * printed as it is; else a '?' stands for it.
 */
static inline int utf8_shown(const char *p, int *shown)
{
	unsigned int c;
	int len = utf8_char(p, &c);

	*shown = len && !utf8_hides(c);
	return len ? len : 1;
}

/* The same in place: the string becomes no longer. */
static inline void utf8_clean(char *text)
{
	char *to = text;
	int shown, len;

	for (; *text; text += len) {
		len = utf8_shown(text, &shown);
		if (shown) {
			memmove(to, text, (size_t)len);
			to += len;
		} else {
			*to++ = '?';
		}
	}
	*to = 0;
}

#endif
