// SPDX-License-Identifier: GPL-2.0-or-later
/* Prepare and finish a session that keeps live blocks. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "elf/symbols.h"
#include "leaks/run.h"
#include "target/maps.h"
#include "target/needed.h"
#include "base/openreg.h"
#include "target/procs.h"
#include "session/seccomp.h"
#include "target/target.h"

#define STACKS_BYTES	(14ULL << 19)	/* 32 768 stacks of 23 frames, and their heads */
#define COUNTERS_BYTES	(64ULL << 10)	/* what is live is not counted there */
#define PEAK_BYTES	(4ULL << 20)	/* --peak: 31 000 stacks */

/* ---- what was asked for ---- */

/* What was asked for is not what lives now. */
int leaks_check_totals(const struct opts *o, const char *cmd)
{
	const char *not = o->show_allocs ? "show-allocs" : o->reach ? "unreachable" :
			  o->retained ? "retained" :
			  o->changed ? "changed" : o->increased ? "increased" :
			  o->older_given ? "older" : o->since_mark ? "since-mark" :
			  o->between ? "between" : NULL;

	if (!leaks_totals(o))
		return 0;
	if (not)
		return usage_error(cmd, "--%s is about live blocks: not with --peak, --temporary "
					"and --allocated", not);
	if (o->sort + 1 == SORT_AGE || o->sort + 1 == SORT_SLOPE)
		return usage_error(cmd, "--sort age and slope are about live blocks: not with "
					"--peak, --temporary and --allocated");
	return 0;
}

int leaks_check(const struct opts *o, const char *cmd, bool record)
{
	/* what one thread allocates another one frees */
	if (o->tids.nr)
		return usage_error(cmd, "--tid: memory belongs to a process; use -p PID, and --by "
					"thread for the threads that allocated");
	if (o->system)
		return usage_error(cmd, "-a: blocks are followed in selected processes only");
	if (!(o->argv || o->pids.nr || o->comms.nr || o->cgroups.nr))
		return usage_error(cmd, "name a target: -p PID, --cgroup PATH, --comm NAME or -- "
					"PROGRAM; or -k for kernel memory");
	if (o->args.nr)
		return usage_error(cmd, "'%s': %s", o->args.at[0], record ?
				   "--leaks records no other events" :
				   "memtap finds the allocation functions itself; --alloc and "
				   "--free add functions");
	if (o->trace && o->format > FORMAT_TABLE)
		return usage_error(cmd, "--trace prints one line per call: not with --json or "
					"--format");
	if (o->stacks && !o->trace)
		return usage_error(cmd, "--stacks needs --trace: the report always has stacks");
	if (leaks_totals(o) && (o->sample_bytes || o->sample_rate > 1))
		return usage_error(cmd, "--peak, --temporary and --allocated are exact: not with "
					"--sample-bytes or --sample-rate");
	if (o->exitcode && !o->argv)
		return usage_error(cmd, "--error-exitcode needs a program to run: -- PROGRAM");
	return leaks_check_totals(o, cmd);
}

__u32 leaks_config(struct memtap_config *c, const struct opts *o, __u64 features)
{
	const bool few = o->cgroups.nr || o->comms.nr;

	c->mem_stacks = STACKS_BYTES;
	c->mem_counters = leaks_totals(o) ? PEAK_BYTES : COUNTERS_BYTES;
	c->sample_bytes = o->sample_bytes;
	c->sample_rate = o->sample_rate;
	/* whole groups come and go: their dead would fill the table */
	return MEMTAP_CFG_LIVE | (few ? 0 : MEMTAP_CFG_KEEP) |
	       (o->trace ? MEMTAP_CFG_TRACE : 0) |
	       (leaks_totals(o) ? MEMTAP_CFG_PEAK : 0) |
	       (o->argv && !o->no_hold && (features & MEMTAP_FEATURE_DEATHS) ?
		MEMTAP_CFG_DEATHS : 0) |
	       (!o->no_hold && (features & MEMTAP_FEATURE_EXECS) ? MEMTAP_CFG_EXECS : 0);
}

