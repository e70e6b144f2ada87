// SPDX-License-Identifier: GPL-2.0-or-later
/* Print error messages: one sentence for each failed operation and errno. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

#define OTHER_VERSION \
	"the loaded module and this tool have different versions; " \
	"install both from one tree, then run `memtap unload` and `memtap load`"
/* the kernel returns the same errno for no signature and for an unknown key */
#define UNSIGNED \
	"the kernel loads only modules signed with a trusted key; sign this one " \
	"with an enrolled key (mokutil --import), as DKMS does, or turn Secure Boot off"
#define NO_RIGHT \
	"not permitted; run as root (CAP_SYS_ADMIN or CAP_PERFMON)"

/* {} stands for the subject.  The first matching line is used. */
static const struct {
	enum err_op op;
	int err;		/* 0: any */
	const char *words;
} sentences[] = {
	{ ERR_DEVICE, ENOENT, "the module is not loaded; run `memtap load`" },
	{ ERR_DEVICE, ENODEV, "the module is not loaded; run `memtap load`" },
	{ ERR_DEVICE, ENXIO, "the module is not loaded; run `memtap load`" },
	{ ERR_DEVICE, EACCES, NO_RIGHT },
	{ ERR_DEVICE, EPERM, NO_RIGHT },
	{ ERR_INFO, ENOTTY, OTHER_VERSION },
	{ ERR_INFO, EINVAL, OTHER_VERSION },
	{ ERR_INFO, E2BIG, OTHER_VERSION },
	{ ERR_INFO, EOPNOTSUPP, OTHER_VERSION },
	{ ERR_CONFIGURE, E2BIG, OTHER_VERSION },
	{ ERR_CONFIGURE, ENOTTY, OTHER_VERSION },
	{ ERR_CONFIGURE, EOPNOTSUPP,
	  "this kernel or this module does not support this filter or count" },
	{ ERR_CONFIGURE, ESRCH, "a process of the filter does not exist" },
	{ ERR_CONFIGURE, EDQUOT,
	  "the tables need more memory than the module allows ({}); reduce "
	  "--max-mem, or raise /sys/module/memtap/parameters/max_mem" },
	{ ERR_CONFIGURE, EINVAL, "the module rejected these settings ({})" },
	{ ERR_CONFIGURE, ENOSPC, "the filter has too many names, groups or processes" },
	{ ERR_CONFIGURE, ENOMEM, "the kernel cannot allocate memory for the filter" },
	{ ERR_START, ENOMEM,
	  "the kernel cannot allocate memory for the tables ({}); reduce --max-mem" },
	{ ERR_START, EDQUOT,
	  "the tables need more memory than the module allows ({}); reduce "
	  "--max-mem, or raise /sys/module/memtap/parameters/max_mem" },
	{ ERR_START, ESRCH, "a process of the filter has exited" },
	{ ERR_HOOK, ENOENT,
	  "cannot attach {}: this kernel has no function or tracepoint for it; "
	  "`memtap hooks` shows details" },
	{ ERR_HOOK, 0, "cannot attach {}: the kernel rejected the probe; `memtap hooks` shows "
	"details" },
	{ ERR_TRACEPOINT, ENOENT,
	  "no tracepoint {}; `memtap list tracepoints` shows all" },
	{ ERR_TRACEPOINT, EOPNOTSUPP,
	  "this kernel does not let a module attach to the tracepoint {}" },
	{ ERR_TRACEPOINT, EINVAL, "the kernel rejected the attachment to the tracepoint {}" },
	{ ERR_FUNCTION, ENOENT,
	  "no kernel function {}; `memtap list functions` shows the functions "
	  "that can be probed" },
	{ ERR_FUNCTION, EINVAL, "the kernel does not allow probes on {}" },
	{ ERR_FUNCTION, EPERM,
	  "cannot probe functions ({}): the kernel is locked down; "
	  "`memtap list events` shows what can be counted" },
	{ ERR_FUNCTION, EILSEQ,
	  "the offset in {} is not the start of an instruction" },
	{ ERR_FUNCTION, EADDRNOTAVAIL, "several kernel functions are named {}" },
	{ ERR_FUNCTION, EOPNOTSUPP, "this kernel cannot probe functions" },
	{ ERR_COUNTER, ENOENT,
	  "this machine has no counter {} (a guest often has no hardware counters); "
	  "`memtap list perf` shows the available ones: perf:cpu-clock, perf:page-faults ..." },
	{ ERR_COUNTER, EOPNOTSUPP,
	  "this machine has no counter {}, or it cannot interrupt; `memtap list perf` shows "
	  "the available ones: perf:cpu-clock, perf:page-faults ..." },
	{ ERR_COUNTER, EINVAL,
	  "this machine does not support the counter {} with these settings, or the loaded "
	  "module is older than this tool" },
	{ ERR_COUNTER, EBUSY, "another program uses the hardware counters: {} is busy" },
	{ ERR_UPROBE, EINVAL,
	  "the kernel does not allow a probe on {}: it is not an instruction of that file" },
	{ ERR_UPROBE, EOPNOTSUPP,
	  "this kernel cannot probe {} (its file system, its instruction, or a "
	  "USDT semaphore)" },
	{ ERR_UPROBE, ENOEXEC,
	  "this kernel would crash a 32-bit program that hits a probe on {}: it treats it as a "
	  "64-bit program (fixed in Linux 5.3)" },
	{ ERR_UPROBE, EIO,
	  "the kernel cannot probe {}: its file system does not support reading pages" },
	{ ERR_EVENT, E2BIG, "{}: too many events for one session" },
	{ ERR_EVENT, EINVAL,
	  "{} is not an event; see EVENTS in memtap(8), and `memtap list events`" },
	{ ERR_EVENT, ENOENT,
	  "no built-in event {}; `memtap list events` shows them; for the kernel function, "
	  "use k:{}" },
	{ ERR_PID, ESRCH, "no process {}" },
	{ ERR_PID, ENOENT, "no process {}" },
	{ ERR_PID, EACCES, "no permission to inspect process {}; run as root" },
	{ ERR_PID, EPERM, "no permission to inspect process {}; run as root" },
	{ ERR_PID, ECHILD, "process {} has exited" },
	{ ERR_TID, ESRCH, "no thread {}" },
	{ ERR_TID, ENOENT, "no thread {}" },
	{ ERR_EXEC, ENOENT, "no program {}" },
	{ ERR_EXEC, EACCES, "no permission to execute the program {}" },
	{ ERR_EXEC, ENOEXEC, "{} is not a program that this machine can execute" },
	{ ERR_CGROUP, ENOENT, "no cgroup {}" },
	{ ERR_CGROUP, ENOTDIR, "no cgroup {}" },
	{ ERR_CGROUP, EMEDIUMTYPE,
	  "{} is neither in the cgroup v2 hierarchy nor in v1's memory hierarchy" },
	{ ERR_CGROUP, EOPNOTSUPP, "this kernel or this module cannot filter by the cgroup {}" },
	{ ERR_LIBRARY, ENOENT,
	  "no library or program named {} is mapped by the process or found by the "
	  "dynamic linker; specify its path" },
	{ ERR_FILE, ENOEXEC, "{} is not an ELF file of this architecture" },
	{ ERR_FILE, EBADMSG, "{} is a damaged ELF file" },
	{ ERR_SYMBOL, ENOENT, "no function {}; `memtap list FILE` shows all" },
	{ ERR_SYMBOL, ENODATA,
	  "no function names for {}: the file is stripped; use an offset, FILE+0xOFFSET" },
	{ ERR_SYMBOL, ENOTSUP,
	  "{} is an indirect function (IFUNC): a probe would only fire in its resolver; "
	  "use the implementation that `memtap list FILE PATTERN` shows" },
	{ ERR_SYMBOL, ERANGE, "{} is outside the code of the file" },
	{ ERR_USDT, ENOENT,
	  "no USDT probe {}; `memtap list FILE` shows the available ones" },
	{ ERR_TRACEFS, ENOENT,
	  "tracefs is not mounted ({}); run mount -t tracefs none "
	  "/sys/kernel/tracing" },
	{ ERR_TRACEFS, EACCES, "no permission to read {}; run as root" },
	{ ERR_LOAD, ENOENT,
	  "the module is not built for this kernel ({}); install the kernel's "
	  "headers, then run `make install` or `dkms autoinstall`" },
	{ ERR_LOAD, EEXIST, "the module is already loaded" },
	{ ERR_LOAD, ENOEXEC,
	  "{} is not a module for this kernel; build it against the headers of the "
	  "running kernel" },
	{ ERR_LOAD, EINVAL,
	  "the kernel rejected the module or a parameter ({}); build it against the "
	  "headers of the running kernel, and see the kernel log (dmesg)" },
	{ ERR_LOAD, ENOKEY, UNSIGNED },
	{ ERR_LOAD, EKEYREJECTED, UNSIGNED },
	{ ERR_LOAD, ENOPKG,
	  "this kernel does not support the module's signature format; sign the module with the "
	  "kernel's own scripts/sign-file and an enrolled key (mokutil --import)" },
	{ ERR_LOAD, EKEYEXPIRED,
	  "the key that signed the module has expired; sign it again" },
	{ ERR_LOAD, EPERM,
	  "not permitted to load modules; run as root, outside of a container, with "
	  "kernel.modules_disabled = 0; if the kernel is locked down, the kernel log (dmesg) "
	  "says so" },
	{ ERR_LOAD, EACCES, "not permitted to load modules; run as root" },
	{ ERR_LOCKDOWN, 0,
	  "the kernel is locked down ({}) and loads only modules signed with a trusted key; "
	  "sign this one with an enrolled key (mokutil --import)" },
	{ ERR_UNLOAD, ENOENT, "the module is not loaded" },
	{ ERR_UNLOAD, EPERM, "not permitted to unload modules; run as root" },
	{ ERR_UNLOAD, EACCES, "not permitted to unload modules; run as root" },
	{ ERR_UNLOAD, EWOULDBLOCK,
	  "the module is in use: {}; end the sessions that `memtap status` lists" },
	{ ERR_UNLOAD, EBUSY,
	  "the module is in use: {}; end the sessions that `memtap status` lists" },
	{ ERR_KPROBES, 0,
	  "kprobes are turned off in {}: brk, mmap and k: events count nothing; echo 1 > {}" },
};

