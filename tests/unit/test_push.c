// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/push/pace.c ctl/push/spool.c ctl/push/label.c ctl/push/send_check.c ctl/push/push.c */
/* LINK: ctl/base/text.c ctl/machine/container.c ctl/machine/text.c ctl/base/json_read.c -lz */
/* VARIANTS: asan tsan */
/* What waits for a receiver: when it is sent, what is kept and dropped, and what it is called. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "push/label.h"
#include "push/push.h"
#include "tap.h"

static char root[] = "/tmp/test_push.XXXXXX";

/* ---- pace ---- */

static void test_phase(void)
{
	struct pace a, b;

	pace_init(&a, 60 * PACE_SECOND, 0, 1000, 0);
	pace_init(&b, 60 * PACE_SECOND, 0, 1000, 0.5);
	is(pace_next(&a, 5000), 5000, "the first sender of an interval sends at once");
	is(pace_next(&b, 5000), 5000 + 30 * PACE_SECOND, "another one half an interval later");
	is(pace_next(&b, 5000 + 60 * PACE_SECOND), 5000 + 90 * PACE_SECOND,
	   "and so in each interval");
	is(pace_next(&b, 0), 1000 + 30 * PACE_SECOND, "what is left of an earlier run, too");
}

/* What waits in the mean, in the limit, and that some wait less. */
static void test_backoff(void)
{
	unsigned short state[3] = { 1, 2, 3 };
	__u64 most = 0, least = ~0ULL, last;
	struct pace p;

	pace_init(&p, PACE_MINUTE, 0, 0, 0);
	for (int i = 0; i < 3; i++) {
		last = p.not_before_ns;
		pace_failed(&p, last, 0, 0.999999);
		ok(p.not_before_ns - last <= PACE_FIRST << i &&
		   p.not_before_ns - last > (PACE_FIRST << i) / 10 * 9,
		   "failure %d: up to %llu s", i + 1, (PACE_FIRST << i) / PACE_SECOND);
	}
	for (int i = 0; i < 1000; i++) {
		const __u64 now = p.not_before_ns;

		pace_failed(&p, now, 0, erand48(state));
		if (i > 10 && p.not_before_ns - now > most)
			most = p.not_before_ns - now;
		if (i > 10 && p.not_before_ns - now < least)
			least = p.not_before_ns - now;
	}
	ok(most <= PACE_MOST && most > PACE_MOST / 10 * 9, "no wait is longer than %llu s",
	   PACE_MOST / PACE_SECOND);
	ok(least >= PACE_LEAST && least < PACE_MOST / 10, "and some are much shorter");
	pace_answered(&p);
	is(p.failures, 0, "an answer begins anew");
}

static void test_retry_after(void)
{
	struct pace p;

	pace_init(&p, PACE_MINUTE, 0, 0, 0);
	pace_failed(&p, PACE_SECOND, 120, 0);
	is(p.not_before_ns, 121 * PACE_SECOND, "Retry-After is kept to");
	pace_init(&p, PACE_MINUTE, 0, 0, 0);
	pace_failed(&p, PACE_SECOND, 120, 0.5);
	is(p.not_before_ns, 151 * PACE_SECOND, "and those that were told the same are spread");
	pace_failed(&p, PACE_SECOND, 1ULL << 60, 0);
	is(p.not_before_ns, PACE_SECOND + PACE_RETRY_MOST, "for an hour at most");
}