static int parse_specs(struct leaks_run *r, const char *cmd, const struct opt_strs *texts,
		       bool frees)
{
	char why[256];

	for (size_t i = 0; i < texts->nr; i++) {
		struct alloc_spec *spec = &r->specs[r->alloc.nr_specs++];

		if (alloc_spec_parse(texts->at[i], frees, spec, why))
			return usage_error(cmd, "--%s: %s", frees ? "free" : "alloc", why);
	}
	return 0;
}

int leaks_suppressions(const struct opt_strs *files, struct suppress **s)
{
	const char *kind;
	char why[256];
	size_t nr;

	*s = suppress_new();
	if (!*s)
		return fail(ERR_PLAIN, ENOMEM, "%s", "suppressions");
	for (size_t i = 0; i < files->nr; i++)
		if (suppress_add_file(*s, files->at[i], why))
			return fail_text("--suppressions: %s", why);
	nr = suppress_skipped(*s, &kind);
	if (nr)
		note("--suppressions: %zu suppression%s %s for errors that memtap does not report "
		     "(the first one: %s) and %s no effect", nr, text_s(nr),
		     nr == 1 ? "is" : "are", kind, nr == 1 ? "has" : "have");
	return 0;
}

bool leaks_all_followed(const struct opts *o)
{
	return !o->min_size && !o->max_size && !o->obj;
}

static const char *why_no_kinds(const struct opts *o)
{
	if (!o->argv)
		return NULL;
	if (o->sample_bytes || o->sample_rate > 1)
		return "only some blocks are recorded";
	if (!leaks_all_followed(o))
		return "not all blocks are followed";
	return o->no_hold ? "the program was not paused at its end (--no-pause)" :
			    LEAKS_NO_EXIT;
}

int leaks_begin(struct leaks_run *r, const char *cmd, const struct opts *o)
{
	int ret;

	memset(r, 0, sizeof(*r));
	pthread_mutex_init(&r->lock, NULL);
	r->o = o;
	r->specs = calloc(o->allocs.nr + o->frees.nr + 1, sizeof(*r->specs));
	r->spec_found = calloc(o->allocs.nr + o->frees.nr + 1, sizeof(*r->spec_found));
	if (!r->specs || !r->spec_found)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	r->alloc.specs = r->specs;
	r->alloc.prefix = o->prefix;
	r->alloc.obj = o->obj;
	r->alloc.free_stacks = o->free_stacks || (o->argv && !o->no_free_stacks);
	r->no_kinds = why_no_kinds(o);
	ret = parse_specs(r, cmd, &o->allocs, false);
	if (!ret)
		ret = parse_specs(r, cmd, &o->frees, true);
	if (!ret && o->suppressions.nr)
		ret = leaks_suppressions(&o->suppressions, &r->suppress);
	return ret;
}

void leaks_free(struct leaks_run *r)
{
	for (size_t i = 0; i < r->nr_files; i++) {
		if (r->files[i].fd >= 0)
			close(r->files[i].fd);
		free(r->files[i].path);
		free(r->files[i].offsets);
	}
	for (size_t i = 0; i < r->nr_postponed; i++) {
		close(r->postponed[i].fd);
		free(r->postponed[i].path);
	}
	free(r->files);
	free(r->specs);
	free(r->spec_found);
	free(r->reach);
	free(r->live);
	free(r->helds);
	free(r->looks);
	free(r->residents);
	suppress_free(r->suppress);
	free(r->known);
	pthread_mutex_destroy(&r->lock);
}

/* ---- before START ---- */

/* A path of its own stands for "the program" in --alloc FUNC(...). */
static void name_program(struct leaks_run *r, const char *path)
{
	for (size_t i = 0; i < r->alloc.nr_specs; i++)
		if (!r->specs[i].path[0])
			snprintf(r->specs[i].path, sizeof(r->specs[i].path), "%.*s",
				 (int)sizeof(r->specs[i].path) - 1, path);
}

static void find_program(struct leaks_run *r)
{
	char link[32], path[4096];
	ssize_t len;

	if (r->program) {
		if (realpath(r->program, path))
			name_program(r, path);
	} else if (r->o->pids.nr) {
		snprintf(link, sizeof(link), "/proc/%u/exe", r->o->pids.at[0]);
		len = readlink(link, path, sizeof(path) - 1);
		if (len > 0) {
			path[len] = '\0';
			name_program(r, path);
		}
	}
}

