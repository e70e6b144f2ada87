// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The target ends, calls execve(), forks, loads a library, or is replaced on disk during a
 * session.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t_die.h"

static uint64_t lasts[PH_NR] = { 0, 20000000, 1000000, 1000000, 10000000 };

static void learn(const struct life *l, enum phase ph)
{
	if (!l->failed && l->at[ph] && l->at[ph + 1])
		lasts[ph] = (lasts[ph] * 7 + l->at[ph + 1] - l->at[ph]) / 8;
}

static void learn_all(const struct life *l)
{
	int ph;

	for (ph = PH_ATTACH; ph <= PH_DETACH; ph++)
		learn(l, ph);
}

/* --- ends, becomes another ------------------------------------------------- */

static enum phase act_in;
static enum die_act act_what;
static const char *const act_names[] = { "", "_exit()", "SIGKILL", "execve()" };

static void tell_target(struct life *l, enum phase to)
{
	if (to != act_in)
		return;
	die_set(&target.sh->act_at, l->at[to] + below(lasts[to]));
	die_set(&target.sh->act, act_what);
}

static void exit_once(unsigned long *hit)
{
	struct life l = {
		.flags = (life_flags() | LIFE_USER) & ~LIFE_ALL_MM,
		.run_ns = below(2000000), .enters = tell_target,
	};
	int status;

	life_run(&l);
	learn_all(&l);
	/* the moment may be still to come, or be none of this session */
	if (act_what == ACT_EXEC) {
		const uint64_t until = too_late();

		while (die_get(&target.sh->execs) < 2 && l.at[act_in] && now_ns() < until)
			nap_ns(500000);
	} else if (l.at[act_in]) {
		waitpid(target.pid, &status, 0);
		if (act_what == ACT_KILL ? !died_of(status, SIGKILL) : status != 17 << 8)
			wrong("%s: the target's status is 0x%x", act_names[act_what], status);
	}
	*hit += life_was_during(&l, act_in, die_get(&target.sh->acted_at),
				die_get(&target.sh->acted_at));
	if (l.failed && l.error != ESRCH)
		wrong("%s: %s", l.failed, strerror(l.error));
	if (act_what == ACT_EXEC || !l.at[act_in]) {
		round_clean(act_names[act_what]);
		die_set(&target.sh->execs, 1);
		return;
	}
	target_forget(&target);
	target_start(&target);
	round_clean(act_names[act_what]);
}

void die_exits(unsigned int times)
{
	char what[64];
	unsigned long n, hit;

	for (act_what = ACT_EXIT; act_what <= ACT_EXEC; act_what++)
		for (act_in = PH_ATTACH; act_in <= PH_DETACH; act_in += PH_DETACH - PH_ATTACH) {
			for (n = hit = 0; hit < times && n < 200 * times && !enough(); n++)
				exit_once(&hit);
			snprintf(what, sizeof(what), "%s in %s", act_names[act_what],
				 phase_names[act_in]);
			counted(what, hit, times);
		}
}

/* --- forks, loads, unloads ------------------------------------------------- */

enum { FORK, OPEN, CLOSE, NR_COUNTS };

static uint64_t counts[PH_NR][NR_COUNTS];

static void take_counts(struct life *l, enum phase to)
{
	(void)l;
	counts[to][FORK] = die_get(&target.sh->forks);
	counts[to][OPEN] = die_get(&target.sh->opens);
	counts[to][CLOSE] = die_get(&target.sh->closes);
}

static void look_at_child(void)
{
	pid_t pid = die_get(&target.sh->child);

	/* what was said of one that ended meanwhile does not count */
	if (pid > 0 && !text_clean(pid) && die_get(&target.sh->child) == pid)
		wrong("the text of the target's child %d", pid);
}

void die_forks(unsigned int times)
{
	static const char *const names[] = { "fork()", "dlopen()", "dlclose()" };
	unsigned long n, hit[PH_NR][NR_COUNTS] = { 0 }, least = 0;
	struct life l = { .enters = take_counts };
	char what[64];
	int i, ph;

	for (n = 0; least < times && n < 40UL * times + 200 && !enough(); n++) {
		l.flags = life_flags() | LIFE_LIB;
		l.run_ns = below(2000000);
		life_run(&l);
		if (l.failed)
			wrong("%s: %s", l.failed, strerror(l.error));
		look_at_child();
		round_clean("forks and libraries");
		least = ~0UL;
		for (ph = PH_ATTACH; ph <= PH_DETACH; ph += PH_DETACH - PH_ATTACH)
			for (i = 0; i < NR_COUNTS; i++) {
				hit[ph][i] += counts[ph + 1][i] != counts[ph][i];
				least = hit[ph][i] < least ? hit[ph][i] : least;
			}
	}
	for (ph = PH_ATTACH; ph <= PH_DETACH; ph += PH_DETACH - PH_ATTACH)
		for (i = 0; i < NR_COUNTS; i++) {
			snprintf(what, sizeof(what), "%s in %s", names[i], phase_names[ph]);
			counted(what, hit[ph][i], times);
		}
}

