// SPDX-License-Identifier: GPL-2.0-or-later
/* Find containers and pods by the paths of their cgroups; see machine/container.h. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_read.h"
#include "machine/container.h"
#include "machine/int.h"

#define ID_DIGITS	64		/* of all runtimes of OCI containers */
#define ID_SHORT	12		/* shown */
#define ID_LEAST	3		/* accepted */
#define POD_UID		36		/* 8-4-4-4-12 */

/* ---- paths ---- */

static size_t hex_digits(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && isxdigit((unsigned char)s[i]))
		i++;
	return i;
}

static bool has_suffix(const char *s, size_t n, const char *suffix)
{
	const size_t len = strlen(suffix);

	return n > len && !memcmp(s + n - len, suffix, len);
}

/* systemd writes other characters of a name as \x2d. */
static void unescape(const char *s, size_t n, char *buf, size_t len)
{
	size_t used = 0;
	char code[3] = "";

	for (size_t i = 0; i < n && used + 1 < len; i++) {
		if (n - i >= 4 && s[i] == '\\' && s[i + 1] == 'x' &&
		    hex_digits(s + i + 2, 2) == 2) {
			memcpy(code, s + i + 2, 2);
			buf[used++] = (char)strtol(code, NULL, 16);
			i += 3;
		} else {
			buf[used++] = s[i];
		}
	}
	buf[used] = '\0';
}

/* A part of a path, and the one above it. */
struct part {
	const char *s, *above;
	size_t n, n_above;
};

static bool above_is(const struct part *p, const char *name)
{
	return p->n_above == strlen(name) && !memcmp(p->above, name, p->n_above);
}

/* docker-ID.scope, libpod-ID, ...; or the ID alone. */
static bool part_is_oci(const struct part *p, struct container *c)
{
	static const struct {
		const char *prefix, *runtime;
	} known[] = {
		{ "docker-", "docker" }, { "cri-containerd-", "containerd" },
		{ "nerdctl-", "containerd" }, { "crio-", "cri-o" }, { "libpod-", "podman" },
	};
	const char *s = p->s;
	size_t n = p->n, len;

	c->runtime = above_is(p, "docker") ? "docker" :
		     above_is(p, "k8s.io") || above_is(p, "default") ? "containerd" : "container";
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		len = strlen(known[i].prefix);
		if (n > len && !memcmp(s, known[i].prefix, len)) {
			c->runtime = known[i].runtime;
			s += len;
			n -= len;
			break;
		}
	}
	if (has_suffix(s, n, ".scope"))
		n -= strlen(".scope");
	if (n != ID_DIGITS || hex_digits(s, n) != n)
		return false;
	memcpy(c->id, s, n);
	c->id[n] = '\0';
	return true;
}

/* machine-NAME.scope, systemd-nspawn@NAME.service, lxc.payload.NAME, lxc/NAME */
static bool part_is_named(const struct part *p, struct container *c)
{
	static const struct {
		const char *prefix, *suffix, *runtime;
	} known[] = {
		{ "machine-", ".scope", "systemd" },
		{ "systemd-nspawn@", ".service", "systemd" },
		{ "lxc.payload.", "", "lxc" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const size_t front = strlen(known[i].prefix), back = strlen(known[i].suffix);

		if (p->n <= front + back || memcmp(p->s, known[i].prefix, front) ||
		    memcmp(p->s + p->n - back, known[i].suffix, back))
			continue;
		c->runtime = known[i].runtime;
		unescape(p->s + front, p->n - front - back, c->id, sizeof(c->id));
		return true;
	}
	if (!above_is(p, "lxc") || p->n >= sizeof(c->id))
		return false;
	c->runtime = "lxc";
	memcpy(c->id, p->s, p->n);
	c->id[p->n] = '\0';
	return true;
}

/* podUID, or kubepods-burstable-podUID.slice with _ in place of - */
static bool part_is_pod(const struct part *p, char *uid)
{
	char pod[POD_UID + 1];
	const char *s = p->s;
	size_t n = p->n, digits = 0;

	if (has_suffix(s, n, ".slice")) {
		n -= strlen(".slice");
		for (size_t i = n; i > 4; i--) {
			if (!memcmp(s + i - 4, "-pod", 4)) {
				n -= i - 3;
				s += i - 3;
				break;
			}
		}
	}
	if (n <= 3 || memcmp(s, "pod", 3))
		return false;
	s += 3;
	n -= 3;
	/* (static pods have 32 digits without dashes) */
	if (n != POD_UID && n != 32)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (isxdigit((unsigned char)s[i]))
			digits++;
		else if (n != POD_UID || (s[i] != '-' && s[i] != '_'))
			return false;
		pod[i] = s[i] == '_' ? '-' : s[i];
	}
	if (digits != 32)
		return false;
	pod[n] = '\0';
	strcpy(uid, pod);
	return true;
}

