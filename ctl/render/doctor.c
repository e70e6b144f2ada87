// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the findings of `memtap doctor` with their fixes, as text or JSON. */
#include "base/json.h"
#include "base/text.h"
#include "render/doctor.h"

static const char *const words[] = { "ok", "note", "problem" };
static const char *const colors[] = { "32", "33", "1;31" };

static void put_finding(const struct doctor_finding *f, const struct doctor_opts *o)
{
	if (o->color)
		fprintf(o->out, "\033[%sm%-8s\033[0m %-10s ", colors[f->level], words[f->level],
			f->name);
	else
		fprintf(o->out, "%-8s %-10s ", words[f->level], f->name);
	text_put(o->out, f->seen, NULL);
	fputc('\n', o->out);
	if (*f->mend) {
		fprintf(o->out, "%20s", "");
		text_put(o->out, f->mend, NULL);
		fputs(f->nr_commands ? ":\n" : "\n", o->out);
	}
	for (unsigned int i = 0; i < f->nr_commands; i++) {
		fprintf(o->out, "%22s", "");
		text_put(o->out, f->commands[i], NULL);
		fputc('\n', o->out);
	}
}

static void put_text(const struct doctor *d, const struct doctor_opts *o)
{
	const struct host *h = d->host;

	if (!o->quiet) {
		fputs("memtap doctor: ", o->out);
		text_put(o->out, *h->name ? h->name : "this machine", NULL);
		fputs(", Linux ", o->out);
		text_put(o->out, *h->release ? h->release : "?", NULL);
		fputs("\n\n", o->out);
	}
	for (size_t i = 0; i < d->nr_found; i++)
		if (!o->quiet || d->found[i].level != DOCTOR_OK)
			put_finding(&d->found[i], o);
	for (size_t i = 0; i < h->nr_gaps; i++) {
		fprintf(o->out, "%-8s %-10s ", "unknown", "");
		text_put(o->out, h->gaps[i].text, NULL);
		fputc('\n', o->out);
	}
	if (o->quiet)
		return;
	if (d->problems)
		fprintf(o->out, "\nmemtap cannot run here: %u problem%s\n", d->problems,
			text_s(d->problems));
	else
		fprintf(o->out, "\nmemtap can run here%s\n", d->host->nr_gaps ?
			", as far as could be checked" : "");
}

static void put_json(const struct doctor *d, const struct doctor_opts *o)
{
	const struct host *h = d->host;
	struct json j = { .out = o->out };

	json_document(&j, "doctor");
	json_str(&j, "host", h->name);
	json_str(&j, "release", h->release);
	json_bool(&j, "usable", !d->problems);
	json_open(&j, "findings", '[');
	for (size_t i = 0; i < d->nr_found; i++) {
		const struct doctor_finding *f = &d->found[i];

		json_open(&j, NULL, '{');
		json_str(&j, "name", f->name);
		json_str(&j, "level", words[f->level]);
		json_str(&j, "found", f->seen);
		json_str(&j, "fix", f->mend);
		json_open(&j, "commands", '[');
		for (unsigned int c = 0; c < f->nr_commands; c++)
			json_str(&j, NULL, f->commands[c]);
		json_close(&j, ']');
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_open(&j, "not_checked", '[');
	for (size_t i = 0; i < h->nr_gaps; i++)
		json_str(&j, NULL, h->gaps[i].text);
	json_close(&j, ']');
	json_close(&j, '}');
	fputc('\n', o->out);
}

void render_doctor(const struct doctor *d, const struct doctor_opts *o)
{
	if (o->json)
		put_json(d, o);
	else
		put_text(d, o);
}
