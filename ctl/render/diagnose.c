// SPDX-License-Identifier: GPL-2.0-or-later
/* Print what `memtap diagnose` found: sentences for people, or a document. */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "render/diagnose.h"
#include "render/triage_int.h"

static const char *const sure_words[] = {
	[SURE_LOW] = "low", [SURE_MEDIUM] = "medium", [SURE_HIGH] = "high",
};

static const char *const end_words[] = {
	[ASK_NONE] = "not-needed", [ASK_DONE] = "done", [ASK_DEAR] = "detached",
	[ASK_STOPPED] = "interrupted", [ASK_FAILED] = "failed", [ASK_NO_MODULE] = "no-module",
	[ASK_NO_TIME] = "no-time",
};

/* Its first letter is large, and it ends. */
static void put_sentence(FILE *out, const char *text)
{
	char first[2] = { text[0], '\0' };

	if (first[0] >= 'a' && first[0] <= 'z' && !strchr("/(", text[1]))
		first[0] = (char)(first[0] - 'a' + 'A');
	text_put(out, first, NULL);
	text_put(out, text + (*text != '\0'), NULL);
	fputc('.', out);
}

static void put_ask(const struct ask *a, FILE *out)
{
	fputs("  ", out);
	text_put(out, *a->record ? a->record : a->found.command, NULL);
	fputs("\n      ", out);
	switch (a->end) {
	case ASK_DONE:
	case ASK_DEAR:
	case ASK_STOPPED:
		if (!(a->seconds > 0)) {
			fputs("not recorded: interrupted", out);
			break;
		}
		fprintf(out, "%.1f s", a->seconds);
		if (a->cpu >= 0)
			fprintf(out, ", about %.1f %% of a CPU", a->cpu);
		else
			fputs(", what it cost is not known", out);
		if (a->answer.has)
			fprintf(out, ", %llu events, %llu lost",
				(unsigned long long)a->answer.events,
				(unsigned long long)a->answer.lost);
		if (a->end != ASK_DONE)
			fprintf(out, "; %s", a->end == ASK_DEAR ? "detached: above 5 %" :
				"interrupted");
		break;
	case ASK_NO_TIME:
		fputs("not recorded: no time was left", out);
		break;
	default:
		fputs("not recorded: ", out);
		text_put(out, a->error, NULL);
	}
	fputc('\n', out);
}

static void put_asks(const struct diagnosis *d, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < d->nr_asks; i++) {
		if (d->asks[i].end == ASK_NONE)
			continue;
		if (!any)
			fputs("\nRecordings\n", out);
		any = true;
		put_ask(&d->asks[i], out);
	}
}

static void put_conclusion(const struct conclusion *c, size_t nr, FILE *out)
{
	fprintf(out, "\n%zu. ", nr);
	put_sentence(out, c->says);
	fprintf(out, "\n   Confidence: %s.\n", sure_words[c->sure]);
	for (size_t i = 0; i < c->nr_why; i++) {
		fputs("   - ", out);
		put_sentence(out, c->why[i]);
		fputc('\n', out);
	}
	if (*c->next) {
		fputs("   Next: ", out);
		text_put(out, c->next, NULL);
		fputc('\n', out);
	}
}

void render_diagnosis(const struct diagnosis *d, FILE *out)
{
	const struct triage_opts o = { .out = out, .real_ns = d->real_ns };

	page_head(d->t, &o, "memtap diagnose");
	if (d->interrupted)
		fprintf(out, "Interrupted: %.0f s were planned; this is what is known so far.\n",
			d->planned);
	put_asks(d, out);
	for (size_t i = 0; i < d->nr_conclusions; i++)
		put_conclusion(&d->conclusions[i], i + 1, out);
	for (size_t i = 0; i < d->t->now->nr_gaps; i++) {
		fputs(i ? "          " : "\nnot read  ", out);
		text_put(out, d->t->now->gaps[i].text, NULL);
		fputc('\n', out);
	}
	if (d->dir) {
		fputs("\nKept in ", out);
		text_put(out, d->dir, NULL);
		fputs("\n", out);
	}
}

