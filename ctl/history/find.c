// SPDX-License-Identifier: GPL-2.0-or-later
/* Find a moment in a history, and say what is missing between two samples. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/opt.h"
#include "base/text.h"
#include "history/int.h"

#define SECOND	1000000000ULL

/* A sample is late for many reasons; from then on it is missing. */
static double late_after(const struct history *h, size_t i)
{
	const double interval = h->segments[h->samples[i].segment].interval;

	return interval > 0 ? interval * 2.5 + 5 : 60;
}

static const char *note_before(const struct history *h, size_t i, const char *key)
{
	for (size_t k = 0; k < h->nr_events; k++)
		if (h->events[k].sample == i && h->events[k].note &&
		    !strncmp(h->events[k].note, key, strlen(key)))
			return h->events[k].note + strlen(key);
	return NULL;
}

enum history_gap history_gap(const struct history *h, size_t i)
{
	const struct history_sample *is = &h->samples[i], *was = is - 1;
	const struct history_segment *now, *then;
	double apart, awake;

	if (!i)
		return GAP_BEGIN;
	now = &h->segments[is->segment];
	then = &h->segments[was->segment];
	if (strcmp(now->boot, then->boot))
		return GAP_BOOT;
	apart = (double)(__s64)(is->boot_ns - was->boot_ns) / 1e9;
	awake = (double)(__s64)(is->ns - was->ns) / 1e9;
	if (apart <= late_after(h, i) && apart >= 0)
		return now == then || then->closed ? GAP_NONE : GAP_ENDED;
	if (note_before(h, i, "missed="))
		return GAP_MISSED;
	if (awake <= late_after(h, i))
		return GAP_SUSPEND;
	if (then->damaged && (now != then || !is->key))
		return GAP_DAMAGED;
	if (now == then)
		return is->key && now->damaged ? GAP_DAMAGED : GAP_MISSED;
	return then->closed ? GAP_STOPPED : GAP_ENDED;
}

static const char *missed_words(const struct history *h, size_t i, char *buf, size_t len)
{
	const char *note = note_before(h, i, "missed=");
	unsigned long long nr;
	int err;

	if (!note || sscanf(note, "%llu,%d", &nr, &err) != 2)
		return "the service did not run in time";
	snprintf(buf, len, "%llu sample%s could not be written: %s", nr, text_s(nr), strerror(err));
	return buf;
}

const char *history_gap_text(const struct history *h, size_t i, char buf[HISTORY_TEXT])
{
	const struct history_segment *now = &h->segments[h->samples[i].segment];
	const struct history_segment *then = i ? &h->segments[h->samples[i - 1].segment] : now;
	char from[TEXT_LEN], until[TEXT_LEN], words[200];
	const char *why = "";

	switch (history_gap(h, i)) {
	case GAP_NONE:
		buf[0] = '\0';
		return buf;
	case GAP_BEGIN:
		snprintf(buf, HISTORY_TEXT, "the history begins at %s",
			 text_time(from, h->samples[i].real_ns));
		return buf;
	case GAP_BOOT:
		snprintf(words, sizeof(words), "%s, and the machine was booted anew%s%s",
			 then->closed ? "the service was stopped" :
			 "the service ended without stopping (power loss, crash, reset)",
			 strcmp(now->release, then->release) ? " with Linux " : "",
			 strcmp(now->release, then->release) ? now->release : "");
		why = words;
		break;
	case GAP_SUSPEND:
		why = "the machine was suspended";
		break;
	case GAP_STOPPED:
		why = "the service was stopped";
		break;
	case GAP_ENDED:
		why = "the service ended without stopping (killed, or it failed)";
		break;
	case GAP_MISSED:
		why = missed_words(h, i, words, sizeof(words));
		break;
	case GAP_DAMAGED:
		snprintf(words, sizeof(words), "%llu bytes of the history are damaged",
			 (unsigned long long)(then->damaged ? then->damaged : now->damaged));
		why = words;
		break;
	}
	snprintf(buf, HISTORY_TEXT, "nothing from %s to %s: %s",
		 text_time(from, h->samples[i - 1].real_ns),
		 text_time(until, h->samples[i].real_ns), why);
	return buf;
}

