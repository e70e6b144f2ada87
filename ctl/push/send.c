// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Send a message by libcurl.  It is loaded only when needed: it pulls in OpenSSL and a dozen other
 * libraries, which would cost each command its start.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "push/send.h"

#ifdef WITH_CURL
#include <curl/curl.h>

#define ANSWER		160		/* bytes of it that are kept, */
#define ANSWER_MOST	(1 << 20)	/* and that are read */
#define CONNECT_S	10L

static struct {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_easy_reset) *easy_reset;
	__typeof__(curl_easy_setopt) *setopt;
	__typeof__(curl_easy_getinfo) *getinfo;
	__typeof__(curl_easy_perform) *perform;
	__typeof__(curl_easy_escape) *escape;
	__typeof__(curl_free) *free;
	__typeof__(curl_easy_strerror) *strerror;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
	__typeof__(curl_mime_init) *mime_init;
	__typeof__(curl_mime_free) *mime_free;
	__typeof__(curl_mime_addpart) *mime_addpart;
	__typeof__(curl_mime_name) *mime_name;
	__typeof__(curl_mime_filename) *mime_filename;
	__typeof__(curl_mime_data) *mime_data;
} curl;

static const struct library_function functions[] = {
	{ "curl_global_init", &curl.global_init },
	{ "curl_easy_init", &curl.easy_init },
	{ "curl_easy_cleanup", &curl.easy_cleanup },
	{ "curl_easy_reset", &curl.easy_reset },
	{ "curl_easy_setopt", &curl.setopt },
	{ "curl_easy_getinfo", &curl.getinfo },
	{ "curl_easy_perform", &curl.perform },
	{ "curl_easy_escape", &curl.escape },
	{ "curl_free", &curl.free },
	{ "curl_easy_strerror", &curl.strerror },
	{ "curl_slist_append", &curl.slist_append },
	{ "curl_slist_free_all", &curl.slist_free_all },
	{ "curl_mime_init", &curl.mime_init },
	{ "curl_mime_free", &curl.mime_free },
	{ "curl_mime_addpart", &curl.mime_addpart },
	{ "curl_mime_name", &curl.mime_name },
	{ "curl_mime_filename", &curl.mime_filename },
	{ "curl_mime_data", &curl.mime_data },
};

struct sender {
	const struct send_opts *o;
	CURL *easy;
	char error[CURL_ERROR_SIZE];
	char answer[ANSWER + 1];	/* the beginning of what came back */
	size_t answer_len, answer_all;
	const bool *stop;
};

static bool load_functions(void)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", NULL };

	return library_load(names, functions, sizeof(functions) / sizeof(functions[0])) &&
	       !curl.global_init(CURL_GLOBAL_DEFAULT);
}

const char *send_missing(void)
{
	static int here;	/* < 0: it is not */

	if (!here)
		here = load_functions() ? 1 : -1;
	return here > 0 ? NULL : "libcurl 7.56 or newer is not installed (Debian: libcurl4; RHEL: "
				 "libcurl)";
}

struct sender *send_new(const struct send_opts *o)
{
	struct sender *s = send_missing() ? NULL : calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->o = o;
	s->easy = curl.easy_init();
	if (s->easy)
		return s;
	free(s);
	return NULL;
}

void send_free(struct sender *s)
{
	if (!s)
		return;
	curl.easy_cleanup(s->easy);
	free(s);
}

/* ---- what curl calls ---- */

static size_t on_answer(char *bytes, size_t one, size_t nr, void *ctx)
{
	struct sender *s = ctx;
	const size_t len = one * nr, room = ANSWER - s->answer_len;

	memcpy(s->answer + s->answer_len, bytes, len < room ? len : room);
	s->answer_len += len < room ? len : room;
	s->answer[s->answer_len] = '\0';
	s->answer_all += len;
	/* it says enough: this ends the attempt */
	return s->answer_all > ANSWER_MOST ? 0 : len;
}

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)a, (void)b, (void)c, (void)d;
	return __atomic_load_n(((const struct sender *)ctx)->stop, __ATOMIC_RELAXED);
}

/* ---- one message ---- */

/* Pyroscope has all but the profile in the URL; NULL: no memory. */
static char *url_of(struct sender *s, const struct spool_message *m, bool pyroscope)
{
	char *name, *url = NULL;

	if (!pyroscope)
		return strdup(s->o->url);
	name = curl.escape(s->easy, m->name, 0);
	if (name && asprintf(&url, "%s%cname=%s&from=%llu&until=%llu&spyName=memtap", s->o->url,
			     strchr(s->o->url, '?') ? '&' : '?', name,
			     (unsigned long long)m->from_s, (unsigned long long)m->until_s) < 0)
		url = NULL;
	curl.free(name);
	return url;
}

static bool add_part(curl_mime *form, const char *name, const char *file, const void *bytes,
		     size_t len)
{
	curl_mimepart *part = curl.mime_addpart(form);

	return part && !curl.mime_name(part, name) && !curl.mime_filename(part, file) &&
	       !curl.mime_data(part, bytes, len);
}

