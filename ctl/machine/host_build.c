// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the module and what its build needs: headers, the kernel's compiler, make, DKMS. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/host_int.h"

static const char *const program_dirs[] = {
	"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
};

static bool is_program(const struct machine_at *at, const char *name)
{
	for (size_t i = 0; i < sizeof(program_dirs) / sizeof(program_dirs[0]); i++)
		if (host_there(at, "%s/%s", program_dirs[i], name) == HOST_YES)
			return true;
	return false;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.' || c == '+';
}

/* "12" of "gcc-12 (Debian 12.2.0-14) 12.2.0", "4" of "gcc version 4.8.5 20150623 (...)" */
static int major_of(const char *text, size_t len)
{
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
		if (!depth && isdigit((unsigned char)text[i]) && i && text[i - 1] == ' ')
			return (int)(strtoul(text + i, NULL, 10) % 1000);
	}
	return 0;
}

/* The next text in brackets of @text, up to a comma that is in no others: its length. */
static const char *next_group(const char **text, size_t *len)
{
	const char *start = strchr(*text, '('), *p;
	int depth = 0;

	if (!start)
		return NULL;
	*len = 0;
	for (p = start; *p; p++) {
		depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
		if (!*len && (!depth || (depth == 1 && *p == ',')))
			*len = (size_t)(p - start - 1);
		if (!depth)
			break;
	}
	*text = *p ? p + 1 : p;
	return start + 1;
}

/*
 * Linux version 6.1.0 (who@where) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld ...) #1 SMP ...
 * Linux version 3.10.0 (who@where) (gcc version 4.8.5 20150623 (Red Hat 4.8.5-44) (GCC) ) #1
 */
void host_parse_version(const char *text, struct host *h)
{
	size_t len, name = 0;
	const char *group, *word;

	next_group(&text, &len);	/* who built it, and where */
	group = next_group(&text, &len);
	if (!group)
		return;
	while (len && group[len - 1] == ' ')
		len--;
	snprintf(h->built_by, sizeof(h->built_by), "%.*s", (int)len, group);
	/* "Debian clang version 17", "x86_64-linux-gnu-gcc-12" */
	word = strstr(h->built_by, "clang");
	if (!word)
		word = strstr(h->built_by, "gcc");
	while (word && is_word_char(word[name]))
		name++;
	if (word)
		snprintf(h->compiler, sizeof(h->compiler), "%.*s", (int)name, word);
	h->compiler_major = major_of(h->built_by, strlen(h->built_by));
}

/* Has /usr/lib/gcc/TRIPLET/ one of this number?  A name alone (gcc) does not say. */
static bool is_gcc_of(const struct machine_at *at, int major)
{
	char path[PATH_MAX];
	struct dirent *d, *v;
	bool is = false;
	DIR *dir, *in;

	snprintf(path, sizeof(path), "%s/usr/lib/gcc", at->root);
	dir = opendir(path);
	while (dir && !is && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/usr/lib/gcc/%s", at->root, d->d_name);
		in = opendir(path);
		while (in && (v = readdir(in)))
			is |= isdigit((unsigned char)v->d_name[0]) && atoi(v->d_name) == major;
		if (in)
			closedir(in);
	}
	if (dir)
		closedir(dir);
	return is;
}

static void find_compiler(const struct machine_at *at, struct host *h)
{
	const bool clang = strstr(h->compiler, "clang");
	const char *const kind = clang ? "clang" : "gcc";
	char name[48];

	if (!*h->compiler)
		return;
	h->compiler_other = is_program(at, kind) || (!clang && is_program(at, "cc")) ?
			    HOST_YES : HOST_NO;
	h->compiler_there = HOST_NO;
	snprintf(name, sizeof(name), "%s-%d", kind, h->compiler_major);
	if (strchr(h->compiler, '-') ? is_program(at, h->compiler) : is_program(at, name))
		h->compiler_there = HOST_YES;
	else if (clang ? host_there(at, "/usr/lib/llvm-%d/bin/clang", h->compiler_major) ==
		 HOST_YES : h->compiler_other == HOST_YES && is_gcc_of(at, h->compiler_major))
		h->compiler_there = HOST_YES;
}

/* depmod's list: "updates/memtap.ko.xz: " */
static void find_module(const struct machine_at *at, struct host *h)
{
	char path[128], *text, *rest, *line;
	int err;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", h->release);
	text = machine_file(at, path, FILE_LARGE, &err);
	if (!text)
		return;
	for (rest = text; (line = machine_line(&rest));) {
		char *end = strchr(line, ':'), *name;

		if (!end)
			continue;
		*end = '\0';
		name = strrchr(line, '/');
		name = name ? name + 1 : line;
		if (strncmp(name, "memtap.ko", 9))
			continue;
		if (line[0] == '/')
			snprintf(h->module, sizeof(h->module), "%s", line);
		else
			snprintf(h->module, sizeof(h->module), "/lib/modules/%s/%s", h->release,
				 line);
	}
	free(text);
}

#define SIGNED	"~Module signature appended~\n"

/* A compressed one does not show it. */
static enum host_answer is_signed(const struct machine_at *at, const char *module)
{
	const char *end = strrchr(module, '.');
	char path[PATH_MAX], tail[sizeof(SIGNED) - 1];
	bool is = false;
	int fd;

	snprintf(path, sizeof(path), "%s%s", at->root, module);
	if (!end || strcmp(end, ".ko"))
		return HOST_UNKNOWN;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return HOST_UNKNOWN;
	if (lseek(fd, -(off_t)sizeof(tail), SEEK_END) >= 0)
		is = read(fd, tail, sizeof(tail)) == sizeof(tail) &&
		     !memcmp(tail, SIGNED, sizeof(tail));
	close(fd);
	return is ? HOST_YES : HOST_NO;
}

void host_read_build(const struct machine_at *at, struct host *h)
{
	char *text;
	int err;

	h->loaded = host_there(at, "/sys/module/memtap/initstate");
	text = machine_file(at, "/sys/module/memtap/version", FILE_SMALL, &err);
	if (text)
		snprintf(h->loaded_version, sizeof(h->loaded_version), "%.*s",
			 (int)strcspn(text, "\n"), text);
	free(text);
	find_module(at, h);
	if (*h->module)
		h->module_signed = is_signed(at, h->module);
	h->dkms = host_there(at, "/var/lib/dkms/memtap");
	h->dkms_key = host_there(at, "/var/lib/dkms/mok.pub");
	h->headers = host_there(at, "/lib/modules/%s/build/Makefile", h->release);
	h->make = is_program(at, "make") ? HOST_YES : HOST_NO;
	text = machine_file(at, "/proc/version", FILE_SMALL, &err);
	if (text)
		host_parse_version(text, h);
	free(text);
	find_compiler(at, h);
	h->debuginfo = host_there(at, "/usr/lib/debug/.build-id");
	if (h->debuginfo == HOST_NO)
		h->debuginfo = host_there(at, "/usr/lib/debug/usr");
}
