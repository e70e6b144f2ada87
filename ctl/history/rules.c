// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse rules, and test their conditions against samples; see history/rules.h. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/text.h"
#include "history/rules.h"

#define WORDS		24
#define SECOND		1000000000ULL
#define HOUR		(3600 * SECOND)
#define DAY		(24 * HOUR)
#define PER_HOUR	4		/* where the rule does not say */
#define PER_DAY		20
#define SECONDS		30.0
#define GROWTH_HOLD	60.0		/* one sample's growth says nothing */
#define NEAR		0.8		/* of the value */
#define MARGIN		0.1		/* of the value, until it counts as over */
#define BASE_MOST	4096		/* processes, cgroups or caches whose growth is known */
#define PSI_WINDOW_US	1000000
#define WHY		(RULES_ERR - RULE_NAME - 32)

const char *const rule_actions[NR_RULE_ACTIONS] = {
	[ACT_FAULTS] = "faults", [ACT_RSS] = "rss", [ACT_LEAKS] = "leaks", [ACT_LEAKS_K] =
	"leaks -k", [ACT_RECLAIM] = "reclaim", [ACT_SWAP] = "swap", [ACT_HEAP] = "heap",
	[ACT_TRIAGE] = "triage", [ACT_DIAGNOSE] = "diagnose", [ACT_RUN] = "run",
};

/* What was held at the beginning of the time over which growth is measured. */
struct rule_base {
	__u64 ns;
	size_t nr;
	struct { __u64 key, bytes; } at[BASE_MOST];
};

/* --- parse -------------------------------------------------------------------------- */

struct words {
	char text[RULE_TEXT];
	char *at[WORDS];
	size_t nr, next;
	char *err;
};

static bool wrong(struct words *w, const char *what)
{
	const char *at = w->next < w->nr ? w->at[w->next] : "the end";

	snprintf(w->err, RULES_ERR, "at %s: %s", at, what);
	return false;
}

static bool take(struct words *w, const char *word)
{
	if (w->next >= w->nr || strcmp(w->at[w->next], word))
		return false;
	w->next++;
	return true;
}

/* 5%, 500M, 10M/s */
static bool take_value(struct words *w, struct rule *r, const char *unit)
{
	char text[64], *end;
	__u64 bytes;
	size_t len;

	if (w->next >= w->nr)
		return wrong(w, "a value is missing");
	snprintf(text, sizeof(text), "%s", w->at[w->next]);
	len = strlen(text);
	if (!strcmp(unit, "%") || (!*unit && len && text[len - 1] == '%')) {
		r->value = strtod(text, &end);
		r->percent = true;
		if (end == text || strcmp(end, "%") || !(r->value > 0 && r->value <= 100))
			return wrong(w, "a value from 0% to 100% is wanted here");
	} else {
		if (*unit) {
			if (len < 3 || strcmp(text + len - 2, unit))
				return wrong(w, "a rate is wanted here, as 10M/s");
			text[len - 2] = '\0';
		}
		if (!opt_size(text, &bytes) || !bytes)
			return wrong(w, *unit ? "a rate is wanted here, as 10M/s" :
				     "a size or a share is wanted here, as 500M or 5%");
		r->value = (double)bytes;
	}
	w->next++;
	return true;
}

static bool take_pattern(struct words *w, struct rule *r)
{
	if (w->next >= w->nr)
		return wrong(w, "a name or a pattern is missing, as web or *");
	snprintf(r->pattern, sizeof(r->pattern), "%s", w->at[w->next++]);
	return true;
}

static bool take_compared(struct words *w, struct rule *r, const char *with, const char *unit)
{
	if (!take(w, with))
		return wrong(w, *with == '<' ? "< is wanted here" : "> is wanted here");
	return take_value(w, r, unit);
}

