/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ERR_H
#define _ERR_H

/*
 * The only place that turns an errno into words.  Everything below the
 * commands returns a negative errno and prints nothing.  What is printed is a line of
 * text: control characters of names, line ends too, become '?'.
 */
enum err_op {
	ERR_PLAIN,		/* the subject and strerror() */
	ERR_DEVICE,		/* opening it */
	ERR_INFO,
	ERR_CONFIGURE,
	ERR_START,
	ERR_HOOK,		/* a built-in event that could not be hooked */
	ERR_READ,
	ERR_TRACEPOINT,
	ERR_FUNCTION,
	ERR_UPROBE,
	ERR_COUNTER,		/* of perf */
	ERR_EVENT,		/* text that is no event */
	ERR_PID,
	ERR_TID,
	ERR_EXEC,
	ERR_CGROUP,
	ERR_LIBRARY,
	ERR_FILE,		/* an ELF file */
	ERR_SYMBOL,
	ERR_USDT,
	ERR_TRACEFS,
	ERR_WRITE,
	ERR_LOAD,
	ERR_LOCKDOWN,
	ERR_UNLOAD,
	ERR_KPROBES,		/* switched off in the file that is the subject */
};

#define EXIT_USAGE	2

/*
 * Print one sentence about @err, a negative or positive errno, and its subject,
 * and what to do about it.  Returns the exit status 1.
 */
int fail(enum err_op op, int err, const char *subject, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for a sentence that is there already. */
int fail_text(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* A wrong command line; returns EXIT_USAGE.  @cmd may be NULL. */
int usage_error(const char *cmd, const char *text, ...)
	__attribute__((format(printf, 2, 3)));

/* A line for the user, unless told to be quiet. */
void note(const char *text, ...) __attribute__((format(printf, 1, 2)));
extern int err_quiet;

/*
 * The words alone, for tests and for messages in several parts.  Returns @buf.
 */
const char *err_words(enum err_op op, int err, const char *subject, char *buf,
		      unsigned long len);

#endif