static int take(const char *path, int fd, void *ctx)
{
	return leaks_take_file(ctx, path, fd) < 0;
}

static int take_running(pid_t pid, void *ctx)
{
	struct leaks_run *r = ctx;

	if (procs_passes(pid, r->items, r->nr_items))
		leaks_take_process(r, pid);
	return 0;
}

/* Of a group nobody may be there yet, nor a child; most will use these. */
static void take_usual(struct leaks_run *r)
{
	static const char *const names[] = { "c", "stdc++" };
	char path[4096];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!maps_find_library(names[i], path, sizeof(path)))
			needed_walk(path, take, r);
}

static void take_targets(struct leaks_run *r)
{
	const struct opts *o = r->o;

	if (r->program)
		needed_walk_command(r->program, o->argv, take, r);
	if (o->comms.nr || o->cgroups.nr) {
		procs_each(take_running, r);
		take_usual(r);
		return;
	}
	for (size_t i = 0; i < o->pids.nr; i++)
		leaks_take_process(r, (pid_t)o->pids.at[i]);
	/* else each waits until its own are probed */
	if (o->children && !(r->features & MEMTAP_FEATURE_EXECS && !o->no_hold))
		take_usual(r);
}

bool leaks_is_of_32_bits(const char *path)
{
	const int fd = open_regular(path);
	unsigned char ident[EI_NIDENT] = { 0 };
	const bool read_it = fd >= 0 && read(fd, ident, sizeof(ident)) == sizeof(ident);

	if (fd >= 0)
		close(fd);
	return read_it && !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_CLASS] == ELFCLASS32;
}

/* Go's own allocator, which is called without a call that could be probed. */
static bool is_go(const char *path)
{
	const int fd = open_regular(path);
	struct elfsym_kind kind = { .go = false };
	struct elfsym *e;

	if (fd >= 0 && !elfsym_open(fd, &e)) {
		elfsym_get_kind(e, &kind);
		elfsym_close(e);
	}
	if (fd >= 0)
		close(fd);
	return kind.go;
}

/* The program that is run, or the first of those that run: @exe for its name. */
static const char *main_program(const struct leaks_run *r, char exe[32])
{
	if (r->program || !r->o->pids.nr)
		return r->program;
	snprintf(exe, 32, "/proc/%u/exe", r->o->pids.at[0]);
	return exe;
}

static int nothing_found(const struct leaks_run *r)
{
	char buf[32];
	const char *exe = main_program(r, buf);

	if (r->program && leaks_is_of_32_bits(r->program))
		return fail_text("%s is a 32-bit program, which cannot be followed from its start; "
				 "start it, and use memtap leaks -p PID, or memtap brk, mmap or "
				 "faults", r->program);
	if (r->foreign)
		return fail_text("no allocator was found in %s: it is not a 64-bit program; use "
				 "memtap brk, mmap or faults", r->program ? r->program :
				 "the process");
	if (exe && is_go(exe))
		return fail_text("%s is a Go program, and Go's allocator is not followed; use "
				 "memtap brk, mmap or faults", r->program ? r->program :
				 "the process");
	return fail_text("no allocator was found in %s (a static program without symbols shows "
			 "none): name its functions with --alloc and --free, or use memtap brk, "
			 "mmap or faults", r->program ? r->program : "the program");
}

#define NO_GO	"allocations by Go's own allocator are not recorded"

static void print_settings(struct leaks_run *r)
{
	size_t files = 0;
	char buf[32];
	const char *exe = main_program(r, buf);

	r->go = exe && is_go(exe);
	for (size_t i = 0; i < r->nr_files; i++)
		files += r->files[i].functions != 0;
	if (r->functions)
		note("%zu function%s in %zu file%s: %s", r->functions,
		     r->functions == 1 ? "" : "s", files, files == 1 ? "" : "s", r->names);
	else
		note("no allocator was found in %s: only processes that it starts are followed",
		     r->program ? r->program : "the process");
	if (r->go)
		note("%s is a Go program: " NO_GO, r->program ? r->program : "the process");
	if (r->single_stepped && r->o->verbose)
		note("two traps instead of one on this kernel: %zu function%s (%s)",
		     r->single_stepped, r->single_stepped == 1 ? "" : "s", r->stepped);
	for (size_t i = 0; i < r->alloc.nr_specs; i++)
		if (!r->spec_found[i])
			note("there is no %s in %s so far", r->specs[i].function,
			     r->specs[i].path[0] ? r->specs[i].path : "the program");
}

