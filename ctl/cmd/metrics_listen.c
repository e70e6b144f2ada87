// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `memtap metrics --listen`: answer GET and HEAD of /metrics, by libmicrohttpd.  The library is
 * loaded only when needed: it pulls in GnuTLS, which costs more start-up time than all other
 * libraries.  One thread of the library answers one request after the other.
 */
#include <errno.h>

#include "base/err.h"
#include "base/library.h"
#include "cmd/metrics_listen.h"

#if defined(WITH_MICROHTTPD) && !defined(MEMTAP_STATIC)
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/metrics_address.h"
#include "cmd/metrics_sample.h"
#include "cmd/until.h"

#define SAMPLE_NS	1000000000ULL	/* a request this soon after another gets the same sample */
#define CONNECTIONS	16u		/* at once */
#define TIMEOUT_S	10u		/* without a byte */
#define MEMORY		(16u << 10)	/* of a connection: what of a request is read */

#if MHD_VERSION < 0x00097002
typedef int mhd_result;
#else
typedef enum MHD_Result mhd_result;
#endif

static struct {
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
	__typeof__(MHD_lookup_connection_value) *lookup;
	__typeof__(MHD_create_response_from_buffer) *create;
	__typeof__(MHD_add_response_header) *add_header;
	__typeof__(MHD_queue_response) *queue;
	__typeof__(MHD_destroy_response) *destroy;
} mhd;

static const struct library_function functions[] = {
	{ "MHD_start_daemon", &mhd.start_daemon },
	{ "MHD_stop_daemon", &mhd.stop_daemon },
	{ "MHD_lookup_connection_value", &mhd.lookup },
	{ "MHD_create_response_from_buffer", &mhd.create },
	{ "MHD_add_response_header", &mhd.add_header },
	{ "MHD_queue_response", &mhd.queue },
	{ "MHD_destroy_response", &mhd.destroy },
};

static bool load_functions(void)
{
	static const char *const names[] = { "libmicrohttpd.so.12", NULL };

	return library_load(names, functions, sizeof(functions) / sizeof(functions[0]));
}

/* --- answers ------------------------------------------------------------------------- */

enum form { PLAIN, OPENMETRICS, NR_FORMS };

struct server {
	struct metrics_sample sample;
	bool taken;			/* there is one */
	char *page[NR_FORMS];		/* of the sample; NULL: not made yet */
	size_t len[NR_FORMS];
};

static void drop_pages(struct server *s)
{
	for (int i = 0; i < NR_FORMS; i++) {
		free(s->page[i]);
		s->page[i] = NULL;
	}
}

/* A page of a sample that is not older than SAMPLE_NS; false: there is none. */
static bool make_page(struct server *s, enum form form)
{
	bool made;
	FILE *f;

	if (!s->taken || clock_ns() - s->sample.began_ns >= SAMPLE_NS) {
		drop_pages(s);
		s->taken = !metrics_sample_take(&s->sample);
	}
	if (!s->taken)
		return false;
	if (s->page[form])
		return true;
	f = open_memstream(&s->page[form], &s->len[form]);
	if (!f)
		return false;
	made = metrics_sample_write(&s->sample, f, form == OPENMETRICS);
	made = !fclose(f) && made;
	if (!made)
		drop_pages(s);
	return made;
}

static mhd_result answer(struct MHD_Connection *c, unsigned int status, const char *type,
			 const char *text, size_t len)
{
	struct MHD_Response *r = mhd.create(len, (void *)text, MHD_RESPMEM_MUST_COPY);
	mhd_result ret;

	if (!r)
		return MHD_NO;
	mhd.add_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	mhd.add_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		mhd.add_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	ret = mhd.queue(c, status, r);
	mhd.destroy(r);
	return ret;
}

static mhd_result refuse(struct MHD_Connection *c, unsigned int status, const char *text)
{
	return answer(c, status, "text/plain; charset=utf-8", text, strlen(text));
}