static bool take_pressure(struct words *w, struct rule *r)
{
	r->what = RULE_PRESSURE;
	r->full = take(w, "full");
	if (!r->full && !take(w, "some"))
		return wrong(w, "pressure some, or pressure full");
	if (take(w, "in") && !take_pattern(w, r))
		return false;
	if (strpbrk(r->pattern, "*?["))
		return wrong(w, "pressure in CGROUP takes the path of one cgroup");
	return take_compared(w, r, ">", "%");
}

static bool take_growth(struct words *w, struct rule *r, enum rule_what what)
{
	r->what = what;
	r->hold = GROWTH_HOLD;
	return take_compared(w, r, ">", "/s");
}

static bool take_condition(struct words *w, struct rule *r)
{
	if (take(w, "available")) {
		r->what = RULE_AVAILABLE;
		return take_compared(w, r, "<", "");
	}
	if (take(w, "pressure"))
		return take_pressure(w, r);
	if (take(w, "swap-in")) {
		r->what = RULE_SWAP_IN;
		return take_compared(w, r, ">", "/s");
	}
	if (take(w, "process"))
		return take_pattern(w, r) && (take(w, "grows") ||
			wrong(w, "process NAME grows > RATE")) &&
		       take_growth(w, r, RULE_PROCESS_GROWS);
	if (take(w, "cache"))
		return take_pattern(w, r) && (take(w, "grows") ||
			wrong(w, "cache NAME grows > RATE")) &&
		       take_growth(w, r, RULE_CACHE_GROWS);
	if (take(w, "cgroup")) {
		if (!take_pattern(w, r))
			return false;
		if (take(w, "grows"))
			return take_growth(w, r, RULE_CGROUP_GROWS);
		r->what = RULE_CGROUP;
		return take_compared(w, r, ">", "%");
	}
	if (take(w, "oom-kill")) {
		r->what = RULE_OOM;
		return true;
	}
	if (take(w, "allocation-failure")) {
		r->what = RULE_FAILURE;
		return true;
	}
	return wrong(w, "a condition begins with available, pressure, swap-in, process, cgroup, "
		     "cache, oom-kill or allocation-failure");
}

static bool take_seconds(struct words *w, double *seconds)
{
	if (w->next >= w->nr || !opt_seconds(w->at[w->next], seconds) || *seconds <= 0 ||
	    *seconds > 86400)
		return wrong(w, "a time is wanted here, as 30s or 2m");
	w->next++;
	return true;
}

static bool take_action(struct words *w, struct rule *r)
{
	double seconds;
	int i = 0;

	if (take(w, "leaks")) {
		r->action = take(w, "-k") ? ACT_LEAKS_K : ACT_LEAKS;
	} else {
		while (i < NR_RULE_ACTIONS && !take(w, rule_actions[i]))
			i++;
		if (i == NR_RULE_ACTIONS)
			return wrong(w, "an action is faults, rss, leaks, leaks -k, reclaim, swap, "
				     "heap, triage, diagnose or run");
		r->action = (enum rule_action)i;
	}
	if (r->action == ACT_RUN) {
		if (w->next >= w->nr || w->at[w->next][0] != '/')
			return wrong(w, "run takes the whole path of a program");
		snprintf(r->program, sizeof(r->program), "%s", w->at[w->next++]);
		return true;
	}
	r->seconds = SECONDS;
	if (r->action == ACT_HEAP || r->action == ACT_TRIAGE)
		return true;
	if (w->next < w->nr && opt_seconds(w->at[w->next], &seconds))
		return take_seconds(w, &r->seconds);
	return true;
}

/* 4/h 20/d */
static bool take_limits(struct words *w, struct rule *r)
{
	bool any = false;

	for (; w->next < w->nr; w->next++, any = true) {
		char *end;
		const unsigned long n = strtoul(w->at[w->next], &end, 10);

		if (end == w->at[w->next] || !n || n > 200 || (strcmp(end, "/h") &&
							       strcmp(end, "/d")))
			break;
		if (end[1] == 'h')
			r->per_hour = (unsigned int)n;
		else
			r->per_day = (unsigned int)n;
	}
	return any || wrong(w, "a limit is 1/h to 200/h, or 1/d to 200/d");
}

