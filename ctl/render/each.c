// SPDX-License-Identifier: GPL-2.0-or-later
/* Print single events as lines of text: TIME CPU COMM PID EVENT arguments. */
#include <string.h>

#include "base/text.h"
#include "render/each_int.h"

#define MAX_LINE	(MEMTAP_MAX_SHOWN * (ARGS_NAME + 8) + 4 * MEMTAP_ALL_TEXT)

void each_header(const struct each_opts *o, FILE *out)
{
	if (o->form != EACH_PLAIN) {
		each_snoop_header(o, out);
		return;
	}
	each_put_time_header(o, out);
	fprintf(out, " %3s %-15s %7s %s\n", "CPU", "COMM", "PID", "EVENT");
}

/* An argument that was made the value stands there already; so does the value, by name. */
static bool shows_value(const struct args *a)
{
	for (__u32 i = 0; a && i < a->steps.nr_shown; i++)
		if (!strcmp(a->shown[i].name, "value"))
			return true;
	return a && a->steps.value_slot;
}

/* " %3u %-15s %7d " of CPU, COMM, PID: millions of times */
static void put_task(const struct memtap_one *one, const char *comm, FILE *out)
{
	char text[64] = " ";
	size_t n = 1 + (size_t)text_number(text + 1, sizeof(text) - 1, one->cpu, 10, 3, ' ');

	text[n++] = ' ';
	fwrite(text, 1, n, out);
	text_put(out, comm, NULL);
	n = 0;
	for (size_t len = strlen(comm); len < 16; len++)
		text[n++] = ' ';
	n += (size_t)text_number(text + n, sizeof(text) - n, (__u32)one->pid, 10, 7, ' ');
	text[n++] = ' ';
	fwrite(text, 1, n, out);
}

void each_line(const struct each_opts *o, const struct each_event *e,
	       const struct memtap_one *one, FILE *out)
{
	char comm[MEMTAP_COMM_LEN + 1] = "", line[MAX_LINE], value[TEXT_LEN];
	static struct steps_values v;
	const __u32 len = one->len - (__u32)sizeof(*one);

	if (o->form != EACH_PLAIN) {
		each_snoop_line(o, e, one, out);
		return;
	}
	memcpy(comm, one->comm, MEMTAP_COMM_LEN);
	each_put_time(o, one->ns, out);
	put_task(one, comm, out);
	fputs(e->name, out);
	if (e->args && e->args->steps.nr_shown) {
		if (!steps_unpack(&e->args->steps, &v, (1U << e->args->steps.nr_shown) - 1,
				  one->known, one + 1, len))
			steps_clear(&v);
		args_print(e->args, &v, o->namer, line, sizeof(line));
		fputc(' ', out);
		text_put(out, line, NULL);
	}
	if (e->unit != MEMTAP_UNIT_NONE && !shows_value(e->args))
		fprintf(out, " value=%s", text_value(value, one->value, e->unit, false));
	if (one->flags & MEMTAP_KEY_FAILED)
		fputs(" failed", out);
	fputc('\n', out);
}

void each_pending(const struct each_opts *o, const struct each_event *e,
		  const struct memtap_rec_pending *p, const struct memtap_rec_task *task,
		  FILE *out)
{
	char comm[MEMTAP_COMM_LEN + 1] = "?";

	if (o->form != EACH_PLAIN)
		return;
	if (task)
		memcpy(comm, task->comm, MEMTAP_COMM_LEN);
	each_put_time(o, p->since_ns, out);
	fputs("   - ", out);
	text_put(out, comm, NULL);
	fprintf(out, "%*s %7d %s begun, %s\n", 15 - (int)strlen(comm), "", task ? task->pid : 0,
		e->name, task && task->flags & MEMTAP_TASK_EXITED ?
		"and ended with its thread" : "and not over yet");
}

/* @ip: or NULL */
static void put_frames(const struct sym_frame *f, size_t n, const __u64 *ip, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		fputs("    ", out);
		if (ip)
			fprintf(out, "%16llx ", (unsigned long long)*ip);
		if (f[i].name)
			text_put(out, f[i].name, NULL);
		else
			fputs(f[i].kernel ? "[kernel]" : "[unknown]", out);
		if (f[i].object && *f[i].object && !f[i].kernel) {
			fputs(" [", out);
			text_put(out, f[i].object, NULL);
			fputc(']', out);
		}
		fputc('\n', out);
	}
}

static void put_stack(const struct snap *s, struct sym *sym, const struct memtap_one *one,
		      __u32 id, bool addresses, FILE *out)
{
	const struct memtap_rec_task *task = snap_task(s, one->task);
	const struct snap_stack *st = snap_stack(s, id);
	const struct sym_frame *f;
	size_t n;

	if (id == MEMTAP_STACK_LOST)
		fputs("    [stack not recorded]\n", out);
	for (__u32 i = 0; st && i < st->nr; i++) {
		const bool call = i || !(st->flags & (MEMTAP_STACK_ENTRY | MEMTAP_STACK_USER));

		if (st->flags & MEMTAP_STACK_USER)
			n = sym_user(sym, s, task, st->era, st->ip[i], call, &f);
		else
			n = sym_kernel(sym, s, st->ip[i], call, &f);
		put_frames(f, n, addresses ? &st->ip[i] : NULL, out);
	}
}

void each_stacks(const struct snap *s, struct sym *sym, const struct memtap_one *one,
		 bool addresses, FILE *out)
{
	put_stack(s, sym, one, one->kstack, addresses, out);
	put_stack(s, sym, one, one->ustack, addresses, out);
}