static void test_rate(void)
{
	__u64 now = 0, bytes = 0, most = 0;
	__u64 at[4096], size[4096];
	unsigned short state[3] = { 4, 5, 6 };
	struct pace p;
	int first = 0;

	pace_init(&p, PACE_MINUTE, 100000, 0, 0);
	for (int i = 0; i < 4096; i++) {
		now = pace_next(&p, 0) > now ? pace_next(&p, 0) : now;
		at[i] = now;
		size[i] = 1 + (__u64)(erand48(state) * 20000);
		pace_spent(&p, now, size[i]);
		bytes += size[i];
		while (at[first] + PACE_MINUTE <= now)
			bytes -= size[first++];
		if (bytes > most)
			most = bytes;
	}
	ok(most <= 120000 && most > 100000, "in no minute there are more than the bytes a minute "
	   "and one message: %llu", most);
	now = at[4095] - at[0];
	bytes = 0;
	for (int i = 0; i < 4095; i++)
		bytes += size[i];
	ok((double)bytes / ((double)now / PACE_MINUTE) < 100001, "and in the long run none at all");
}

static void test_catch_up(void)
{
	struct pace p;

	pace_init(&p, PACE_MINUTE, 1000000, 0, 0);
	for (__u64 i = 1; i <= 20; i++) {
		pace_written(&p, i * PACE_MINUTE, 1500);
		pace_written(&p, i * PACE_MINUTE + PACE_SECOND, 500);
	}
	is(p.usual, 2000, "bytes that come in an interval");
	pace_spent(&p, 100 * PACE_MINUTE, 2000);
	is(p.not_before_ns, 100 * PACE_MINUTE + PACE_MINUTE / 4,
	   "a backlog is sent four times as fast as it comes");
	pace_init(&p, PACE_MINUTE, 4000, 0, 0);
	for (__u64 i = 1; i <= 20; i++)
		pace_written(&p, i * PACE_MINUTE, 2000);
	pace_spent(&p, 100 * PACE_MINUTE, 2000);
	is(p.not_before_ns, 100 * PACE_MINUTE + PACE_MINUTE / 2,
	   "but not faster than the bytes a minute");
}

/* ---- spool ---- */

static struct spool_message message(const char *name, const void *body, size_t len)
{
	return (struct spool_message){ .name = name, .types = "{}", .from_s = 1, .until_s = 2,
				       .body = body, .len = len };
}

static const char *dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static void test_order(void)
{
	struct spool_message m = message("a{}", "first", 5), got;
	char why[SPOOL_WHY];
	struct spool s;

	ok(!spool_open(&s, dir("deep/order"), 1 << 20, why), "a directory is made: %s", why);
	ok(!spool_add(&s, &m, 7), "a message is kept");
	m = message("b{}", "second\0\n", 8);
	ok(!spool_add(&s, &m, 9), "and another one");
	is(spool_first(&s)->written_ns, 7, "the oldest is the first");
	spool_close(&s);
	ok(!spool_open(&s, dir("deep/order"), 1 << 20, why), "it is opened again: %s", why);
	is(s.nr, 2, "both are there");
	is(spool_first(&s)->written_ns, 0, "as those of an earlier run");
	ok(!spool_read(&s, spool_first(&s), &got) && got.len == 5 &&
	   !memcmp(got.body, "first", 5) && !strcmp(got.name, "a{}") &&
	   !strcmp(got.types, "{}") && got.from_s == 1 && got.until_s == 2,
	   "the first has all that it had");
	spool_message_free(&got);
	spool_remove(&s);
	ok(!spool_read(&s, spool_first(&s), &got) && got.len == 8 &&
	   !memcmp(got.body, "second\0\n", 8), "the second, too");
	spool_message_free(&got);
	ok(!spool_add(&s, &m, 0), "a third one");
	ok(spool_first(&s)->number == 2 && s.last == 3, "has the next number");
	spool_remove(&s);
	spool_remove(&s);
	ok(!spool_first(&s) && !s.used, "nothing is left, and nothing used");
	spool_close(&s);
}

