// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose probes for the allocators of each file. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "session/dev.h"
#include "base/ids.h"
#include "base/err.h"
#include "base/path.h"
#include "leaks/run.h"
#include "target/maps.h"

#define DLOPEN_MS	2000	/* who waits while a library is looked at */
#define EXIT_MS		30000	/* and while the memory is read */
#define MAX_REFUSED	4	/* sentences about it */
#define MAX_STEPPED	3	/* functions that are named */

static void append(char text[LEAKS_TEXT], const char *what)
{
	const size_t used = strlen(text), len = strlen(what);

	if (used + len + 8 < LEAKS_TEXT)
		sprintf(text + used, "%s%s", used ? ", " : "", what);
	else if (used && used + 6 < LEAKS_TEXT && strcmp(text + used - 3, "..."))
		strcpy(text + used, ", ...");
}

/* ---- files ---- */

static struct verify_file *find_file(const struct leaks_run *r, const struct stat *st)
{
	for (size_t i = 0; i < r->nr_files; i++)
		if (r->files[i].ino == st->st_ino && r->files[i].dev == st->st_dev)
			return &r->files[i];
	return NULL;
}

/* The same file under all its names is one; NULL: known, or no memory. */
static struct verify_file *new_file(struct leaks_run *r, const char *path, int fd)
{
	struct verify_file *more, *f;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || find_file(r, &st))
		return NULL;
	more = ids_grow(r->files, r->nr_files, &r->room_files, sizeof(*more));
	if (!more)
		return NULL;
	r->files = more;
	f = &r->files[r->nr_files];
	*f = (struct verify_file){ .fd = -1, .dev = st.st_dev, .ino = st.st_ino,
				   .path = strdup(path) };
	if (!f->path)
		return NULL;
	r->nr_files++;
	return f;
}

static int remember_place(struct verify_file *f, int fd, __u64 offset)
{
	__u64 *more;

	if (f->fd < 0)
		f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (f->nr == f->room) {
		more = reallocarray(f->offsets, 2 * f->room + 16, sizeof(*more));
		if (!more)
			return -ENOMEM;
		f->offsets = more;
		f->room = 2 * f->room + 16;
	}
	f->offsets[f->nr++] = offset;
	return 0;
}

/* ---- probes ---- */

static bool needs_return(const struct alloc_probe *p)
{
	return p->attach.op == MEMTAP_HEAP_ALLOC || p->attach.op == MEMTAP_HEAP_REALLOC ||
	       p->attach.op == MEMTAP_HEAP_GIVE;
}

static void refuse(struct leaks_run *r, const struct alloc_probe *p, int err)
{
	char words[256];

	if (r->refused++ < MAX_REFUSED)
		note("left out: %s: %s", p->text,
		     err == -ENOSPC ? "a session has 32 names at most" :
		     err_words(ERR_UPROBE, err, p->text, words, sizeof(words)));
}

static int attach(struct leaks_run *r, struct verify_file *f, struct alloc_probe *p, int fd)
{
	char text[256];
	int err;

	if (p->spec >= 0)
		r->spec_found[p->spec] = true;
	if (p->is_go && needs_return(p)) {
		note("left out: %s is a Go function: a return probe would break the program, "
		     "because Go moves stacks", p->text);
		return 0;
	}
	p->attach.fd = fd;
	p->attach.moved = p->moved;
	err = dev_attach(r->dev, &p->attach);
	if (err) {
		f->refused += p->attach.op != MEMTAP_HEAP_UNWIND;
		refuse(r, p, err);
		return err == -EBUSY || err == -EBADF ? err : 0;
	}
	if (p->attach.op == MEMTAP_HEAP_UNWIND)	/* hands out nothing, and is rare */
		return remember_place(f, fd, p->attach.offset);
	r->functions++;
	f->functions++;
	if (!p->one_trap && r->single_stepped++ < MAX_STEPPED) {
		snprintf(text, sizeof(text), "%.60s:%.80s%s%.40s%s", base_name(f->path),
			 p->function, p->insn[0] ? " (" : "", p->insn, p->insn[0] ? ")" : "");
		append(r->stepped, text);
	}
	return remember_place(f, fd, p->attach.offset);
}

static bool has_flag_pie(Elf *elf, const GElf_Phdr *dynamic)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)dynamic->p_offset,
					      dynamic->p_filesz, ELF_T_DYN);
	GElf_Dyn dyn;

	for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++)
		if (dyn.d_tag == DT_FLAGS_1)
			return dyn.d_un.d_val & DF_1_PIE;
	return false;
}

/* A program that needs no dynamic linker: nobody waits for us there. */
bool leaks_is_static(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	bool dynamic = false, pie = false;
	GElf_Phdr ph;
	size_t nr = 0;

	if (elf && elf_getphdrnum(elf, &nr))
		nr = 0;
	for (size_t i = 0; i < nr && gelf_getphdr(elf, (int)i, &ph); i++) {
		if (ph.p_type == PT_INTERP) {
			elf_end(elf);
			return false;
		}
		dynamic |= ph.p_type == PT_DYNAMIC;
		pie |= ph.p_type == PT_DYNAMIC && has_flag_pie(elf, &ph);
	}
	elf_end(elf);
	return !dynamic || pie;
}