/* What a condition can name, and an action needs. */
static bool fits(struct words *w, const struct rule *r)
{
	const bool process = r->what == RULE_PROCESS_GROWS;

	if ((r->action == ACT_LEAKS || r->action == ACT_HEAP) && !process)
		return wrong(w, "leaks and heap are of one process: the condition must be process "
			     "NAME grows");
	if (r->action == ACT_LEAKS_K && (process || r->what == RULE_CGROUP ||
					 r->what == RULE_CGROUP_GROWS))
		return wrong(w, "leaks -k is of the whole kernel: with cache NAME grows, or a "
			     "condition of the machine");
	if (r->what == RULE_CACHE_GROWS && r->action != ACT_LEAKS_K && r->action < ACT_TRIAGE)
		return wrong(w, "of a cache the action is leaks -k, triage, diagnose or run");
	return true;
}

bool rules_add(struct rules *all, const char *name, const char *text, const char *action,
	       char err[RULES_ERR])
{
	struct words w = { .err = err };
	struct rule *r = &all->at[all->nr];
	char *save, *word;

	*err = '\0';
	if (all->nr == RULES_MOST) {
		snprintf(err, RULES_ERR, "more than %d rules", RULES_MOST);
		return false;
	}
	memset(r, 0, sizeof(*r));
	r->fd = -1;
	r->per_hour = PER_HOUR;
	r->per_day = PER_DAY;
	snprintf(r->name, sizeof(r->name), "%s", name);
	if ((size_t)snprintf(r->text, sizeof(r->text), "%s%s%s", text, action ? " do " : "",
			     action ? action : "") >= sizeof(r->text)) {
		snprintf(err, RULES_ERR, "it is longer than %d letters", RULE_TEXT - 1);
		return false;
	}
	memcpy(w.text, r->text, sizeof(w.text));
	for (word = strtok_r(w.text, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		if (w.nr == WORDS) {
			snprintf(err, RULES_ERR, "it has more than %d words", WORDS);
			return false;
		}
		w.at[w.nr++] = word;
	}
	if (!take_condition(&w, r))
		return false;
	if (take(&w, "for") && !take_seconds(&w, &r->hold))
		return false;
	if (r->hold > 0 && (r->what == RULE_OOM || r->what == RULE_FAILURE))
		return wrong(&w, "that happens at a moment: there is no `for`");
	if (!take(&w, "do"))
		return wrong(&w, "`do ACTION` is missing");
	if (!take_action(&w, r) || (take(&w, "most") && !take_limits(&w, r)))
		return false;
	if (w.next < w.nr)
		return wrong(&w, "nothing is wanted here but `most N/h N/d`");
	if (!fits(&w, r))
		return false;
	all->nr++;
	return true;
}

/* RULE_NAME="..." with " or ' or without */
static bool load_line(struct rules *all, char *line, unsigned int nr, const char *path,
		      char err[RULES_ERR])
{
	char name[RULE_NAME], why[RULES_ERR], *value = strchr(line, '=');
	size_t len;

	line += strspn(line, " \t");
	if (strncmp(line, "RULE", 4) || !value)
		return true;
	*value++ = '\0';
	if (line[4] && (line[4] != '_' || !line[5])) {
		snprintf(err, RULES_ERR, "%s:%u: RULE_NAME=\"...\" is wanted, not %.40s", path, nr,
			 line);
		return false;
	}
	snprintf(name, sizeof(name), "%s", line[4] ? line + 5 : "rule");
	len = strlen(value);
	while (len && strchr(" \t\n", value[len - 1]))
		value[--len] = '\0';
	if (len >= 2 && (*value == '"' || *value == '\'') && value[len - 1] == *value) {
		value[len - 1] = '\0';
		value++;
	}
	for (size_t i = 0; i < all->nr; i++) {
		if (!strcmp(all->at[i].name, name)) {
			snprintf(err, RULES_ERR, "%s:%u: there is a rule %s already", path, nr,
				 name);
			return false;
		}
	}
	if (rules_add(all, name, value, NULL, why))
		return true;
	snprintf(err, RULES_ERR, "%.150s:%u: rule %s: %.200s", path, nr, name, why);
	return false;
}

bool rules_load(struct rules *all, const char *path, char err[RULES_ERR])
{
	char *line = NULL;
	unsigned int nr = 0;
	size_t room = 0;
	bool good = true;
	FILE *f = fopen(path, "re");

	if (!f) {
		snprintf(err, RULES_ERR, "%s: %s", path, strerror(errno));
		return false;
	}
	while (good && getline(&line, &room, f) >= 0)
		good = load_line(all, line, ++nr, path, err);
	if (good && ferror(f)) {
		snprintf(err, RULES_ERR, "%s: %s", path, strerror(errno));
		good = false;
	}
	free(line);
	fclose(f);
	return good;
}

/* --- can it work -------------------------------------------------------------------- */

static bool needs_module(const struct rule *r)
{
	return r->action <= ACT_SWAP;
}

/* The kernel itself wakes us: since Linux 5.2. */
static int open_trigger(const struct rule *r, const char *path)
{
	char text[80];
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = snprintf(text, sizeof(text), "%s %u %u", r->full ? "full" : "some",
		     (unsigned int)(r->value / 100 * PSI_WINDOW_US), PSI_WINDOW_US);
	if (write(fd, text, (size_t)n + 1) != n + 1) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool pressure_begin(struct rule *r, const struct machine *m, char *err)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char path[RULE_TEXT + 64];

	if (!*r->pattern && !m->psi.has) {
		snprintf(err, WHY, "this kernel has no /proc/pressure/memory (since Linux "
			 "4.20, with CONFIG_PSI; some kernels need the parameter psi=1)");
		return false;
	}
	if (!*r->pattern) {
		r->fd = r->hold > 0 ? -1 : open_trigger(r, "/proc/pressure/memory");
		return true;
	}
	for (size_t i = 0; i < 2 && r->fd < 0; i++) {
		snprintf(path, sizeof(path), "%s%s%s/memory.pressure", mounts[i],
			 *r->pattern == '/' ? "" : "/", r->pattern);
		r->fd = open_trigger(r, path);
	}
	if (r->fd >= 0)
		return true;
	snprintf(err, WHY, "pressure in a cgroup needs its memory.pressure (version 2, Linux "
		 "5.2 or later): there is none of %s", r->pattern);
	return false;
}

static bool rule_begin(struct rule *r, const struct machine *m, bool module, char *err)
{
	if (needs_module(r) && !module) {
		snprintf(err, WHY, "%s needs the module: run `memtap load`",
			 rule_actions[r->action]);
		return false;
	}
	if (r->action == ACT_RUN && access(r->program, X_OK)) {
		snprintf(err, WHY, "%s cannot be run: %s", r->program, strerror(errno));
		return false;
	}
	if ((r->what == RULE_CGROUP || r->what == RULE_CGROUP_GROWS) && !m->cgroups.has) {
		snprintf(err, WHY, "no memory cgroups are mounted here");
		return false;
	}
	if (r->what == RULE_CACHE_GROWS && !m->slabs.has) {
		snprintf(err, WHY, "/proc/slabinfo cannot be read: this needs root");
		return false;
	}
	if (r->what == RULE_OOM && !m->f.has_vm[VM_OOM_KILLS] && !m->log.has) {
		snprintf(err, WHY, "this kernel does not count OOM kills (since Linux 4.13), "
			 "and its log cannot be read");
		return false;
	}
	if (r->what == RULE_FAILURE && !m->log.has) {
		snprintf(err, WHY, "the kernel's log cannot be read: this needs root");
		return false;
	}
	return r->what != RULE_PRESSURE || pressure_begin(r, m, err);
}

static bool needs_base(const struct rule *r)
{
	return r->what == RULE_PROCESS_GROWS || r->what == RULE_CGROUP_GROWS ||
	       r->what == RULE_CACHE_GROWS;
}

bool rules_begin(struct rules *all, const struct machine *m, bool module,
		 void (*refuse)(void *ctx, const char *why), void *ctx)
{
	char why[WHY], line[RULES_ERR];
	bool all_good;
	size_t kept = 0;

	for (size_t i = 0; i < all->nr; i++) {
		struct rule *r = &all->at[i];
		bool good = rule_begin(r, m, module, why);

		if (good && needs_base(r)) {
			r->base = calloc(1, sizeof(*r->base));
			good = r->base != NULL;
			snprintf(why, sizeof(why), "no memory");
		}
		if (good) {
			all->at[kept++] = *r;
			continue;
		}
		snprintf(line, sizeof(line), "rule %s cannot work here: %s", r->name, why);
		refuse(ctx, line);
	}
	all_good = kept == all->nr;
	all->nr = kept;
	return all_good;
}

void rules_end(struct rules *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		if (all->at[i].fd >= 0)
			close(all->at[i].fd);
		free(all->at[i].base);
	}
	all->nr = 0;
}

