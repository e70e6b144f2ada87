// SPDX-License-Identifier: GPL-2.0-or-later
/* Sum up what was seen, counted, filtered and lost. */
#include "core/names.h"
#include "base/text.h"
#include "leaks/leaks.h"
#include "render/accounts.h"
#include "report/cut.h"

void account_add(struct account *sum, const struct snap_event *e)
{
	sum->seen += e->seen;
	sum->counted += e->counted;
	sum->filtered += e->filtered;
	sum->own += e->own;
	for (int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		sum->lost[i] += e->lost[i];
}

struct account account_of(const struct snap_event *e)
{
	struct account a = { 0 };

	account_add(&a, e);
	return a;
}

struct account account_all(const struct snap *s)
{
	struct account a = { .no_self = leaks_kept(s) };

	for (size_t i = 0; i < s->nr_events; i++)
		account_add(&a, &s->events[i]);
	return a;
}

__s64 account_lost(const struct account *a)
{
	__u64 sum = 0;

	for (int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		sum += a->lost[i];
	return (__s64)sum;
}

bool account_whole(const struct account *a)
{
	for (int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		if (a->lost[i])
			return false;
	return true;
}

bool accounts_complete(const struct snap *s)
{
	for (size_t i = 0; i < s->nr_events; i++) {
		const struct account a = account_of(&s->events[i]);

		if (!account_whole(&a))
			return false;
	}
	return true;
}

void account_put_lost(const struct account *a, FILE *out)
{
	const char *sep = "";
	char n[TEXT_LEN];

	for (unsigned int i = 0; i < MEMTAP_LOST_SLOTS; i++) {
		if (!a->lost[i])
			continue;
		fprintf(out, "%s%s %s", sep, text_signed(n, (__s64)a->lost[i]),
			lost_name(i));
		sep = ", ";
	}
}

const char *account_self(const struct account *a)
{
	return a->no_self ? "" : a->own == 1 ? ": --self counts it" : ": --self counts them";
}

void account_put_own(const struct account *a, FILE *out)
{
	char n[TEXT_LEN];

	if (a->own != a->filtered)
		fprintf(out, "%s of them ", text_count(n, a->own));
	fprintf(out, "memtap's own%s", account_self(a));
}

bool account_left_out(const struct snap *s, char *buf, size_t len)
{
	const struct account a = account_all(s);
	const char *self = account_self(&a);
	char n[TEXT_LEN];

	if (!a.own)
		return false;
	snprintf(buf, len, "%s event%s of memtap's own %s left out%s", text_count(n, a.own),
		 text_s(a.own), a.own == 1 ? "is" : "are", self);
	return true;
}

void account_put_left_out(const struct snap *s, FILE *out)
{
	char buf[ACCOUNT_LEN];

	if (account_left_out(s, buf, sizeof(buf)))
		fprintf(out, "%s\n", buf);
}

void account_put(const struct account *a, const char *thing, FILE *out)
{
	/* what adds up: while a session runs, "seen" is of another moment */
	const __u64 all = a->counted + a->filtered + (__u64)account_lost(a);
	char n[TEXT_LEN];

	fprintf(out, "%s %s%s: ", text_signed(n, (__s64)all), thing, text_s(all));
	fprintf(out, "%s counted", text_count(n, a->counted));
	if (a->filtered)
		fprintf(out, ", %s filtered", text_count(n, a->filtered));
	if (a->own) {
		fputs(" (", out);
		account_put_own(a, out);
		fputc(')', out);
	}
	if (account_whole(a)) {
		fputs(", nothing lost", out);
		return;
	}
	fprintf(out, ", %s lost (", text_signed(n, account_lost(a)));
	account_put_lost(a, out);
	fputc(')', out);
}