/* Bytes on the disk, in blocks; the oldest go, but for the one that is being sent. */
static void test_bound(void)
{
	char body[64000] = "", why[SPOOL_WHY];
	const struct spool_message m = message("a{}", body, 10000);
	const struct spool_message none = message("a", "", 0);
	const struct spool_message large = message("a", body, 70000);
	const struct spool_message nearly = message("a", body, 64000);
	struct spool s;

	ok(!spool_open(&s, dir("bound"), 64 << 10, why), "%s", "a spool of 64 KiB");
	for (int i = 0; i < 5; i++)
		ok(!spool_add(&s, &m, 1), "message %d of 12 KiB", i);
	is(s.used, 5 * 12288, "five are there");
	s.busy = true;
	ok(!spool_add(&s, &m, 1), "a sixth");
	ok(s.dropped == 1 && s.dropped_bytes == 12288 && s.nr == 5, "drops one, which is counted");
	is(spool_first(&s)->number, 1, "not the one that is being sent");
	is(s.at[(s.first + 1) % s.room].number, 3, "but the next");
	spool_remove(&s);
	s.busy = false;
	for (int i = 0; i < 1000; i++)
		spool_add(&s, &none, 1);
	ok(s.used <= 64 << 10 && s.nr == 16, "empty messages take blocks, too: %zu", s.nr);
	is(spool_add(&s, &large, 1), (__u64)-E2BIG, "what is larger than all of it is refused");
	is(s.nr, 16, "and drops nothing");
	s.busy = true;
	is(spool_add(&s, &nearly, 1), (__u64)-EBUSY, "what has no room beside the one being sent");
	is(s.nr, 16, "drops nothing either");
	s.busy = false;
	ok(!spool_add(&s, &nearly, 1), "later there is room");
	is(s.nr, 1, "for it alone");
	for (int i = 0; i < 16; i++)
		spool_add(&s, &none, 1);
	spool_close(&s);
	ok(!spool_open(&s, dir("bound"), 32 << 10, why) && s.used <= 32 << 10 && s.dropped == 8,
	   "a smaller bound drops at the start");
	spool_close(&s);
}

static void write_file(const char *path, const char *text, size_t len)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len || close(fd))
		perror(path);
}

static void test_damage(void)
{
	const struct spool_message m = message("a{}", "0123456789", 10);
	char why[SPOOL_WHY], path[160], bytes[512];
	struct spool_message got;
	struct spool s;
	ssize_t len;
	int fd, bad = 0;

	spool_open(&s, dir("damage"), 1 << 20, why);
	spool_add(&s, &m, 1);
	spool_close(&s);
	snprintf(path, sizeof(path), "%s/0000000000000001.push", dir("damage"));
	fd = open(path, O_RDONLY);
	len = read(fd, bytes, sizeof(bytes));
	close(fd);
	for (ssize_t i = 0; i < len; i++) {
		char copy[512];

		memcpy(copy, bytes, (size_t)len);
		bad += spool_parse(copy, (size_t)i, &got) == -EBADMSG;
		memcpy(copy, bytes, (size_t)len);
		copy[i] ^= 0x10;
		/* (a digit of the times may be another one) */
		if (spool_parse(copy, (size_t)len, &got) == -EBADMSG || got.from_s != 1 ||
		    got.until_s != 2)
			bad++;
	}
	is(bad, 2 * len, "no part of a message, and none with a wrong bit, is one");
	snprintf(path, sizeof(path), "%s/message.new", dir("damage"));
	write_file(path, bytes, (size_t)len / 2);
	snprintf(path, sizeof(path), "%s/notes.txt", dir("damage"));
	write_file(path, "mine", 4);
	spool_open(&s, dir("damage"), 1 << 20, why);
	is(s.nr, 1, "what a killed tool left half is none");
	ok(!access(path, F_OK), "other files stay");
	snprintf(path, sizeof(path), "%s/message.new", dir("damage"));
	ok(access(path, F_OK), "the half is removed");
	spool_close(&s);
}

