// SPDX-License-Identifier: GPL-2.0-or-later
/* Handle keys: change the state of `memtap top`. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/opt.h"
#include "top/state.h"

#define SHORTEST	0.1		/* seconds */

/* Struct triage points to the moments that it is about. */
static int look(struct top *t, const struct machine_at *at)
{
	struct top_moment *m = &t->moment;

	return triage_look(&m->triage, at, &m->before, &m->now, false);
}

int top_take(struct top *t, const struct machine_at *at, struct machine *now)
{
	struct top_moment *m = &t->moment;
	int err;

	triage_free(&m->triage);
	machine_free(&m->before);
	m->before = m->now;
	m->now = *now;
	memset(now, 0, sizeof(*now));
	m->has = m->before.ns != 0 || m->before.page != 0;
	t->nr_rows = 0;
	if (!m->has)
		return 0;
	err = look(t, at);
	if (err) {
		m->has = false;
		return err;
	}
	err = top_rows(t);
	if (!err)
		top_read_pss(t, at);
	return err;
}

void top_take_lines(struct top *t, char *lines)
{
	free(t->lines);
	t->lines = lines;
	t->nr_lines = 0;
	for (const char *p = lines; p && *p; p++)
		t->nr_lines += *p == '\n';
}

void top_free(struct top *t)
{
	triage_free(&t->moment.triage);
	machine_free(&t->moment.before);
	machine_free(&t->moment.now);
	free(t->rows);
	free(t->lines);
	memset(t, 0, sizeof(*t));
}

/* ---- a line that is typed ---- */

static void ask_for(struct top *t, enum top_prompt prompt, const char *begin)
{
	t->prompt = prompt;
	snprintf(t->input, sizeof(t->input), "%s", begin);
}

static void take_interval(struct top *t)
{
	double seconds;

	if (opt_seconds(t->input, &seconds) && seconds >= SHORTEST && seconds <= 86400)
		t->interval = seconds;
	else if (*t->input)
		snprintf(t->message, sizeof(t->message), "seconds: %.1f or more, at most a day",
			 SHORTEST);
}

static void take_file(struct top *t)
{
	if (!*t->input)
		return;
	if (!access(t->input, F_OK))
		snprintf(t->message, sizeof(t->message), "%s exists already: use another name",
			 t->input);
	else
		t->ask = ASK_WRITE;
}

static void end_input(struct top *t)
{
	const enum top_prompt prompt = t->prompt;

	t->prompt = PROMPT_NONE;
	if (prompt == PROMPT_INTERVAL) {
		take_interval(t);
	} else if (prompt == PROMPT_FILTER) {
		snprintf(t->filter, sizeof(t->filter), "%.63s", t->input);
		t->chosen = t->first = 0;
		t->chosen_pid = 0;
		if (top_rows(t))
			t->nr_rows = 0;
	} else {
		take_file(t);
	}
}

static void type(struct top *t, int key)
{
	const size_t len = strlen(t->input);

	if (key == TOP_KEY_ESCAPE) {
		t->prompt = PROMPT_NONE;
	} else if (key == '\n') {
		end_input(t);
	} else if (key == TOP_KEY_BACKSPACE) {
		if (len)
			t->input[len - 1] = '\0';
	} else if (key == 21) {		/* Ctrl-U, as in a shell */
		t->input[0] = '\0';
	} else if (key > 0 && key < 256 && isprint(key) && len + 1 < sizeof(t->input)) {
		t->input[len] = (char)key;
		t->input[len + 1] = '\0';
	}
}

/* ---- pages ---- */

static size_t moved(size_t at, int key, size_t nr, int page)
{
	const size_t step = page > 1 ? (size_t)page - 1 : 1, last = nr ? nr - 1 : 0;

	switch (key) {
	case TOP_KEY_UP: return at ? at - 1 : 0;
	case TOP_KEY_DOWN: return at < last ? at + 1 : last;
	case TOP_KEY_PAGE_UP: return at > step ? at - step : 0;
	case TOP_KEY_PAGE_DOWN: return at + step < last ? at + step : last;
	case TOP_KEY_HOME: return 0;
	case TOP_KEY_END: return last;
	default: return at;
	}
}

static bool moves(int key)
{
	return key >= TOP_KEY_UP && key <= TOP_KEY_END;
}