/* Is it in the interval that ends with sample @i? */
static bool is_in(const struct history *h, size_t i, __u64 real_ns)
{
	return i && history_gap(h, i) == GAP_NONE && h->samples[i - 1].real_ns < real_ns &&
	       real_ns <= h->samples[i].real_ns;
}

/* In no interval: why. */
static void why_not(const struct history *h, __u64 real_ns, char err[HISTORY_ERR])
{
	const __u64 last = h->samples[h->nr_samples - 1].real_ns;
	char text[HISTORY_TEXT], a[TEXT_LEN], b[TEXT_LEN];

	for (size_t i = h->nr_samples - 1; i; i--)
		if (h->samples[i - 1].real_ns < real_ns && real_ns <= h->samples[i].real_ns) {
			snprintf(err, HISTORY_ERR, "%s", history_gap_text(h, i, text));
			return;
		}
	snprintf(err, HISTORY_ERR, "nothing was recorded at %s: the history %s %s",
		 text_time(a, real_ns), real_ns > last ? "ends at" : "begins at",
		 text_time(b, real_ns > last ? last : h->samples[0].real_ns));
}

int history_find(const struct history *h, __u64 real_ns, size_t *at, char err[HISTORY_ERR])
{
	const __u64 near = (__u64)(late_after(h, h->nr_samples - 1) * 1e9);
	char text[TEXT_LEN];
	size_t found = 0, nr = 0;

	err[0] = '\0';
	for (size_t i = h->nr_samples; i-- > 0;)
		if (is_in(h, i, real_ns) && !nr++)
			found = i;
	/* right before the first interval, and right behind the last one */
	for (size_t i = h->nr_samples; !nr && i-- > 1;) {
		const __u64 from = h->samples[i - 1].real_ns, to = h->samples[i].real_ns;

		if (history_gap(h, i) == GAP_NONE && real_ns + near >= from &&
		    real_ns <= to + near) {
			found = i;
			nr = 1;
		}
	}
	if (!nr) {
		why_not(h, real_ns, err);
		return -ENOENT;
	}
	if (nr > 1)
		snprintf(err, HISTORY_ERR, "the clock was set back: %s was %zu times; this is the "
			 "last one", text_time(text, real_ns), nr);
	*at = found;
	return 0;
}

/* --- moments as they are written ---------------------------------------------------- */

static bool clock_of(const char *text, struct tm *tm)
{
	int used = 0;

	tm->tm_sec = 0;
	if (sscanf(text, "%2d:%2d%n", &tm->tm_hour, &tm->tm_min, &used) != 2)
		return false;
	text += used;
	if (*text == ':' && sscanf(text, ":%2d%n", &tm->tm_sec, &used) == 1)
		text += used;
	return !*text && tm->tm_hour >= 0 && tm->tm_hour < 24 && tm->tm_min >= 0 &&
	       tm->tm_min < 60 && tm->tm_sec >= 0 && tm->tm_sec < 61;
}

bool history_when(const char *text, __u64 now_ns, __u64 *real_ns)
{
	const time_t now = (time_t)(now_ns / SECOND);
	int year, month, day, used = 0;
	struct tm tm;
	double ago;
	time_t t;

	if (*text == '-') {
		if (!opt_seconds(text + 1, &ago) || ago * 1e9 > (double)now_ns)
			return false;
		*real_ns = now_ns - (__u64)(ago * 1e9);
		return true;
	}
	if (!localtime_r(&now, &tm))
		return false;
	tm.tm_isdst = -1;
	if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &used) == 3) {
		text += used;
		tm.tm_year = year - 1900;
		tm.tm_mon = month - 1;
		tm.tm_mday = day;
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31)
			return false;
		if (*text && ((*text != ' ' && *text != 'T') || !clock_of(text + 1, &tm)))
			return false;
		t = mktime(&tm);
	} else {
		if (!clock_of(text, &tm))
			return false;
		t = mktime(&tm);
		if (t > now) {
			tm.tm_mday--;
			tm.tm_isdst = -1;
			t = mktime(&tm);
		}
	}
	if (t <= 0)
		return false;
	*real_ns = (__u64)t * SECOND;
	return true;
}