static void test_refused(void)
{
	char why[SPOOL_WHY];
	struct spool s, other;

	mkdir(dir("open"), 0700);
	chmod(dir("open"), 0777);
	is(spool_open(&s, dir("open"), 1 << 20, why), (__u64)-EINVAL, "others may write: %s", why);
	is(spool_open(&s, "/dev/null", 1 << 20, why), (__u64)-EINVAL, "no directory: %s", why);
	ok(!spool_open(&s, dir("mine"), 1 << 20, why), "one's own");
	is(spool_open(&other, dir("mine"), 1 << 20, why), (__u64)-EBUSY, "twice: %s", why);
	spool_close(&s);
	ok(!spool_open(&s, dir("mine"), 1 << 20, why), "afterwards it is free");
	spool_close(&s);
}

/* ---- labels ---- */

static void is_line(const struct labels *l, const char *want, const char *name)
{
	char line[LABEL_LINE];

	labels_pyroscope(l, line);
	if (!ok(!strcmp(line, want), "%s", name))
		fprintf(stderr, "# '%s'\n# '%s'\n", line, want);
}

static void test_labels(void)
{
	static const char *const bad[] = { "", "x", "=y", "1x=y", "a-b=c", "__name__=x", "a=b,c",
					   "a=b}", "a={", "a=b\nc", "\xc3\xa4=b" };
	static const char *const good[] = { "x=y", "_a9=b c", "team=\xc3\xa4", "host=", "a=b=c" };
	char why[LABEL_WHY], longer[LABEL_VALUE + 20];
	struct labels l = { .nr = 0 };
	struct label one;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!label_parse(bad[i], &one, why) && *why, "no label: %s", why);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		ok(label_parse(good[i], &one, why), "'%s' is one", good[i]);
	memset(longer, 'v', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	longer[1] = '=';
	ok(!label_parse(longer, &one, why), "%s", why);
	is_line(&l, "memtap{}", "without any");
	labels_set(&l, "host", "a,b}{c\n");
	labels_set(&l, "program", " two words ");
	is_line(&l, "two.words{host=a_b__c?,program=two words}", "values are made fit");
	labels_set(&l, "host", "other");
	labels_set(&l, "service", "x@y.service");
	labels_set(&l, "program", "");
	is_line(&l, "x.y.service{host=other,service=x@y.service}", "replaced, removed");
	memset(longer, 'v', sizeof(longer) - 1);
	memcpy(longer + LABEL_VALUE - 2, "\xc3\xa4", 2);
	labels_set(&l, "host", longer);
	is(strlen(labels_get(&l, "host")), LABEL_VALUE - 2, "cut before a character, not in it");
	for (int i = 0; i < 100; i++) {
		snprintf(why, sizeof(why), "n%d", i);
		labels_set(&l, why, longer);
	}
	is(l.nr, LABELS_MAX, "no more than there is room for");
}

static void of_path(const char *path, const char *want)
{
	struct labels l = { .nr = 0 };

	labels_of_cgroup(&l, root, path);
	is_line(&l, want, path);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_paths(void)
{
	of_path("/", "memtap{cgroup=/}");
	of_path("/system.slice/nginx.service",
		"nginx.service{cgroup=/system.slice/nginx.service,service=nginx.service}");
	of_path("/user.slice/user-1.slice/user@1.service/app.slice/run-7.scope",
		"user.1.service{cgroup=/user.slice/user-1.slice/user@1.service/app.slice/"
		"run-7.scope,service=user@1.service}");
	of_path("/user.slice/user-1.slice/session-3.scope",
		"session-3.scope{cgroup=/user.slice/user-1.slice/session-3.scope,"
		"service=session-3.scope}");
	of_path("/system.slice/docker-" ID ".scope", "0123456789ab{cgroup=/system.slice/docker-"
		ID ".scope,container=0123456789ab,service=0123456789ab}");
}

/* ---- URLs, credentials, answers ---- */

static void test_urls(void)
{
	static const char *const bad[] = {
		"", "localhost:4040", "ftp://x/", "http://", "http:///ingest", "http://u:p@x/",
		"http://x:0/", "http://x:65536/", "http://x:a/", "http://x y/", "http://x/a b",
		"http://x/#a", "http://[::1/", "http://x\"y/", "http://x/\xc3\xa4",
	};
	static const char *const good[] = {
		"http://x", "https://x.example:4040/ingest", "http://127.0.0.1:1/",
		"http://[::1]:2/a",
		"http://x/a?b=c", "http://x?b",
	};
	char why[SEND_WHY];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		why[0] = '\0';
		ok(!send_check_url(bad[i], why) && *why, "%s", why);
	}
	ok(!send_check_url("http://name:secret@x/", why) && !strstr(why, "secret"),
	   "what is wrong with credentials does not show them: %s", why);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		ok(send_check_url(good[i], why), "%s can be used", good[i]);
	ok(send_is_pyroscope("http://x/ingest") && send_is_pyroscope("http://x/a/ingest?b=c"),
	   "Pyroscope's");
	ok(!send_is_pyroscope("http://x/") && !send_is_pyroscope("http://x/ingested") &&
	   !send_is_pyroscope("http://x/?a=/ingest"), "not Pyroscope's");
}

