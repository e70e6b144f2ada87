// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

#define OTHER_VERSION \
	"the loaded module is of another version than this tool; " \
	"install both from one tree, then `memtap unload` and `memtap load`"
/* the kernel's errno is the same without a signature, and with one of an unknown key */
#define UNSIGNED \
	"the kernel takes only modules signed with a key that it knows; sign this one " \
	"with an enrolled key (mokutil --import), as DKMS does, or switch Secure Boot off"
#define NO_RIGHT \
	"not permitted; run as root (CAP_SYS_ADMIN or CAP_PERFMON)"

/* {} stands for the subject.  The first line that fits is taken. */
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
	  "this kernel or this module cannot filter or count that way" },
	{ ERR_CONFIGURE, ESRCH, "a process of the filter does not exist (any more)" },
	{ ERR_CONFIGURE, EDQUOT,
	  "the tables would take more than the module allows ({}); ask for less "
	  "with --max-mem, or raise /sys/module/memtap/parameters/max_mem" },
	{ ERR_CONFIGURE, EINVAL, "the module refuses these settings ({})" },
	{ ERR_CONFIGURE, ENOSPC, "too many names, groups or processes for one filter" },
	{ ERR_CONFIGURE, ENOMEM, "the kernel has no memory for the filter" },
	{ ERR_START, ENOMEM,
	  "the kernel has no memory for the tables ({}); ask for less with --max-mem" },
	{ ERR_START, EDQUOT,
	  "the tables would take more than the module allows ({}); ask for less "
	  "with --max-mem, or raise /sys/module/memtap/parameters/max_mem" },
	{ ERR_START, ESRCH, "a process of the filter has ended meanwhile" },
	{ ERR_HOOK, ENOENT,
	  "this kernel has nothing to hook for {}; `memtap hooks` tells more" },
	{ ERR_HOOK, 0, "the kernel refuses the hook of {}; `memtap hooks` tells more" },
	{ ERR_TRACEPOINT, ENOENT,
	  "there is no tracepoint {}; `memtap list tracepoints` shows all" },
	{ ERR_TRACEPOINT, EOPNOTSUPP,
	  "this kernel does not let a module count the tracepoint {}" },
	{ ERR_TRACEPOINT, EINVAL, "the kernel does not let the tracepoint {} be counted" },
	{ ERR_FUNCTION, ENOENT,
	  "there is no kernel function {}; `memtap list functions` shows those "
	  "that can be probed" },
	{ ERR_FUNCTION, EINVAL, "the kernel does not allow probes on {}" },
	{ ERR_FUNCTION, EPERM,
	  "the kernel is locked down, and lets nobody choose functions for probes ({}); "
	  "`memtap list events` shows what can be counted" },
	{ ERR_FUNCTION, EILSEQ,
	  "the offset in {} is not the beginning of an instruction" },
	{ ERR_FUNCTION, EADDRNOTAVAIL, "there are several kernel functions {}" },
	{ ERR_FUNCTION, EOPNOTSUPP, "this kernel cannot probe functions" },
	{ ERR_COUNTER, ENOENT,
	  "this machine has no counter {} (a guest often has none of the processor's); "
	  "`memtap list perf` shows what is there: perf:cpu-clock, perf:page-faults ..." },
	{ ERR_COUNTER, EOPNOTSUPP,
	  "this machine has no counter {}, or none that can interrupt; `memtap list perf` shows "
	  "what is there: perf:cpu-clock, perf:page-faults ..." },
	{ ERR_COUNTER, EINVAL,
	  "this machine's counters cannot count {} so, or the loaded module is older than this "
	  "tool" },
	{ ERR_COUNTER, EBUSY, "somebody else uses the processors' counters: {} is not to be had" },
	{ ERR_UPROBE, EINVAL,
	  "the kernel does not allow a probe on {}: it is no instruction of that file" },
	{ ERR_UPROBE, EOPNOTSUPP,
	  "this kernel cannot probe {} (its file system, its instruction, or a "
	  "USDT semaphore)" },
	{ ERR_UPROBE, ENOEXEC,
	  "this kernel would crash a 32-bit program that hits a probe on {}: it takes it for a "
	  "64-bit one (repaired in Linux 5.3)" },
	{ ERR_UPROBE, EIO,
	  "the kernel cannot probe {}: its file system does not let it read pages" },
	{ ERR_EVENT, E2BIG, "{}: too many events for one session; ask for fewer" },
	{ ERR_EVENT, EINVAL,
	  "{} is not an event; see EVENTS in memtap(8), and `memtap list events`" },
	{ ERR_EVENT, ENOENT,
	  "there is no built-in event {}; `memtap list events` shows them, k:{} "
	  "would be the kernel function" },
	{ ERR_PID, ESRCH, "there is no process {}" },
	{ ERR_PID, ENOENT, "there is no process {}" },
	{ ERR_PID, EACCES, "process {} may not be looked at; run as root" },
	{ ERR_PID, EPERM, "process {} may not be looked at; run as root" },
	{ ERR_PID, ECHILD, "process {} has ended meanwhile" },
	{ ERR_TID, ESRCH, "there is no thread {}" },
	{ ERR_TID, ENOENT, "there is no thread {}" },
	{ ERR_EXEC, ENOENT, "there is no program {}" },
	{ ERR_EXEC, EACCES, "the program {} may not be executed" },
	{ ERR_EXEC, ENOEXEC, "{} is not a program that this machine can execute" },
	{ ERR_CGROUP, ENOENT, "there is no cgroup {}" },
	{ ERR_CGROUP, ENOTDIR, "there is no cgroup {}" },
	{ ERR_CGROUP, EMEDIUMTYPE,
	  "{} is neither in the cgroup v2 hierarchy nor in v1's memory hierarchy" },
	{ ERR_CGROUP, EOPNOTSUPP, "this kernel or module cannot filter by the cgroup {}" },
	{ ERR_LIBRARY, ENOENT,
	  "no library or program named {} is mapped by the process or known to the "
	  "dynamic linker; give its path" },
	{ ERR_FILE, ENOEXEC, "{} is not an ELF file of this machine's kind" },
	{ ERR_FILE, EBADMSG, "{} is a damaged ELF file" },
	{ ERR_SYMBOL, ENOENT, "there is no function {}; `memtap list FILE` shows all" },
	{ ERR_SYMBOL, ENODATA,
	  "no function names for {}: the file is stripped; give an offset, FILE+0xOFFSET" },
	{ ERR_SYMBOL, ENOTSUP,
	  "{} is an indirect function (IFUNC): a probe would only see its resolver; "
	  "name the implementation that `memtap list FILE PATTERN` shows" },
	{ ERR_SYMBOL, ERANGE, "{} is not in the file's program" },
	{ ERR_USDT, ENOENT,
	  "there is no USDT probe {}; `memtap list FILE` shows those there are" },
	{ ERR_TRACEFS, ENOENT,
	  "tracefs is not there ({}); mount it: mount -t tracefs none "
	  "/sys/kernel/tracing" },
	{ ERR_TRACEFS, EACCES, "{} may not be read; run as root" },
	{ ERR_LOAD, ENOENT,
	  "the module is not built for this kernel ({}); install the kernel's "
	  "headers, then run `make install` or `dkms autoinstall`" },
	{ ERR_LOAD, EEXIST, "the module is loaded already" },
	{ ERR_LOAD, ENOEXEC,
	  "{} is not a module for this kernel; build it against the headers of the "
	  "kernel that runs" },
	{ ERR_LOAD, EINVAL,
	  "the kernel refuses the module or a parameter ({}); build it against the "
	  "headers of the kernel that runs, and see the kernel log (dmesg)" },
	{ ERR_LOAD, ENOKEY, UNSIGNED },
	{ ERR_LOAD, EKEYREJECTED, UNSIGNED },
	{ ERR_LOAD, ENOPKG,
	  "the module is signed in a way that this kernel does not know; it takes modules signed "
	  "with a key that it knows (mokutil --import) by its own scripts/sign-file" },
	{ ERR_LOAD, EKEYEXPIRED,
	  "the key that signed the module has expired; sign it again" },
	{ ERR_LOAD, EPERM,
	  "not permitted to load modules; run as root, outside of a container, with "
	  "kernel.modules_disabled = 0; the kernel log (dmesg) says so if the kernel is "
	  "locked down" },
	{ ERR_LOAD, EACCES, "not permitted to load modules; run as root" },
	{ ERR_LOCKDOWN, 0,
	  "the kernel is locked down ({}) and refuses a module that is not signed "
	  "by a key it trusts; sign it with an enrolled key (mokutil --import)" },
	{ ERR_UNLOAD, ENOENT, "the module is not loaded" },
	{ ERR_UNLOAD, EPERM, "not permitted to unload modules; run as root" },
	{ ERR_UNLOAD, EACCES, "not permitted to unload modules; run as root" },
	{ ERR_UNLOAD, EWOULDBLOCK,
	  "the module is in use: {}; end them first (`memtap status`)" },
	{ ERR_UNLOAD, EBUSY,
	  "the module is in use: {}; end them first (`memtap status`)" },
	{ ERR_KPROBES, 0,
	  "switched off in {}: brk, mmap and k: events count nothing; echo 1 > {}" },
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
 * One line, by one call: others write to the same terminal.  Names in it are of others,
 * too, who may have put into them what a terminal obeys; of @text, only they can have such.
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
	else	/* there is no memory: in pieces */
		put_line(stderr, line ? line : text, tail);
	free(line);
	free(whole);
}

static void say_plain(const char *text, ...)
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
	/* a sentence has its subject twice at most */
	room = 1024 + 2 * strlen(sub ? sub : "");
	buf = sub ? malloc(room) : NULL;
	say_plain("%s", buf ? err_words(op, err, sub, buf, room) : strerror(abs(err)));
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