/* --- conditions --------------------------------------------------------------------- */

static __u64 key_of(const struct rule *r, const struct machine_holder *h)
{
	__u64 key = 14695981039346656037ULL;

	if (r->what == RULE_PROCESS_GROWS)
		return (h->start << 22 ^ h->pid) | 1;
	for (const char *s = h->name; *s; s++)
		key = (key ^ (unsigned char)*s) * 1099511628211ULL;
	return key | 1;
}

static bool is_meant(const struct rule *r, const struct machine_holder *h)
{
	return h->name && !fnmatch(r->pattern, h->name, 0);
}

static void set_hit(const struct rule *r, const struct machine_holder *h, double value,
		    struct rule_hit *hit)
{
	hit->key = key_of(r, h);
	hit->pid = h->pid;
	hit->start = h->start;
	hit->value = value;
	snprintf(hit->name, sizeof(hit->name), "%s", h->name);
}

static const struct machine_list *list_of(const struct rule *r, const struct machine *m)
{
	return r->what == RULE_PROCESS_GROWS ? &m->processes :
	       r->what == RULE_CACHE_GROWS ? &m->slabs : &m->cgroups;
}

static void rebase(struct rule *r, const struct machine *m)
{
	const struct machine_list *l = list_of(r, m);

	r->base->ns = m->ns;
	r->base->nr = 0;
	for (size_t i = 0; i < l->nr && r->base->nr < BASE_MOST; i++) {
		if (!is_meant(r, &l->at[i]))
			continue;
		r->base->at[r->base->nr].key = key_of(r, &l->at[i]);
		r->base->at[r->base->nr++].bytes = l->at[i].bytes;
	}
}