static void test_credentials(void)
{
	static const struct { const char *text, *want; } cases[] = {
		{ "user:password\n", "user:password" }, { "Bearer abc", "Bearer abc" },
		{ "user:pass word \r\nmore\n", "user:pass word" },
		{ "", NULL }, { "token\n", NULL },
		{ "Bearer \n", NULL }, { ":x\n", NULL }, { "a:b\x01\n", NULL },
	};
	char line[SEND_LINE], why[SEND_WHY];
	const char *path = dir("credentials");

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		write_file(path, cases[i].text, strlen(cases[i].text));
		if (cases[i].want)
			ok(!send_read_credentials(path, line, why) && !strcmp(line, cases[i].want),
			   "credentials %zu: %s", i, line);
		else
			ok(send_read_credentials(path, line, why) && !*line, "%s", why);
	}
	write_file(path, "user:password\n", 14);
	chmod(path, 0640);
	ok(send_read_credentials(path, line, why) && !*line, "%s", why);
	ok(send_read_credentials(root, line, why) && !*line, "%s", why);
	ok(send_read_credentials(dir("nowhere"), line, why) && !*line, "%s", why);
}

static void test_status(void)
{
	ok(send_status(200) == SEND_TAKEN && send_status(204) == SEND_TAKEN, "taken");
	ok(send_status(400) == SEND_REFUSED && send_status(413) == SEND_REFUSED &&
	   send_status(422) == SEND_REFUSED, "refused for ever");
	ok(send_status(429) == SEND_LATER && send_status(500) == SEND_LATER &&
	   send_status(503) == SEND_LATER && send_status(408) == SEND_LATER, "overloaded");
	ok(send_status(401) == SEND_LATER && send_status(403) == SEND_LATER &&
	   send_status(404) == SEND_LATER && send_status(301) == SEND_LATER,
	   "what is to be changed here, not in the message");
}

/* ---- the thread, with a receiver that is made here ---- */

static struct {
	pthread_mutex_t lock;
	enum send_what what;
	unsigned int got, said, losses;
	bool hang, damaged;
	char order[4096];
} receiver = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct sender { int unused; };

const char *send_missing(void) { return NULL; }
struct sender *send_new(const struct send_opts *o) { return calloc(1, sizeof(struct sender)); }
void send_free(struct sender *s) { free(s); }

void send_message(struct sender *s, const struct spool_message *m, const bool *stop,
		  struct send_result *r)
{
	bool hang;

	pthread_mutex_lock(&receiver.lock);
	*r = (struct send_result){ .what = receiver.what, .bytes = m->len, .why = "so it is" };
	receiver.got++;
	if (r->what == SEND_TAKEN)
		strncat(receiver.order, m->body, m->len);
	hang = receiver.hang;
	pthread_mutex_unlock(&receiver.lock);
	while (hang && !__atomic_load_n(stop, __ATOMIC_RELAXED))
		usleep(1000);
	if (hang)
		r->what = SEND_LATER;
}