static void json_ask(struct json *j, const struct ask *a)
{
	json_open(j, NULL, '{');
	json_str(j, "command", *a->record ? a->record : a->found.command);
	json_str(j, "outcome", end_words[a->end]);
	json_bool(j, "follows", a->follows);
	if (*a->file)
		json_str(j, "file", a->file);
	if (*a->error)
		json_str(j, "error", a->error);
	json_seconds(j, "seconds", a->seconds);
	if (a->cpu >= 0 && a->seconds > 0)
		json_seconds(j, "cpu_percent", a->cpu);
	if (a->answer.has) {
		json_u64(j, "events", a->answer.events);
		json_u64(j, "lost", a->answer.lost);
		json_str(j, "unit", a->answer.unit);
		json_u64(j, "total", a->answer.total);
		json_u64(j, "largest", a->answer.part);
	}
	json_close(j, '}');
}

static void json_frames(struct json *j, const struct answer_row *r)
{
	const struct answer_frame *at = r->nr_user ? r->user : r->kernel;
	const size_t nr = r->nr_user ? r->nr_user : r->nr_kernel;

	json_open(j, "functions", '[');
	for (size_t i = 0; i < nr; i++) {
		json_open(j, NULL, '{');
		json_str(j, "name", at[i].name);
		json_str(j, "object", at[i].object);
		if (at[i].line) {
			json_str(j, "file", at[i].file);
			json_u64(j, "line", at[i].line);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_pace(struct json *j, const struct pace *p)
{
	static const char *const words[] = {
		[PACE_NONE] = "", [PACE_SHORT] = "unknown", [PACE_FLAT] = "flat",
		[PACE_ENDED] = "ended", [PACE_STEADY] = "steady", [PACE_UNEVEN] = "uneven",
		[PACE_WAVES] = "up-and-down",
	};

	if (p->kind == PACE_NONE)
		return;
	json_open(j, "growth", '{');
	json_str(j, "kind", words[p->kind]);
	json_seconds(j, "seconds", p->seconds);
	json_s64(j, "bytes", p->grew);
	json_s64(j, "least", p->least);
	json_s64(j, "most", p->most);
	json_close(j, '}');
}

static void json_conclusion(struct json *j, const struct conclusion *c)
{
	const struct triage_finding *f = &c->ask->found;

	json_open(j, NULL, '{');
	json_str(j, "text", c->says);
	json_str(j, "confidence", sure_words[c->sure]);
	if (f->pid)
		json_u64(j, "pid", f->pid);
	if (*f->name)
		json_str(j, "name", f->name);
	json_pace(j, &c->ask->pace);
	if (c->percent >= 0) {
		json_u64(j, "percent", (__u64)c->percent);
		json_frames(j, &c->shown->answer.largest);
	}
	if (c->full_ns)
		json_u64(j, "full_ns", c->full_ns);
	json_open(j, "evidence", '[');
	for (size_t i = 0; i < c->nr_why; i++)
		json_str(j, NULL, c->why[i]);
	json_close(j, ']');
	if (*c->next)
		json_str(j, "next", c->next);
	json_close(j, '}');
}

void render_diagnosis_json(const struct diagnosis *d, FILE *out)
{
	const struct triage_opts o = { .out = out, .json = true, .real_ns = d->real_ns };
	struct json j = { .out = out };

	json_head(&j, d->t, &o, "diagnosis");
	json_seconds(&j, "planned_seconds", d->planned);
	json_bool(&j, "interrupted", d->interrupted);
	json_bool(&j, "deep", d->deep);
	json_str(&j, "tool", d->tool);
	if (d->module)
		json_str(&j, "module", d->module);
	json_open(&j, "questions", '[');
	for (size_t i = 0; i < d->nr_asks; i++)
		if (d->asks[i].end != ASK_NONE)
			json_ask(&j, &d->asks[i]);
	json_close(&j, ']');
	json_open(&j, "conclusions", '[');
	for (size_t i = 0; i < d->nr_conclusions; i++)
		json_conclusion(&j, &d->conclusions[i]);
	json_close(&j, ']');
	json_open(&j, "not_read", '[');
	for (size_t i = 0; i < d->t->now->nr_gaps; i++)
		json_str(&j, NULL, d->t->now->gaps[i].text);
	json_close(&j, ']');
	json_close(&j, '}');
	fputc('\n', out);
}