/* By how much it grew since the base; of what was not there then it is not known. */
static bool grown(const struct rule_base *b, __u64 key, __u64 bytes, size_t *from, __u64 *by)
{
	for (size_t n = 0; n < b->nr; n++) {
		const size_t i = (*from + n) % b->nr;	/* lists keep their order, mostly */

		if (b->at[i].key != key)
			continue;
		*from = i + 1;
		*by = bytes > b->at[i].bytes ? bytes - b->at[i].bytes : 0;
		return true;
	}
	return false;
}

/* The one that grew most since the base, at the end of the time. */
static bool growth(struct rule *r, const struct machine *m, struct rule_hit *hit, bool *known)
{
	const struct machine_list *l = list_of(r, m);
	const double seconds = (double)(m->ns - r->base->ns) / 1e9;
	size_t from = 0;
	__u64 by, most = 0;

	*known = false;
	if (!r->base->ns || seconds < r->hold) {
		if (!r->base->ns)
			rebase(r, m);
		return false;
	}
	*known = true;
	for (size_t i = 0; i < l->nr; i++) {
		const struct machine_holder *h = &l->at[i];

		if (!is_meant(r, h) || !grown(r->base, key_of(r, h), h->bytes, &from, &by) ||
		    by <= most)
			continue;
		most = by;
		set_hit(r, h, (double)by / seconds, hit);
	}
	hit->seconds = seconds;
	rebase(r, m);
	return most && hit->value > r->value;
}