bool container_of_path(const char *path, struct container *c)
{
	struct container found = { "container", "", "", false };
	struct part p = { NULL, "", 0, 0 };
	bool any = false;

	memset(c, 0, sizeof(*c));
	while (*path) {
		struct container here = { "container", "", "", true };

		while (*path == '/')
			path++;
		p = (struct part) { path, p.s ? p.s : "", strcspn(path, "/"), p.n };
		if (!p.n)
			break;
		if (part_is_pod(&p, found.pod)) {
			found.id[0] = '\0';
			found.runtime = "kubernetes";
			found.whole = any = true;
		} else if (part_is_oci(&p, &here) || part_is_named(&p, &here)) {
			snprintf(here.pod, sizeof(here.pod), "%s", found.pod);
			found = here;
			any = true;
		} else {
			found.whole = false;
		}
		path += p.n;
	}
	if (any)
		*c = found;
	return any;
}

/* ---- names ---- */

/* "Name": "/web" of an object; or of an array of objects, that of the object with our "id". */
struct lookup {
	const char *id;
	char name[CONTAINER_NAME], its_id[CONTAINER_ID], its_name[CONTAINER_NAME];
};

static int docker_name(void *ctx, const struct json_place *at, enum json_event event,
		       const char *text)
{
	struct lookup *l = ctx;

	if (event == JSON_STRING && at->depth == 1 && !strcmp(at->keys[0], "Name"))
		snprintf(l->name, sizeof(l->name), "%s", text + (*text == '/'));
	return 0;
}

/* [{"id": ..., "names": ["web"], ...}, ...] */
static int podman_name(void *ctx, const struct json_place *at, enum json_event event,
		       const char *text)
{
	struct lookup *l = ctx;

	if (event == JSON_STRING && at->depth == 2 && !strcmp(at->keys[1], "id"))
		snprintf(l->its_id, sizeof(l->its_id), "%s", text);
	else if (event == JSON_STRING && at->depth == 3 && !strcmp(at->keys[1], "names") &&
		 !*l->its_name)
		snprintf(l->its_name, sizeof(l->its_name), "%s", text);
	if (event != JSON_END || at->depth != 1)
		return 0;
	if (!strcmp(l->its_id, l->id))
		snprintf(l->name, sizeof(l->name), "%s", l->its_name);
	l->its_id[0] = l->its_name[0] = '\0';
	return 0;
}

static bool name_in(const char *root, const char *path, json_fn fn, const char *id, char *name)
{
	const struct machine_at at = { .root = root };
	struct lookup l = { .id = id };
	char *text;
	int err;

	text = machine_file(&at, path, FILE_LARGE, &err);
	if (!text)
		return false;
	if (json_read(text, strlen(text), fn, &l))
		l.name[0] = '\0';
	free(text);
	snprintf(name, CONTAINER_NAME, "%s", l.name);
	return *name;
}

/* The kubelet's directory of logs has NAMESPACE_POD_UID; no part of it has an underscore. */
static bool pod_name(const char *root, const char *pod, char *name)
{
	char path[PATH_MAX];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "%s/var/log/pods", root);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		char *under = strchr(e->d_name, '_');
		char *uid = under ? strchr(under + 1, '_') : NULL;

		if (!uid || strcmp(uid + 1, pod))
			continue;
		*under = '/';
		*uid = '\0';
		found = snprintf(name, CONTAINER_NAME, "%s", e->d_name) < CONTAINER_NAME;
	}
	if (d)
		closedir(d);
	return found;
}

