// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap unwind`: show a file's unwind coverage. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "elf/symbols.h"
#include "base/err.h"
#include "target/maps.h"
#include "base/openreg.h"
#include "base/json.h"
#include "base/text.h"
#include "unwind/elf.h"
#include "unwind/unwind.h"

#define PLACES	5		/* unsupported places that are shown */
#define VDSO	"[vdso]"

struct shown {
	const char *name;
	char path[PATH_MAX];
	int fd;				/* -1: the vdso */
	struct unwind_elf elf;
	struct elfsym *sym;		/* or NULL */
	struct unwind_table t;
	__u64 us;			/* what it took */
};

/* Part of a row, as addresses. */
struct place {
	__u64 start, end;
	__u32 offset;
	const struct memtap_rule *rule;	/* NULL: a gap */
	struct elfsym_func func;	/* .name NULL: none is known */
};

struct search {
	__u64 vaddr;
	struct elfsym_func best;
};

static int closest(const struct elfsym_func *f, void *ctx)
{
	struct search *s = ctx;

	if (f->vaddr <= s->vaddr && s->vaddr - f->vaddr < f->size &&
	    (!s->best.name || f->vaddr > s->best.vaddr))
		s->best = *f;
	return 0;
}

static struct elfsym_func function_at(const struct shown *s, __u64 vaddr)
{
	struct search search = { .vaddr = vaddr };

	if (s->sym)
		elfsym_for_each_func(s->sym, closest, &search);
	return search.best;
}

static bool place_at(const struct shown *s, __u64 vaddr, struct place *p)
{
	const struct unwind_table *t = &s->t;
	__u32 offset, segment_end, row, end;

	if (!unwind_elf_range(&s->elf, vaddr, UINT32_MAX, &offset, &segment_end))
		return false;
	*p = (struct place) { .offset = offset, .func = function_at(s, vaddr) };
	p->rule = unwind_find(t, offset, &row);
	end = segment_end;
	if (offset < t->rows[0])
		end = t->rows[0];
	else if (row + 1 < t->nr_rows && t->rows[row + 1] < segment_end)
		end = t->rows[row + 1];
	p->start = vaddr;
	p->end = vaddr + (end - offset);
	/* back to where it begins, which is not before its segment */
	if (offset >= t->rows[0]) {
		__u32 back = offset - t->rows[row], start;

		while (back && !unwind_elf_range(&s->elf, vaddr - back, 1, &start, &end))
			back--;
		p->start -= back;
		p->offset -= back;
	}
	return true;
}

static void place_text(const struct place *p, char *text, size_t len)
{
	const struct memtap_rule gap = { .kind = MEMTAP_RULE_GAP };

	unwind_rule_text(p->rule ? p->rule : &gap, text, len);
}

static void print_place(const struct place *p)
{
	char text[128];

	place_text(p, text, sizeof(text));
	printf("0x%llx-0x%llx  offset 0x%x", (unsigned long long)p->start,
	       (unsigned long long)p->end, p->offset);
	if (p->func.name && p->start >= p->func.vaddr) {
		fputs("  ", stdout);
		text_put(stdout, p->func.name, NULL);
		printf("+0x%llx", (unsigned long long)(p->start - p->func.vaddr));
	}
	printf("  %s\n", text);
}

static void json_place(struct json *j, const struct place *p)
{
	char text[128];

	place_text(p, text, sizeof(text));
	json_open(j, NULL, '{');
	json_hex(j, "start", p->start);
	json_hex(j, "end", p->end);
	json_hex(j, "offset", p->offset);
	json_str(j, "function", p->func.name);
	json_str(j, "rule", text);
	json_close(j, '}');
}

/* Places in the file's code, by its addresses: [start, end). */
struct spans {
	struct span {
		__u64 start, end;
	} *at;
	size_t nr;
};

static bool hex(const char *text, __u64 *v)
{
	char *end;

	if (text[0] == '0' && text[1] == 'x')
		text += 2;
	if (!*text || strspn(text, "0123456789abcdefABCDEF") != strlen(text))
		return false;
	errno = 0;
	*v = strtoull(text, &end, 16);
	return !errno && !*end;
}