/* As Pyroscope's own agents do it: the profile, and what its numbers are. */
static curl_mime *form_of(struct sender *s, const struct spool_message *m)
{
	curl_mime *form = curl.mime_init(s->easy);

	if (form && add_part(form, "profile", "profile.pprof", m->body, m->len) &&
	    add_part(form, "sample_type_config", "sample_type_config.json", m->types,
		     strlen(m->types)))
		return form;
	curl.mime_free(form);
	return NULL;
}

static void set_credentials(struct sender *s, const char *line)
{
	if (!strncmp(line, "Bearer ", 7)) {
		curl.setopt(s->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
		curl.setopt(s->easy, CURLOPT_XOAUTH2_BEARER, line + 7);
	} else {
		curl.setopt(s->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl.setopt(s->easy, CURLOPT_USERPWD, line);
	}
}

static void set_transfer(struct sender *s, const char *url)
{
	CURL *e = s->easy;

	curl.setopt(e, CURLOPT_URL, url);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl.setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl.setopt(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	curl.setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl.setopt(e, CURLOPT_ERRORBUFFER, s->error);
	curl.setopt(e, CURLOPT_USERAGENT, s->o->agent);
	curl.setopt(e, CURLOPT_TIMEOUT, (long)s->o->seconds);
	curl.setopt(e, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl.setopt(e, CURLOPT_WRITEFUNCTION, on_answer);
	curl.setopt(e, CURLOPT_WRITEDATA, s);
	curl.setopt(e, CURLOPT_NOPROGRESS, 0L);
	curl.setopt(e, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl.setopt(e, CURLOPT_XFERINFODATA, s);
	if (s->o->cacert)
		curl.setopt(e, CURLOPT_CAINFO, s->o->cacert);
}

/* What came back, as far as it is text for people: in one line. */
static void put_answer(struct sender *s, long status, char why[SEND_WHY])
{
	char *p = s->answer;

	p[strcspn(p, "\r\n")] = '\0';
	snprintf(why, SEND_WHY, "HTTP status %ld%s%.*s%s", status, *p ? " (" : "", ANSWER, p,
		 *p ? ")" : "");
}

static void get_result(struct sender *s, CURLcode err, struct send_result *r)
{
#if LIBCURL_VERSION_NUM >= 0x074200
	curl_off_t retry = 0;
#endif
#if LIBCURL_VERSION_NUM >= 0x073700
	curl_off_t up = 0;

	if (!curl.getinfo(s->easy, CURLINFO_SIZE_UPLOAD_T, &up) && up > 0)
		r->bytes = (__u64)up;
#endif
	if (err) {
		snprintf(r->why, sizeof(r->why), "%.200s", *s->error ? s->error :
			 curl.strerror(err));
		return;
	}
	curl.getinfo(s->easy, CURLINFO_RESPONSE_CODE, &r->status);
	r->what = send_status(r->status);
	if (r->what != SEND_TAKEN)
		put_answer(s, r->status, r->why);
#if LIBCURL_VERSION_NUM >= 0x074200
	if (!curl.getinfo(s->easy, CURLINFO_RETRY_AFTER, &retry) && retry > 0)
		r->retry_s = (__u64)retry;
#endif
}

static void perform(struct sender *s, const struct spool_message *m, const char *line,
		    struct send_result *r)
{
	const bool pyroscope = send_is_pyroscope(s->o->url);
	char *url = url_of(s, m, pyroscope);
	curl_mime *form = pyroscope ? form_of(s, m) : NULL;
	struct curl_slist *heads = curl.slist_append(NULL, "Expect:");

	if (heads && !pyroscope)
		curl.slist_append(heads, "Content-Type: application/octet-stream");
	if (url && heads && (form || !pyroscope)) {
		set_transfer(s, url);
		curl.setopt(s->easy, CURLOPT_HTTPHEADER, heads);
		if (*line)
			set_credentials(s, line);
		if (pyroscope) {
			curl.setopt(s->easy, CURLOPT_MIMEPOST, form);
		} else {
			curl.setopt(s->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)m->len);
			curl.setopt(s->easy, CURLOPT_POSTFIELDS, m->body);
		}
		get_result(s, curl.perform(s->easy), r);
	} else {
		snprintf(r->why, sizeof(r->why), "not enough memory");
	}
	/* the connection stays for the next one */
	curl.easy_reset(s->easy);
	curl.mime_free(form);
	curl.slist_free_all(heads);
	free(url);
}

void send_message(struct sender *s, const struct spool_message *m, const bool *stop,
		  struct send_result *r)
{
	char line[SEND_LINE] = "";

	*r = (struct send_result){ .what = SEND_LATER };
	s->error[0] = s->answer[0] = '\0';
	s->answer_len = s->answer_all = 0;
	s->stop = stop;
	/* each time: they may have been changed */
	if (s->o->credentials && send_read_credentials(s->o->credentials, line, r->why))
		return;
	perform(s, m, line, r);
	explicit_bzero(line, sizeof(line));
}
#else
struct sender *send_new(const struct send_opts *o)
{
	(void)o;
	return NULL;
}

void send_free(struct sender *s)
{
	(void)s;
}

void send_message(struct sender *s, const struct spool_message *m, const bool *stop,
		  struct send_result *r)
{
	(void)s, (void)m, (void)stop;
	*r = (struct send_result){ .what = SEND_LATER };
}

const char *send_missing(void)
{
	return "this memtap was built without libcurl";
}
#endif