/* As in top(1): the column to the left or right of the one that gives the order. */
static void sort_by(struct top *t, enum top_sort sort)
{
	t->sort = sort;
	t->chosen_pid = 0;
	t->chosen = t->first = 0;
	if (top_rows(t))
		t->nr_rows = 0;
}

static void open_chosen(struct top *t, enum top_what what)
{
	if (t->chosen >= t->nr_rows)
		return;
	t->pid = t->rows[t->chosen].now->pid;
	snprintf(t->name, sizeof(t->name), "%s", t->rows[t->chosen].now->name);
	t->what = what;
	t->ask = ASK_OPEN;
}

/* As atop(1) has them; nothing can be attached to what is over. */
static bool key_past(struct top *t, int key)
{
	static const char keys[] = "tTeE";
	static const enum top_ask asks[] = {
		ASK_NEXT, ASK_BACK, ASK_NEXT_EVENT, ASK_BACK_EVENT,
	};
	const char *is = key > 0 && key < 256 ? strchr(keys, key) : NULL;

	if (!t->past)
		return false;
	if (is)
		t->ask = asks[is - keys];
	else if (key == '\n' || key == TOP_KEY_RIGHT || key == TOP_FAULTS || key == TOP_GROWTH ||
		 key == TOP_LEAKS)
		snprintf(t->message, sizeof(t->message), "this moment is over: there are no stacks "
			 "of it");
	else
		return false;
	return true;
}

static void key_machine(struct top *t, int key, int rows)
{
	static const char sorts[NR_TOP_SORTS + 1] = "GMHFN";
	const char *sort = key > 0 && key < 256 ? strchr(sorts, key) : NULL;

	if (sort) {
		sort_by(t, (enum top_sort)(sort - sorts));
	} else if (moves(key)) {
		t->chosen = moved(t->chosen, key, t->nr_rows, top_page(t, rows));
		t->chosen_pid = t->chosen < t->nr_rows ? t->rows[t->chosen].now->pid : 0;
	} else if (key == 'q' || key == 3) {
		t->ask = ASK_QUIT;
	} else if (key == '<' || key == '>') {
		sort_by(t, (enum top_sort)((t->sort + (key == '>' ? 1 : NR_TOP_SORTS - 1)) %
					   NR_TOP_SORTS));
	} else if (key == 'R') {
		t->reversed = !t->reversed;
		sort_by(t, t->sort);
	} else if (key == 'p' || key == '/') {
		ask_for(t, PROMPT_FILTER, t->filter);
	} else if (key == '\n' || key == TOP_KEY_RIGHT) {
		open_chosen(t, TOP_FAULTS);
	} else if (key == TOP_FAULTS || key == TOP_GROWTH || key == TOP_LEAKS) {
		open_chosen(t, (enum top_what)key);
	} else if (key == 'w') {
		snprintf(t->message, sizeof(t->message), "w writes the stacks of a process: Enter "
			 "on one first");
	}
}

static void key_watching(struct top *t, int key, int rows)
{
	char name[64];

	if (moves(key)) {
		t->line = moved(t->line, key, t->nr_lines, top_page(t, rows));
	} else if (key == 'q' || key == TOP_KEY_ESCAPE || key == TOP_KEY_LEFT ||
		   key == TOP_KEY_BACKSPACE) {
		t->ask = ASK_CLOSE;
	} else if (key == TOP_FAULTS || key == TOP_GROWTH || key == TOP_LEAKS) {
		if (t->what == (enum top_what)key)
			return;
		t->what = (enum top_what)key;
		t->ask = ASK_OPEN;
	} else if (key == 'w') {
		snprintf(name, sizeof(name), "memtap-%u-%s.memtap", t->pid,
			 t->what == TOP_LEAKS ? "leaks" : t->what == TOP_GROWTH ? "growth" :
			 "faults");
		ask_for(t, PROMPT_FILE, name);
	}
}

void top_key(struct top *t, int key, int rows)
{
	t->ask = ASK_NOTHING;
	if (key == TOP_NO_KEY)
		return;
	t->message[0] = '\0';
	if (t->prompt)
		type(t, key);
	else if (t->help)
		t->help = false;
	else if (key == 'h' || key == '?')
		t->help = true;
	else if (!t->past && (key == 's' || key == 'd'))
		ask_for(t, PROMPT_INTERVAL, "");
	else if (key_past(t, key))
		return;
	else if (t->watching)
		key_watching(t, key, rows);
	else
		key_machine(t, key, rows);
}