static mhd_result on_request(void *ctx, struct MHD_Connection *c, const char *url,
			     const char *method, const char *version, const char *upload,
			     size_t *upload_len, void **request)
{
	static const char *const types[NR_FORMS] = {
		[PLAIN] = "text/plain; version=0.0.4; charset=utf-8",
		[OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	};
	struct server *s = ctx;
	const char *accept;
	enum form form;

	(void)version, (void)upload;
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET /metrics is all there is\n");
	/* the first call is about the headers alone */
	if (!*request) {
		*request = s;
		return MHD_YES;
	}
	if (*upload_len) {
		*upload_len = 0;
		return MHD_YES;
	}
	if (strcmp(url, "/metrics"))
		return refuse(c, MHD_HTTP_NOT_FOUND, "metrics are at /metrics\n");
	accept = mhd.lookup(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	form = accept && strcasestr(accept, "application/openmetrics-text") ? OPENMETRICS : PLAIN;
	if (!make_page(s, form))
		return refuse(c, MHD_HTTP_INTERNAL_SERVER_ERROR,
			      "/proc could not be read, or there is no memory\n");
	return answer(c, MHD_HTTP_OK, types[form], s->page[form], s->len[form]);
}

/* --- the socket ---------------------------------------------------------------------- */

/* A socket of a memtap that is no more is in the way, and nothing else is removed. */
static int clear_path(const struct metrics_address *a)
{
	struct stat st;
	int fd, err;

	if (lstat(a->path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = connect(fd, (const struct sockaddr *)&a->at, a->len) ? errno : 0;
	close(fd);
	if (err != ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(a->path) ? -errno : 0;
}

/* A descriptor, or -errno. */
static int listen_at(const struct metrics_address *a)
{
	const int on = 1;
	int fd, err = a->path ? clear_path(a) : 0;
	mode_t mask;

	if (err)
		return err;
	fd = socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!a->path)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	mask = umask(0117);		/* the group may connect, others may not */
	err = bind(fd, (const struct sockaddr *)&a->at, a->len) ? -errno : 0;
	umask(mask);
	if (!err && listen(fd, CONNECTIONS)) {
		err = -errno;
		if (a->path)
			unlink(a->path);
	}
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* --- the command --------------------------------------------------------------------- */

static int serve(const struct opts *o, int fd)
{
	struct server s = { .taken = false };
	struct MHD_Daemon *d;
	struct until u;

	/* before there is another thread: signals are for this one */
	until_begin(&u, 0);
	metrics_sample_init(&s.sample, o);
	d = mhd.start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL,
			     on_request, &s, MHD_OPTION_LISTEN_SOCKET, fd,
			     MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
			     MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
			     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_END);
	if (!d) {
		close(fd);
	} else {
		note("listening on %s", o->listen);
		while (until_wait(&u, -1, 0))
			;
		mhd.stop_daemon(d);
	}
	drop_pages(&s);
	metrics_sample_free(&s.sample);
	return d ? 0 : fail_text("libmicrohttpd cannot begin");
}

static int check_path(const char *cmd, const struct metrics_address *a)
{
	char *dir = a->path ? strdup(a->path) : NULL;
	int ret = 0;

	if (dir) {
		char *slash = strrchr(dir, '/');

		slash[slash == dir] = '\0';
		ret = metrics_check_dir(cmd, "listen", dir);
	}
	free(dir);
	return ret;
}

int metrics_listen(const char *cmd, const struct opts *o)
{
	struct metrics_address a;
	char why[METRICS_WHY];
	int fd, ret;

	if (!metrics_address(o->listen, &a, why))
		return usage_error(cmd, "--listen %s: %s", o->listen, why);
	ret = check_path(cmd, &a);
	if (ret)
		return ret;
	if (!load_functions())
		return fail_text("--listen needs libmicrohttpd.so.12, which is not installed "
				 "(Debian: libmicrohttpd12; RHEL: libmicrohttpd)");
	fd = listen_at(&a);
	if (fd < 0)
		return fail(ERR_PLAIN, fd, "--listen %s", o->listen);
	ret = serve(o, fd);
	if (a.path)
		unlink(a.path);
	return ret;
}
#else
int metrics_listen(const char *cmd __attribute__((unused)),
		   const struct opts *o __attribute__((unused)))
{
	return fail_text("this memtap was built without libmicrohttpd: install its headers and "
			 "build it again; --textfile needs no library");
}
#endif