static void count_file(struct leaks_run *r, const struct verify_file *f)
{
	if (!f->functions)
		return;
	append(r->names, base_name(f->path));
	if (!r->started || r->holding)
		return;
	r->late++;
	r->late_functions += f->functions;
	append(r->late_names, base_name(f->path));
}

static int take_file(struct leaks_run *r, const char *path, int fd)
{
	struct verify_file *f = new_file(r, path, fd);
	struct alloc_probes probes = { NULL, 0, 0 };
	int err;

	if (!f)
		return 0;
	if (!r->started || (r->holding && r->features & MEMTAP_FEATURE_EXECS))
		leaks_hold_at(r, fd, path);
	err = alloc_scan(&probes, fd, path, &r->alloc);
	if (err == -ENOTSUP)
		r->foreign = true;
	for (size_t i = 0; !err && i < probes.nr; i++)
		err = attach(r, f, &probes.at[i], fd);
	alloc_probes_free(&probes);
	leaks_take_known(r, path, fd);
	count_file(r, f);
	return err == -EBUSY || err == -EBADF ? err : 0;
}

int leaks_take_file(struct leaks_run *r, const char *path, int fd)
{
	int err;

	pthread_mutex_lock(&r->lock);
	err = take_file(r, path, fd);
	pthread_mutex_unlock(&r->lock);
	return err;
}

/* That who would be looked at is gone is no fault, nor that a device is mapped. */
static void remember_unopened(struct leaks_run *r, const char *name, int err)
{
	char text[128];

	if (err == -ENOENT || err == -ESRCH || err == -ENOEXEC)
		return;
	snprintf(text, sizeof(text), "%.80s (%s)", name, strerror(-err));
	pthread_mutex_lock(&r->lock);
	/* who is looked at once more is not another one */
	if (!strstr(r->unopened_names, text))
		append(r->unopened_names, text);
	pthread_mutex_unlock(&r->lock);
}

/* Its device there may be another one than that of stat(). */
static void note_device(struct leaks_run *r, const struct stat *st, const struct maps_file *m)
{
	struct verify_file *f;

	pthread_mutex_lock(&r->lock);
	f = find_file(r, st);
	if (f && st->st_ino == m->inode)
		f->map_dev = makedev(m->dev_major, m->dev_minor);
	pthread_mutex_unlock(&r->lock);
}

/* Was it not known until now? */
static bool take_mapped(struct leaks_run *r, pid_t pid, const struct maps_file *m)
{
	const int fd = maps_open(pid, m);
	struct stat st = { 0 };
	bool known;

	if (fd < 0) {
		remember_unopened(r, base_name(m->path), fd);
		return false;
	}
	pthread_mutex_lock(&r->lock);
	known = fstat(fd, &st) || find_file(r, &st);
	pthread_mutex_unlock(&r->lock);
	if (!known)
		leaks_take_file(r, m->path, fd);
	note_device(r, &st, m);
	close(fd);
	return !known;
}

static void take_table(struct leaks_run *r, pid_t pid, const struct maps_file *m)
{
	const int fd = maps_open(pid, m);
	__u32 id;

	if (fd < 0)
		return;
	tables_load(r->tables, fd, m->path, &id);
	close(fd);
}

/* First all probes: a table can take longer than somebody waits. */
void leaks_take_process(struct leaks_run *r, pid_t pid)
{
	const bool rows = r->started && r->rows;
	struct maps m;
	bool *new;
	int err;

	err = maps_read(pid, &m);
	if (err) {
		remember_unopened(r, "/proc/PID/maps", err);
		return;
	}
	new = calloc(m.nr + 1, sizeof(*new));
	for (size_t i = 0; new && i < m.nr; i++)
		new[i] = take_mapped(r, pid, m.files[i]);
	for (size_t i = 0; new && rows && i < m.nr; i++)
		if (new[i])
			take_table(r, pid, m.files[i]);
	free(new);
	maps_free(&m);
}

/* ---- where threads wait ---- */

static void hold(struct leaks_run *r, int fd, const char *path, const char *function,
		 __u32 ms, __u64 *events)
{
	struct memtap_attach a = {
		.kind = MEMTAP_ATTACH_UPROBE,
		.flags = MEMTAP_ATTACH_HOLD | MEMTAP_ATTACH_ENTRY,
		.fd = fd,
		.hold_ms = ms,
	};

	if (alloc_hold_place(fd, function, &a.offset))
		return;
	snprintf(a.name, sizeof(a.name), "%.60s:%s", base_name(path), function);
	if (!dev_attach(r->dev, &a) && a.event < 64) {
		*events |= 1ULL << a.event;
		remember_place(&r->files[r->nr_files - 1], fd, a.offset);
	}
}

/* exit() ends in the one or the other: glibc's are the same, musl's are not. */
static void hold_at_end(struct leaks_run *r, int fd, const char *path)
{
	__u64 one = 0, other = 0;

	hold(r, fd, path, "_exit", EXIT_MS, &r->exit_events);
	if (!alloc_hold_place(fd, "_Exit", &other) &&
	    (alloc_hold_place(fd, "_exit", &one) || one != other))
		hold(r, fd, path, "_Exit", EXIT_MS, &r->exit_events);
}

int leaks_hold_at(struct leaks_run *r, int fd, const char *path)
{
	if (r->o->no_hold)
		return 0;
	hold(r, fd, path, "_dl_debug_state", DLOPEN_MS, &r->dlopen_events);
	if (r->program)
		hold_at_end(r, fd, path);
	return 0;
}
