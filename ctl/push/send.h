/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PUSH_SEND_H
#define _PUSH_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "push/spool.h"

/*
 * One message by HTTP, by libcurl, which is loaded when the first sender is made.  Certificates
 * are checked, redirects are not followed, and each attempt ends after .seconds.
 */
struct send_opts {
	const char *url;
	const char *cacert;		/* a file of certificates, or NULL: the system's */
	const char *credentials;	/* a file, or NULL */
	const char *agent;		/* "memtap/VERSION" */
	unsigned int seconds;		/* that an attempt may take */
};

#define SEND_WHY	256

/*
 * TAKEN: the receiver has it.  REFUSED: it will never take this message (400, 413, ...).  LATER:
 * it may take it later: it could not be reached, is overloaded, or will have no credentials but
 * other ones.
 */
enum send_what { SEND_TAKEN, SEND_REFUSED, SEND_LATER };

struct send_result {
	enum send_what what;
	long status;			/* HTTP; 0: there was no answer */
	__u64 retry_s;			/* Retry-After; 0: not said */
	__u64 bytes;			/* that were sent */
	char why[SEND_WHY];		/* unless TAKEN: a part of a sentence */
};

struct sender;

/* Is this a URL that can be used?  False, and a sentence: it is not. */
bool send_check_url(const char *url, char why[SEND_WHY]);
/* Is it Pyroscope's interface for profiles: does its path end with "/ingest"? */
bool send_is_pyroscope(const char *url);
/*
 * Credentials: one line, "user:password" or "Bearer TOKEN".  A file that others can read, or that
 * has no such line, is none: -EINVAL and a sentence.  @line has room for SEND_LINE bytes.
 */
#define SEND_LINE	4096
int send_read_credentials(const char *path, char *line, char why[SEND_WHY]);

/* Why there can be no sender here, as a sentence; NULL: there can. */
const char *send_missing(void);
/* @o must live as long.  NULL: no memory. */
struct sender *send_new(const struct send_opts *o);
void send_free(struct sender *s);
/* Another thread may set *@stop, which ends the attempt. */
void send_message(struct sender *s, const struct spool_message *m, const bool *stop,
		  struct send_result *r);

/* For tests: which results an HTTP status is. */
enum send_what send_status(long status);

#endif