/* The one that is nearest to its limit. */
static double cgroup_share(const struct rule *r, const struct machine *m, struct rule_hit *hit)
{
	double most = 0;

	for (size_t i = 0; i < m->cgroups.nr; i++) {
		const struct machine_holder *h = &m->cgroups.at[i];
		double share;

		if (!h->size || h->size == ~0ULL || !is_meant(r, h))
			continue;
		share = (double)h->bytes * 100 / (double)h->size;
		if (share <= most)
			continue;
		most = share;
		set_hit(r, h, share, hit);
	}
	return most;
}

/* A rate from two samples; negative: unknown. */
static double per_second(const struct machine *was, const struct machine *m, __u64 a, __u64 b)
{
	if (!was || m->ns <= was->ns || b < a)
		return -1;
	return (double)(b - a) / ((double)(m->ns - was->ns) / 1e9);
}

/* What is compared, in the unit of the condition; negative: unknown. */
static double level(struct rule *r, const struct machine *was, const struct machine *m,
		    struct rule_hit *hit)
{
	double v;

	switch (r->what) {
	case RULE_AVAILABLE:
		v = (double)machine_available(m);
		return r->percent ? m->f.mem[MEM_TOTAL] ?
			v * 100 / (double)m->f.mem[MEM_TOTAL] : -1 : v;
	case RULE_PRESSURE:
		if (r->tripped)
			return 100.1;	/* above any value */
		if (*r->pattern || !was || !was->psi.has || !m->psi.has)
			return -1;
		v = per_second(was, m, r->full ? was->psi.full_us : was->psi.some_us,
			       r->full ? m->psi.full_us : m->psi.some_us);
		return v < 0 ? v : v / 1e4;
	case RULE_SWAP_IN:
		v = per_second(was, m, was ? was->f.vm[VM_SWAP_IN] : 0, m->f.vm[VM_SWAP_IN]);
		return v < 0 ? v : v * m->page;
	default:
		return cgroup_share(r, m, hit);
	}
}

static bool compare(const struct rule *r, double v, double with)
{
	return r->what == RULE_AVAILABLE ? v < with : v > with;
}

static bool level_holds(struct rule *r, const struct machine *was, const struct machine *m,
			struct rule_hit *hit, bool *near)
{
	const bool below = r->what == RULE_AVAILABLE;
	const double v = level(r, was, m, hit);

	r->tripped = false;
	if (v < 0)
		return false;
	hit->value = v;
	if (!compare(r, v, r->value)) {
		/* a little better is not over: else it would begin again at each turn */
		if (!compare(r, v, r->value * (below ? 1 + MARGIN : 1 - MARGIN)))
			r->fired = false;
		r->since_ns = 0;
		*near = !r->fired && compare(r, v, below ? r->value / NEAR : r->value * NEAR);
		return false;
	}
	if (!r->since_ns || r->since_key != hit->key) {
		r->since_ns = m->ns;
		r->since_key = hit->key;
	}
	hit->seconds = (double)(m->ns - r->since_ns) / 1e9;
	*near = !r->fired;
	return hit->seconds >= r->hold;
}

static bool happened(const struct rule *r, const struct machine *was, const struct machine *m,
		     struct rule_hit *hit)
{
	const bool counted = m->f.has_vm[VM_OOM_KILLS];