int err_quiet;

static const char *find_words(enum err_op op, int err)
{
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
		if (sentences[i].op == op &&
		    (!sentences[i].err || sentences[i].err == err))
			return sentences[i].words;
	return NULL;
}

/* Only ERR_HOOK, ERR_LOCKDOWN and ERR_KPROBES have one sentence for all errnos. */
static void expand(const char *words, const char *subject, char *buf,
		   unsigned long len)
{
	unsigned long n = 0;

	while (*words && n + 1 < len) {
		if (words[0] == '{' && words[1] == '}') {
			n += (unsigned long)snprintf(buf + n, len - n, "%s", subject);
			if (n >= len)
				n = len - 1;
			words += 2;
		} else {
			buf[n++] = *words++;
		}
	}
	buf[n] = '\0';
}

const char *err_words(enum err_op op, int err, const char *subject, char *buf,
		      unsigned long len)
{
	const char *words;

	err = abs(err);
	words = find_words(op, err);
	if (words)
		expand(words, subject, buf, len);
	else
		snprintf(buf, len, "%s: %s", subject, strerror(err));
	return buf;
}

static void put_line(FILE *to, const char *text, const char *tail)
{
	fputs("memtap: ", to);
	text_put(to, text, NULL);
	fputs(tail, to);
}