static int function_spans(const struct shown *s, const char *name, struct spans *spans)
{
	struct elfsym_func *found;
	size_t nr;
	int err = s->sym ? elfsym_find(s->sym, name, &found, &nr) : -ENODATA;

	if (err)
		return err;
	spans->at = calloc(nr, sizeof(*spans->at));
	if (!spans->at) {
		free(found);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		spans->at[spans->nr++] = (struct span) {
			found[i].vaddr, found[i].vaddr + (found[i].size ? found[i].size : 1) };
	free(found);
	return 0;
}

/* What @at is: a function's name, or else an address, as objdump writes it.  Exit status. */
static int find_spans(const struct shown *s, const char *at, struct spans *spans)
{
	const int err = function_spans(s, at, spans);
	struct place p;
	__u64 vaddr;

	if (!err)
		return 0;
	if (err == -ENOMEM || !hex(at, &vaddr))
		return fail(ERR_SYMBOL, err, "%s:%s", s->name, at);
	if (!place_at(s, vaddr, &p))
		return fail_text("0x%llx is not in the code of %s; use an address as in the output "
				 "of objdump", (unsigned long long)vaddr, s->name);
	spans->at = calloc(1, sizeof(*spans->at));
	if (!spans->at)
		return fail(ERR_PLAIN, ENOMEM, "%s", s->name);
	spans->at[spans->nr++] = (struct span) { vaddr, vaddr + 1 };
	return 0;
}

/* Each row in [start, end). */
static void show_places(const struct shown *s, __u64 start, __u64 end, struct json *j)
{
	struct place p;

	for (; start < end && place_at(s, start, &p); start = p.end)
		if (j)
			json_place(j, &p);
		else
			print_place(&p);
}

static void show_spans(const struct shown *s, const struct spans *spans, struct json *j)
{
	for (size_t i = 0; i < spans->nr; i++)
		show_places(s, spans->at[i].start, spans->at[i].end, j);
}

static __u64 table_bytes(const struct unwind_table *t)
{
	return (__u64)t->nr_rows * (sizeof(*t->rows) + sizeof(*t->kinds)) +
	       (__u64)t->nr_rules * sizeof(*t->rules);
}

static __u64 vaddr_of(const struct shown *s, __u32 offset)
{
	for (size_t i = 0; i < s->elf.nr_segments; i++) {
		const struct unwind_segment *g = &s->elf.segments[i];

		if (offset >= g->start && offset < g->end)
			return g->vaddr + (offset - g->start);
	}
	return 0;
}

/* The first few places that are not supported. */
static void show_unsupported(const struct shown *s, struct json *j)
{
	const struct unwind_table *t = &s->t;
	int nr = 0;

	for (__u32 i = 0; i < t->nr_rows && nr < PLACES; i++)
		if (t->rules[t->kinds[i]].kind == MEMTAP_RULE_NONE) {
			if (!j)
				printf("    ");
			show_places(s, vaddr_of(s, t->rows[i]), vaddr_of(s, t->rows[i]) + 1,
				    j);
			nr++;
		}
}

static double percent(__u64 part, __u64 all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void print_coverage(const struct shown *s)
{
	const struct unwind_coverage *c = &s->t.coverage;
	char a[TEXT_LEN], b[TEXT_LEN];

	text_put(stdout, s->name, NULL);
	printf("\n  functions     %s\n", text_count(a, c->functions));
	printf("  entries       %s", text_count(a, s->t.nr_rows));
	printf(", of %s rule%s\n", text_count(a, s->t.nr_rules), text_s(s->t.nr_rules));
	printf("  table         %s byte%s, %s in %.1f ms\n",
	       text_count(a, table_bytes(&s->t)), text_s(table_bytes(&s->t)),
	       s->t.cached ? "from the cache" : "made", (double)s->us / 1000);
	printf("  code          %s byte%s, %.1f %% covered%s\n", text_count(a, c->bytes),
	       text_s(c->bytes),
	       percent(c->covered, c->bytes),
	       c->frame_pointers ? ": no entries needed, the code keeps frame pointers" : "");
	if (c->damaged)
		printf("  damaged       %s function description%s\n",
		       text_count(a, c->damaged), text_s(c->damaged));
	printf("  unsupported   %s byte%s", text_count(a, c->none), text_s(c->none));
	printf(", %s place%s\n", text_count(b, c->none_rows), text_s(c->none_rows));
	show_unsupported(s, NULL);
}

static void json_coverage(const struct shown *s, struct json *j)
{
	const struct unwind_coverage *c = &s->t.coverage;

	json_u64(j, "functions", c->functions);
	json_u64(j, "rows", s->t.nr_rows);
	json_u64(j, "rules", s->t.nr_rules);
	json_u64(j, "table_bytes", table_bytes(&s->t));
	json_u64(j, "code_bytes", c->bytes);
	json_u64(j, "covered_bytes", c->covered);
	json_u64(j, "unsupported_bytes", c->none);
	json_u64(j, "unsupported_places", c->none_rows);
	json_u64(j, "damaged", c->damaged);
	json_bool(j, "frame_pointers", c->frame_pointers);
	json_bool(j, "cached", s->t.cached);
	json_u64(j, "build_us", s->us);
	json_open(j, "unsupported", '[');
	show_unsupported(s, j);
	json_close(j, ']');
}

static __u64 now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000 + (__u64)t.tv_nsec / 1000;
}

static int open_file(struct shown *s, const char *name)
{
	s->name = name;
	s->fd = open_regular(name);
	if (s->fd < 0 && !strchr(name, '/')) {
		if (maps_find_library(name, s->path, sizeof(s->path)))
			return fail(ERR_LIBRARY, ENOENT, "%s", name);
		s->name = s->path;
		s->fd = open_regular(s->path);
	}
	return s->fd < 0 ? fail(ERR_FILE, s->fd, "%s", s->name) : 0;
}

static int load(struct shown *s, const struct opts *o)
{
	const __u64 start = now_us();
	int err;

	if (s->fd < 0)
		err = unwind_vdso(&s->t);
	else if (o->no_cache)
		err = unwind_compile(s->fd, &s->t);
	else
		err = unwind_get(s->fd, &s->t);
	s->us = now_us() - start;
	if (err)
		return fail(ERR_FILE, err, "%s", s->name);
	err = s->fd < 0 ? unwind_elf_open_vdso(&s->elf) : unwind_elf_open(s->fd, &s->elf);
	if (err) {
		unwind_free(&s->t);
		return fail(ERR_FILE, err, "%s", s->name);
	}
	if (s->fd >= 0 && elfsym_open(s->fd, &s->sym))
		s->sym = NULL;
	return 0;
}

static int show(const struct shown *s, const struct opts *o)
{
	struct json j = { .out = stdout };
	struct spans spans = { NULL, 0 };
	int ret = o->at ? find_spans(s, o->at, &spans) : 0;

	if (ret)
		return ret;
	if (!o->json) {
		if (o->at)
			show_spans(s, &spans, NULL);
		else
			print_coverage(s);
		free(spans.at);
		return 0;
	}
	json_document(&j, "unwind");
	json_str(&j, "file", s->name);
	if (o->at) {
		json_open(&j, "rows", '[');
		show_spans(s, &spans, &j);
		json_close(&j, ']');
	} else {
		json_coverage(s, &j);
	}
	json_close(&j, '}');
	putchar('\n');
	free(spans.at);
	return 0;
}

int cmd_unwind(const struct cmd *cmd, struct opts *o)
{
	struct shown s = { .fd = -1, .name = VDSO };
	int ret;

	if (o->args.nr != 1)
		return usage_error(cmd->name, o->args.nr ? "one PATH only" : "which PATH?");
	if (strcmp(o->args.at[0], VDSO)) {
		ret = open_file(&s, o->args.at[0]);
		if (ret)
			return ret;
	}
	ret = load(&s, o);
	if (!ret) {
		ret = show(&s, o);
		elfsym_close(s.sym);
		unwind_elf_close(&s.elf);
		unwind_free(&s.t);
	}
	if (s.fd >= 0)
		close(s.fd);
	return ret;
}