	if (!was)
		return false;
	if (r->what == RULE_FAILURE) {
		hit->value = (double)(m->log.failures - was->log.failures);
		return m->log.failures > was->log.failures;
	}
	hit->value = counted ? (double)(m->f.vm[VM_OOM_KILLS] - was->f.vm[VM_OOM_KILLS]) :
		     (double)(m->log.nr - was->log.nr);
	return counted ? m->f.vm[VM_OOM_KILLS] > was->f.vm[VM_OOM_KILLS] :
	       m->log.nr > was->log.nr;
}

bool rule_holds(struct rule *r, const struct machine *was, const struct machine *m,
		struct rule_hit *hit, bool *near)
{
	bool holds, known = true;

	memset(hit, 0, sizeof(*hit));
	*near = false;
	if (r->what == RULE_OOM || r->what == RULE_FAILURE)
		return happened(r, was, m, hit);
	if (r->base) {
		holds = growth(r, m, hit, &known);
		if (known && !holds)
			r->fired = false;
	} else {
		holds = level_holds(r, was, m, hit, near);
	}
	if (!holds || r->fired)
		return false;
	r->fired = true;
	return true;
}

/* --- limits ------------------------------------------------------------------------- */

#define RING	(sizeof(((struct rule *)0)->hours) / sizeof(__u64))

bool rule_may(const struct rule *r, __u64 boot_ns)
{
	unsigned int hour = 0, day = 0;

	for (size_t i = 0; i < RING && i < r->nr_hours; i++) {
		const __u64 at = r->hours[i];

		hour += boot_ns - at < HOUR;
		day += boot_ns - at < DAY;
	}
	return hour < r->per_hour && day < r->per_day;
}

void rule_acted(struct rule *r, __u64 boot_ns)
{
	r->hours[r->nr_hours++ % RING] = boot_ns;
}

/* --- words -------------------------------------------------------------------------- */

void rule_hit_text(const struct rule *r, const struct rule_hit *hit, const struct machine *m,
		   char *buf, size_t len)
{
	char value[TEXT_LEN], held[TEXT_LEN] = "";

	text_bytes(value, (__s64)hit->value, false);
	if (hit->seconds > 0)
		snprintf(held, sizeof(held), " for %.0f s", hit->seconds);
	switch (r->what) {
	case RULE_AVAILABLE:
		text_bytes(value, (__s64)machine_available(m), false);
		snprintf(buf, len, "available memory is %s of %llu MiB%s", value,
			 (unsigned long long)(m->f.mem[MEM_TOTAL] >> 20), held);
		break;
	case RULE_PRESSURE:
		snprintf(buf, len, "memory pressure (%s)%s%s is above %.0f%%%s",
			 r->full ? "full" : "some", *r->pattern ? " in " : "", r->pattern,
			 r->value, held);
		break;
	case RULE_SWAP_IN:
		snprintf(buf, len, "%s/s are read from swap%s", value, held);
		break;
	case RULE_CGROUP:
		snprintf(buf, len, "cgroup %s has %.1f%% of its limit%s", hit->name, hit->value,
			 held);
		break;
	case RULE_PROCESS_GROWS:
		snprintf(buf, len, "process %s (%u) grew %s/s in %.0f s", hit->name, hit->pid,
			 value, hit->seconds);
		break;
	case RULE_CGROUP_GROWS:
	case RULE_CACHE_GROWS:
		snprintf(buf, len, "%s %s grew %s/s in %.0f s", r->what == RULE_CGROUP_GROWS ?
			 "cgroup" : "slab cache", hit->name, value, hit->seconds);
		break;
	case RULE_OOM:
		snprintf(buf, len, "%.0f OOM kill%s", hit->value, hit->value > 1 ? "s" : "");
		break;
	default:
		snprintf(buf, len, "%.0f page allocation failure%s in the kernel's log",
			 hit->value, hit->value > 1 ? "s" : "");
	}
}