/*
 * Write one line with one call, because other programs write to the same terminal.  Names in it
 * may come from untrusted processes and files, and may have terminal control bytes.
 */
static void say(const char *tail, const char *text, va_list ap)
{
	char *line, *whole = NULL;
	size_t len;
	FILE *f = open_memstream(&whole, &len);

	if (vasprintf(&line, text, ap) < 0)
		line = NULL;
	if (f)
		put_line(f, line ? line : text, tail);
	if (f && !fclose(f))
		fwrite(whole, 1, len, stderr);
	else	/* no memory for one buffer: write in parts */
		put_line(stderr, line ? line : text, tail);
	free(line);
	free(whole);
}

static void print_plain(const char *text, ...)
{
	va_list ap;

	va_start(ap, text);
	say("\n", text, ap);
	va_end(ap);
}

int fail(enum err_op op, int err, const char *subject, ...)
{
	char *sub, *buf;
	va_list ap;
	size_t room;

	va_start(ap, subject);
	if (vasprintf(&sub, subject, ap) < 0)
		sub = NULL;
	va_end(ap);
	/* a sentence has {} at most twice */
	room = 1024 + 2 * strlen(sub ? sub : "");
	buf = sub ? malloc(room) : NULL;
	print_plain("%s", buf ? err_words(op, err, sub, buf, room) : strerror(abs(err)));
	free(buf);
	free(sub);
	return EXIT_FAILURE;
}

int fail_text(const char *text, ...)
{
	va_list ap;

	va_start(ap, text);
	say("\n", text, ap);
	va_end(ap);
	return EXIT_FAILURE;
}

int usage_error(const char *cmd, const char *text, ...)
{
	char tail[64];
	va_list ap;

	snprintf(tail, sizeof(tail), "; see `memtap %s%s`\n", cmd ? cmd : "help",
		 cmd ? " --help" : "");
	va_start(ap, text);
	say(tail, text, ap);
	va_end(ap);
	return EXIT_USAGE;
}

void note(const char *text, ...)
{
	va_list ap;

	if (err_quiet)
		return;
	va_start(ap, text);
	say("\n", text, ap);
	va_end(ap);
}