static void on_say(const char *line, bool loss)
{
	receiver.said++;
	receiver.losses += loss;
}

static void set(enum send_what what, bool hang)
{
	pthread_mutex_lock(&receiver.lock);
	receiver.what = what;
	receiver.hang = hang;
	pthread_mutex_unlock(&receiver.lock);
}

static unsigned int got(void)
{
	unsigned int nr;

	pthread_mutex_lock(&receiver.lock);
	nr = receiver.got;
	pthread_mutex_unlock(&receiver.lock);
	return nr;
}

static void test_thread(void)
{
	const struct push_opts o = { .send = { .url = "http://x/" }, .spool = strdup(dir("run")),
				     .spool_bytes = 1 << 20 };
	struct spool_message m = message("a", "1", 1);
	char why[PUSH_WHY], path[160];
	struct push_counts c;
	struct push p;
	unsigned int before;
	__u64 then;

	ok(!push_open(&p, &o, on_say, why) && !push_start(&p), "it begins: %s", why);
	for (int i = 0; i < 100; i++) {
		m.body = i % 2 ? "b" : "a";
		push_add(&p, &m);
	}
	ok(push_wait(&p, 20 * PACE_SECOND), "all is sent");
	ok(strlen(receiver.order) == 100 && !strncmp(receiver.order, "abababab", 8), "in order");
	set(SEND_REFUSED, false);
	push_add(&p, &m);
	ok(push_wait(&p, 20 * PACE_SECOND), "what is refused is out of the spool");
	push_get(&p, &c);
	ok(c.sent == 100 && c.refused == 1 && !c.waiting && receiver.losses == 1,
	   "and is counted and said");
	set(SEND_LATER, false);
	push_add(&p, &m);
	then = clock_ns();
	while (push_get(&p, &c), !c.failed && clock_ns() - then < 20 * PACE_SECOND)
		usleep(1000);
	ok(c.failed && c.waiting == 1, "what is not taken waits");
	set(SEND_TAKEN, false);
	ok(push_wait(&p, 20 * PACE_SECOND), "until it is");
	/* a receiver that hangs delays neither who writes nor the end */
	set(SEND_TAKEN, true);
	before = got();
	push_add(&p, &m);
	while (got() == before && clock_ns() - then < 40 * PACE_SECOND)
		usleep(1000);
	push_add(&p, &m);
	push_get(&p, &c);
	is(c.waiting, 2, "two wait");
	push_stop(&p, 1000);
	push_get(&p, &c);
	ok(c.waiting == 2 && c.failed == 1, "and stay: giving up is no failure");
	push_close(&p);
	snprintf(path, sizeof(path), "%s/0000000000000104.push", dir("run"));
	write_file(path, "half", 4);
	set(SEND_TAKEN, false);
	ok(!push_open(&p, &o, on_say, why), "another run");
	push_get(&p, &c);
	is(c.waiting, 3, "has what the last one left");
	push_start(&p);
	ok(push_wait(&p, 20 * PACE_SECOND), "sends it");
	push_get(&p, &c);
	ok(c.damaged == 1 && c.sent == 2, "but for what is damaged, which is counted");
	push_stop(&p, PACE_SECOND);
	push_close(&p);
	free((char *)o.spool);
}

int main(void)
{
	char command[64];

	if (!mkdtemp(root))
		return 1;
	umask(022);
	test_phase();
	test_backoff();
	test_retry_after();
	test_rate();
	test_catch_up();
	test_order();
	test_bound();
	test_damage();
	test_refused();
	test_labels();
	test_paths();
	test_urls();
	test_credentials();
	test_status();
	test_thread();
	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		return 1;
	return tap_done();
}
