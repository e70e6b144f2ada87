// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print what the module recorded in a time of the history: who waited for memory, and what the
 * flight recorder counted.  Nothing where it recorded nothing.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "render/triage_recorded.h"

#define MILLI	1000000ULL

/* "412 times, 3.1 s" */
static void put_waits(FILE *out, __u64 count, __s64 ns)
{
	char text[TEXT_LEN];

	fprintf(out, "%s time%s, ", text_count(text, count), text_s(count));
	if (ns < (__s64)(1000 * MILLI))
		fprintf(out, "%.1f ms", (double)ns / MILLI);
	else
		fprintf(out, "%.2f s", (double)ns / 1e9);
}

static void put_rest(FILE *out, const struct memtap_recorded_row *r)
{
	char text[TEXT_LEN];

	if (r->longest_ns && r->count > 1)
		fprintf(out, ", the longest %.1f ms", (double)r->longest_ns / MILLI);
	if (r->lost)
		fprintf(out, "; %s more not recorded", text_count(text, r->lost));
}

static void put_process(FILE *out, const struct memtap_recorded_row *r)
{
	text_put(out, r->comm, NULL);
	fprintf(out, " (%d) ", r->pid);
	put_waits(out, r->count, r->sum);
	put_rest(out, r);
}

static bool is_waiter(const struct memtap_recorded_row *r, const struct memtap_recorded_row *of)
{
	return r->kind == MEMTAP_RECORDED_WAITER && !strcmp(r->name, of->name);
}

/* The next one by time, after @last; NULL: there is none. */
static const struct memtap_recorded_row *next_waiter(const struct recorded *all,
						     const struct memtap_recorded_row *of,
						     const struct memtap_recorded_row *last)
{
	const struct memtap_recorded_row *best = NULL;

	for (size_t i = 0; i < all->nr; i++) {
		const struct memtap_recorded_row *r = &all->at[i];

		if (!is_waiter(r, of) || (last && (r->sum > last->sum ||
						   (r->sum == last->sum && r <= last))))
			continue;
		if (!best || r->sum > best->sum)
			best = r;
	}
	return best;
}

static void put_waiters(const struct recorded *all, const struct memtap_recorded_row *of,
			FILE *out)
{
	const struct memtap_recorded_row *r = NULL;
	__u64 count = of->count;
	__s64 ns = of->sum;

	for (int n = 0; n < RECORDED_PROCESSES && (r = next_waiter(all, of, r)); n++) {
		fputs("              ", out);
		put_process(out, r);
		fputc('\n', out);
		count -= r->count < count ? r->count : count;
		ns -= r->sum < ns ? r->sum : ns;
	}
	if (count) {
		fputs("              other processes ", out);
		put_waits(out, count, ns);
		fputc('\n', out);
	}
}

/* Of one record it is known from when on it was; sums are of all that was recorded. */
static void put_since(const struct recorded *all, const struct memtap_recorded_row *r,
		      double seconds, FILE *out)
{
	const double since = (double)r->since_ns / 1e9;

	if (all->records == 1 && r->since_ns && since < seconds)
		fprintf(out, "; recorded in the last %.1f s of these %.1f s", seconds - since,
			seconds);
}

void render_recorded_waits(const struct recorded *all, double seconds, FILE *out)
{
	for (size_t i = 0; i < all->nr; i++) {
		const struct memtap_recorded_row *r = &all->at[i];

		if (r->kind != MEMTAP_RECORDED_WAITS)
			continue;
		fprintf(out, "  %-9s ", "waits");
		text_put(out, r->name, NULL);
		fputc(' ', out);
		put_waits(out, r->count, r->sum);
		put_rest(out, r);
		put_since(all, r, seconds, out);
		fputc('\n', out);
		put_waiters(all, r, out);
	}
}

static const char *amount(const struct memtap_recorded_row *r, char buf[TEXT_LEN])
{
	if (r->unit == MEMTAP_UNIT_BYTES)
		return text_bytes(buf, r->sum, false);
	if (r->unit == MEMTAP_UNIT_NS)
		snprintf(buf, TEXT_LEN, "%.1f ms", (double)r->sum / MILLI);
	else if (r->unit == MEMTAP_UNIT_PAGES)
		snprintf(buf, TEXT_LEN, "%lld pages", (long long)r->sum);
	else
		snprintf(buf, TEXT_LEN, "-");
	return buf;
}

static void put_event(const struct memtap_recorded_row *r, FILE *out)
{
	char count[TEXT_LEN], sum[TEXT_LEN], lost[TEXT_LEN];

	fprintf(out, "%12s %12s  ", text_count(count, r->count), amount(r, sum));
	text_put(out, r->name, NULL);
	if (r->lost)
		fprintf(out, "; %s more not recorded", text_count(lost, r->lost));
	fputc('\n', out);
}