int leaks_prepare(struct leaks_run *r)
{
	struct target_stat st;
	int ret;

	r->alloc.push = r->features & MEMTAP_FEATURE_PUSH;
	r->alloc.once = r->features & MEMTAP_FEATURE_ONCE;
	r->alloc.moved = true;
	find_program(r);
	ret = seccomp_check(r->items, r->nr_items, r->features, r->program != NULL,
			    "memtap brk, mmap and faults are safe");
	if (ret)
		return ret;
	if (!target_stat(getpid(), &st))
		r->since = st.start;
	take_targets(r);
	if (!r->functions && r->o->no_mappings)
		return nothing_found(r);
	if (!r->functions && !(r->o->comms.nr || r->o->cgroups.nr || r->o->children))
		return nothing_found(r);
	if (r->program && !r->o->no_hold && !r->exit_events && r->no_kinds)
		r->no_kinds = "no function _exit was found to pause the program at its end";
	print_settings(r);
	r->started = true;
	return 0;
}

/* ---- after the end ---- */

size_t leaks_notes(struct leaks_run *r, char (*notes)[LEAKS_TEXT], size_t room)
{
	size_t nr = 0;

	pthread_mutex_lock(&r->lock);
	if (r->look[0] && nr < room)
		snprintf(notes[nr++], LEAKS_TEXT, "%s", r->look);
	if (r->look[0] && r->left[0] && nr < room)
		snprintf(notes[nr++], LEAKS_TEXT, "%s", r->left);
	if (r->held_why[0] && nr < room)
		snprintf(notes[nr++], LEAKS_TEXT, "%s", r->held_why);
	if (r->go && nr < room)
		snprintf(notes[nr++], LEAKS_TEXT, "this is a Go program: " NO_GO);
	if (r->late && nr < room)
		snprintf(notes[nr++], LEAKS_TEXT, "attached late, earlier allocations are not "
						  "known: %.400s", r->late_names);
	if (r->refused && nr < room)
		snprintf(notes[nr++], LEAKS_TEXT, "%zu function%s could not be probed",
			 r->refused, r->refused == 1 ? "" : "s");
	if (r->unopened_names[0] && nr < room)
		snprintf(notes[nr++], LEAKS_TEXT, "files not opened, allocators in them are not "
						  "followed: %.400s", r->unopened_names);
	if (r->known_why[0] && nr < room)
		snprintf(notes[nr++], LEAKS_TEXT, "%s", r->known_why);
	pthread_mutex_unlock(&r->lock);
	return nr;
}

static bool was_recorded(const struct snap *s, pid_t pid)
{
	for (size_t i = 0; s && i < s->nr_tasks; i++)
		if (s->tasks[i].pid == pid)
			return true;
	return false;
}

struct meant {
	const struct leaks_run *run;
	const struct snap *last;
};

/* Whom the session watched; and whoever began since may be a copy of them. */
static enum verify_who check_target(pid_t pid, void *ctx)
{
	const struct meant *m = ctx;
	struct target_stat st;

	if (pid == getpid() || target_stat(pid, &st) || st.state == 'Z' || st.state == 'X')
		return VERIFY_NOT;
	if (was_recorded(m->last, pid) || procs_passes(pid, m->run->items, m->run->nr_items))
		return VERIFY;
	return st.start >= m->run->since ? VERIFY_SILENTLY : VERIFY_NOT;
}

void leaks_verify(const struct leaks_run *r, const struct snap *last)
{
	struct meant meant = { r, last };
	struct verify_result v;

	if (!r->functions)
		return;
	verify_text(r->files, r->nr_files, check_target, &meant, &v);
	if (v.changed)
		fail_text("probes removed, but in %zu of %zu processes the text differs from its "
			  "file, first in process %d at %s+0x%llx: does another tool have probes "
			  "there?",
			  v.changed, v.processes, v.pid, v.path, (unsigned long long)v.offset);
	else if (v.processes)
		note("probes removed, text verified in %zu process%s", v.processes,
		     v.processes == 1 ? "" : "es");
	else
		note("probes removed; no process maps the probed text any more");
}