/* POD_NAMESPACE_CONTAINER-ID.log: links that the kubelet makes. */
static bool name_in_pod(const char *root, const struct container *c, char *name)
{
	char path[PATH_MAX], suffix[CONTAINER_ID + 8];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "%s/var/log/containers", root);
	snprintf(suffix, sizeof(suffix), "-%s.log", c->id);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		const size_t len = strlen(e->d_name);
		char *space, *container;

		if (!has_suffix(e->d_name, len, suffix))
			continue;
		e->d_name[len - strlen(suffix)] = '\0';
		space = strchr(e->d_name, '_');
		container = space ? strchr(space + 1, '_') : NULL;
		if (!container)
			continue;
		*space++ = *container++ = '\0';
		found = snprintf(name, CONTAINER_NAME, "%s/%s/%s", space, e->d_name,
				 container) < CONTAINER_NAME;
	}
	if (d)
		closedir(d);
	return found;
}

bool container_name(const char *root, const struct container *c, char name[CONTAINER_NAME])
{
	char path[PATH_MAX];

	*name = '\0';
	if (!*c->id)
		return *c->pod && pod_name(root, c->pod, name);
	if (strlen(c->id) != ID_DIGITS) {	/* it is a name */
		snprintf(name, CONTAINER_NAME, "%s", c->id);
		return true;
	}
	if (*c->pod && name_in_pod(root, c, name))
		return true;
	snprintf(path, sizeof(path), "/var/lib/docker/containers/%s/config.v2.json", c->id);
	return name_in(root, path, docker_name, c->id, name) ||
	       name_in(root, "/var/lib/containers/storage/overlay-containers/containers.json",
		       podman_name, c->id, name);
}

void container_label(const struct container *c, const char *name, char *buf, size_t len)
{
	if (!*c->id)
		snprintf(buf, len, *name ? "pod %s" : "pod %s%s", name, *name ? "" : c->pod);
	else if (!strcmp(name, c->id))
		snprintf(buf, len, "%s (%s)", name, c->runtime);
	else if (*name)
		snprintf(buf, len, "%s (%s %.*s)", name, c->runtime, ID_SHORT, c->id);
	else
		snprintf(buf, len, "%s %.*s", c->runtime, ID_SHORT, c->id);
}

void container_label_of(const char *root, const char *path, char label[CONTAINER_LABEL])
{
	char name[CONTAINER_NAME];
	struct container c;

	if (!path || !container_of_path(path, &c)) {
		snprintf(label, CONTAINER_LABEL, "%s", CONTAINER_NONE);
		return;
	}
	container_name(root, &c, name);
	container_label(&c, name, label, CONTAINER_LABEL);
}

/* ---- what was asked for ---- */

/* @wanted is @name, or its last parts: "web", "cart-5d9/app", "shop/cart-5d9/app" */
static bool is_named(const char *wanted, const char *name)
{
	const size_t len = strlen(wanted), of = strlen(name);

	return len && of >= len && !strcmp(name + of - len, wanted) &&
	       (of == len || name[of - len - 1] == '/');
}

bool container_is(const struct container *c, const char *wanted, const char *root)
{
	const size_t len = strlen(wanted);
	char name[CONTAINER_NAME];

	if (!*c->id)
		return false;
	if (!strcmp(wanted, c->id))
		return true;
	if (strlen(c->id) == ID_DIGITS && len >= ID_LEAST && hex_digits(wanted, len) == len &&
	    !strncasecmp(wanted, c->id, len))
		return true;
	return container_name(root, c, name) && is_named(wanted, name);
}

bool container_in_pod(const struct container *c, const char *wanted, const char *root)
{
	struct container pod = { .runtime = "kubernetes" };
	char name[CONTAINER_NAME];

	if (!*c->pod)
		return false;
	snprintf(pod.pod, sizeof(pod.pod), "%s", c->pod);
	return !strcmp(wanted, c->pod) ||
	       (container_name(root, &pod, name) && is_named(wanted, name));
}

bool container_wanted(const struct opts *o, const char *path)
{
	char above[PATH_MAX];
	struct container c;

	/* each container that this one is in */
	snprintf(above, sizeof(above), "%s", path);
	while (container_of_path(above, &c)) {
		for (size_t i = 0; i < o->containers.nr; i++)
			if (container_is(&c, o->containers.at[i], ""))
				return true;
		for (size_t i = 0; i < o->pods.nr; i++)
			if (container_in_pod(&c, o->pods.at[i], ""))
				return true;
		if (!strrchr(above, '/'))
			break;
		*strrchr(above, '/') = '\0';
	}
	return false;
}