/* --- replaced on disk ------------------------------------------------------ */

static char own_exe[128], own_lib[128], dir[64];
static enum { BY_RENAME, BY_UNLINK } how;
static bool the_lib;

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) ||
	    sendfile(out, in, NULL, st.st_size) != st.st_size)
		wrong("copying %s to %s: %s", from, to, strerror(errno));
	close(in);
	close(out);
}

static void replace(void)
{
	const char *path = the_lib ? target.lib : target.exe;
	char new[160];

	snprintf(new, sizeof(new), "%s.new", path);
	if (how == BY_UNLINK ? unlink(path) : rename(new, path))
		wrong("replacing %s: %s", path, strerror(errno));
}

static struct later replacing;
static enum phase replace_in;

static void replace_later(struct life *l, enum phase to)
{
	if (to == replace_in)
		later(&replacing, l->at[to] + below(lasts[to]), replace);
}

static bool replace_once(void)
{
	const char *path = the_lib ? target.lib : target.exe;
	struct life l = {
		.flags = (life_flags() | LIFE_USER | LIFE_LIB) & ~LIFE_HOLD,
		.run_ns = below(10000000), .enters = replace_later,
	};
	char new[160];
	bool during;

	snprintf(new, sizeof(new), "%s.new", path);
	copy(the_lib ? own_lib : own_exe, new);
	life_run(&l);
	if (l.at[replace_in])
		later_join(&replacing);
	learn_all(&l);
	during = life_was_during(&l, replace_in, replacing.began, replacing.ended);
	if (l.failed)
		wrong("%s: %s", l.failed, strerror(l.error));
	if (rename(new, path) && how == BY_UNLINK)
		wrong("putting %s back: %s", path, strerror(errno));
	/* dlopen() may have met no file: that is told as a wrong result, and is none */
	if (the_lib && how == BY_UNLINK) {
		target_moves(&target);
		die_set(&target.sh->bad, 0);
	}
	round_clean("replaced");
	return during;
}

/* So that the target's file is that of the path, again. */
static void restart(void)
{
	if (target_end(&target))
		wrong("the target does not end well");
	target_start(&target);
}

/* Copies of our own, since the others are those of all tests. */
static void move_target(bool there)
{
	if (target_end(&target))
		wrong("the target does not end well");
	if (there) {
		snprintf(dir, sizeof(dir), "/tmp/t_die.%d", getpid());
		mkdir(dir, 0700);
		strcpy(own_exe, target.exe);
		strcpy(own_lib, target.lib);
		snprintf(target.exe, sizeof(target.exe), "%s/wl_die", dir);
		snprintf(target.lib, sizeof(target.lib), "%s/wl_die_lib.so", dir);
		copy(own_exe, target.exe);
		copy(own_lib, target.lib);
	} else {
		unlink(target.exe);
		unlink(target.lib);
		rmdir(dir);
		strcpy(target.exe, own_exe);
		strcpy(target.lib, own_lib);
	}
	target_start(&target);
}

void die_files(unsigned int times)
{
	unsigned int i;
	unsigned long n, hit;
	char what[64];

	move_target(true);
	for (i = 0; i < 4; i++)
		for (replace_in = PH_ATTACH; replace_in <= PH_DETACH; replace_in++) {
			if (replace_in == PH_READ)	/* too short, and as run */
				continue;
			the_lib = i & 1;
			how = i & 2 ? BY_UNLINK : BY_RENAME;
			for (n = hit = 0; hit < times && n < 200 * times && !enough(); n++) {
				target.by_proc = below(2);
				hit += replace_once();
				if (n % 8 == 7)
					restart();
			}
			snprintf(what, sizeof(what), "%s %s in %s",
				 the_lib ? "library" : "program",
				 how == BY_UNLINK ? "removed" : "replaced",
				 phase_names[replace_in]);
			counted(what, hit, times);
		}
	target.by_proc = false;
	move_target(false);
}
