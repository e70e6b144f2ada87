/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WORDS_H
#define _WORDS_H

#include <stdbool.h>
#include <string.h>

/* Is "memory" one of the words of "rw,memory"? */
static inline bool has_word(const char *words, const char *word)
{
	const size_t n = strlen(word);

	for (; words; words = strchr(words, ',')) {
		words += *words == ',';
		if (!strncmp(words, word, n) && (!words[n] || words[n] == ','))
			return true;
	}
	return false;
}

#endif