static void put_objects(const struct memtap_recorded_row *r, FILE *out)
{
	char count[TEXT_LEN], grew[TEXT_LEN], freed[TEXT_LEN];

	fprintf(out, "%12s %12s  ", text_count(count, r->count),
		text_bytes(grew, (__s64)((__u64)r->sum - r->freed_sum), true));
	text_put(out, r->name, NULL);
	fprintf(out, ", %s freed", text_count(freed, r->freed));
	if (r->lost)
		fprintf(out, "; %s more not recorded", text_count(count, r->lost));
	fputc('\n', out);
}

static bool is_sum(const struct recorded *all, size_t i)
{
	const __u32 kind = all->at[i].kind;

	return kind == MEMTAP_RECORDED_OBJECTS ||
	       (kind == MEMTAP_RECORDED_EVENT && recorded_is_own(all, i));
}

void render_recorded_sums(const struct recorded *all, double seconds, FILE *out)
{
	__u32 said = 0;

	for (size_t i = 0; i < all->nr; i++) {
		const struct memtap_recorded_row *r = &all->at[i];

		if (!is_sum(all, i))
			continue;
		if (!said) {
			fputs("\nFlight recorder", out);
			put_since(all, r, seconds, out);
			fputc('\n', out);
		}
		if (r->kind == MEMTAP_RECORDED_EVENT && said != r->kind)
			fprintf(out, "%12s %12s  %s\n", "EVENTS", "VALUE", "EVENT");
		if (r->kind == MEMTAP_RECORDED_OBJECTS && said != r->kind)
			fprintf(out, "%12s %12s  %s\n", "ALLOCATED", "GREW", "CACHE");
		said = r->kind;
		if (r->kind == MEMTAP_RECORDED_EVENT)
			put_event(r, out);
		else
			put_objects(r, out);
	}
}

void render_recorded_line(const struct recorded *all, FILE *out)
{
	const struct memtap_recorded_row *most = NULL, *process;

	for (size_t i = 0; i < all->nr; i++)
		if (all->at[i].kind == MEMTAP_RECORDED_WAITS && all->at[i].count &&
		    (!most || all->at[i].sum > most->sum))
			most = &all->at[i];
	if (!most)
		return;
	text_put(out, most->name, NULL);
	fputc(' ', out);
	put_waits(out, most->count, most->sum);
	process = next_waiter(all, most, NULL);
	if (process) {
		fputs("; longest in all ", out);
		put_process(out, process);
	}
}

/* --- JSON ------------------------------------------------------------------------------- */

static void json_row(struct json *j, const struct memtap_recorded_row *r)
{
	static const char *const units[] = { NULL, "bytes", "pages", "ns" };
	const char *unit = r->unit < sizeof(units) / sizeof(units[0]) ? units[r->unit] : NULL;

	json_open(j, NULL, '{');
	json_str(j, r->kind == MEMTAP_RECORDED_OBJECTS ? "cache" : "event", r->name);
	if (r->kind == MEMTAP_RECORDED_WAITER) {
		json_str(j, "comm", r->comm);
		json_s64(j, "pid", r->pid);
	}
	json_u64(j, "count", r->count);
	if (r->kind == MEMTAP_RECORDED_OBJECTS) {
		json_s64(j, "bytes", r->sum);
		json_u64(j, "freed", r->freed);
		json_u64(j, "freed_bytes", r->freed_sum);
	} else if (unit) {
		json_s64(j, unit, r->sum);
	}
	if (r->kind <= MEMTAP_RECORDED_WAITER && r->longest_ns)
		json_u64(j, "longest_ns", r->longest_ns);
	if (r->kind != MEMTAP_RECORDED_WAITER)
		json_u64(j, "lost", r->lost);
	json_close(j, '}');
}

void render_recorded_json(struct json *j, const struct recorded *all)
{
	static const struct {
		const char *key;
		__u32 kind;
	} parts[] = {
		{ "waits", MEMTAP_RECORDED_WAITS }, { "waiters", MEMTAP_RECORDED_WAITER },
		{ "counted", MEMTAP_RECORDED_EVENT }, { "objects", MEMTAP_RECORDED_OBJECTS },
	};

	if (!all->nr)
		return;
	json_open(j, "recorded", '{');
	for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
		json_open(j, parts[k].key, '[');
		for (size_t i = 0; i < all->nr; i++)
			if (all->at[i].kind == parts[k].kind && recorded_is_own(all, i))
				json_row(j, &all->at[i]);
		json_close(j, ']');
	}
	json_close(j, '}');
}
