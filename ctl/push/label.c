// SPDX-License-Identifier: GPL-2.0-or-later
/* Names and values that tell profiles apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "machine/container.h"
#include "push/label.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool label_parse(const char *text, struct label *l, char why[LABEL_WHY])
{
	const char *eq = strchr(text, '=');
	const size_t len = eq ? (size_t)(eq - text) : strlen(text);

	memset(l, 0, sizeof(*l));
	why[0] = '\0';
	if (!eq || !len)
		snprintf(why, LABEL_WHY, "'%.60s' is not NAME=VALUE", text);
	else if (len >= sizeof(l->name))
		snprintf(why, LABEL_WHY, "the name of '%.40s...' has more than %zu characters",
			 text, sizeof(l->name) - 1);
	else if (strlen(eq + 1) >= sizeof(l->value))
		snprintf(why, LABEL_WHY, "the value of '%.*s' has more than %zu characters",
			 (int)len, text, sizeof(l->value) - 1);
	for (size_t i = 0; !*why && i < len; i++)
		if (!is_letter(text[i]) && (!i || !is_digit(text[i])))
			snprintf(why, LABEL_WHY, "a name has letters, digits and '_', not "
				 "'%.*s'", (int)len, text);
	if (!*why && len >= 2 && !strncmp(text, "__", 2))
		snprintf(why, LABEL_WHY, "names that begin with '__', as '%.*s', are the "
			 "receiver's", (int)len, text);
	for (const char *p = eq ? eq + 1 : ""; !*why && *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f || strchr(",{}", *p))
			snprintf(why, LABEL_WHY, "the value of '%.*s' has a control character or "
				 "one of ,{}", (int)len, text);
	if (*why)
		return false;
	memcpy(l->name, text, len);
	strcpy(l->value, eq + 1);
	return true;
}

/* A line of UTF-8 that Pyroscope reads back as it is. */
static void set_value(char to[LABEL_VALUE], const char *value)
{
	char *clean = NULL;
	size_t len = 0, n = 0;
	FILE *f = open_memstream(&clean, &len);

	to[0] = '\0';
	if (f) {
		text_put(f, value, NULL);
		fclose(f);
	}
	for (const char *p = clean ? clean : ""; *p && n < LABEL_VALUE - 1; p++)
		if (n || *p != ' ')
			to[n++] = strchr(",{}", *p) ? '_' : *p;
	/* not in the middle of a character */
	if (len > n && n == LABEL_VALUE - 1) {
		while (n && (to[n - 1] & 0xc0) == 0x80)
			n--;
		if (n && to[n - 1] & 0x80)
			n--;
	}
	while (n && to[n - 1] == ' ')
		n--;
	to[n] = '\0';
	free(clean);
}

static struct label *find(const struct labels *all, const char *name)
{
	for (size_t i = 0; i < all->nr; i++)
		if (!strcmp(all->at[i].name, name))
			return (struct label *)&all->at[i];
	return NULL;
}

void labels_set(struct labels *all, const char *name, const char *value)
{
	struct label *l = find(all, name);

	if (!*value) {
		if (l) {
			memmove(l, l + 1, (size_t)(all->at + all->nr - l - 1) * sizeof(*l));
			all->nr--;
		}
		return;
	}
	if (!l) {
		if (all->nr == LABELS_MAX)
			return;
		l = &all->at[all->nr++];
		snprintf(l->name, sizeof(l->name), "%s", name);
	}
	set_value(l->value, value);
}

const char *labels_get(const struct labels *all, const char *name)
{
	const struct label *l = find(all, name);

	return l ? l->value : "";
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	const size_t n = strlen(end);

	return len > n && !memcmp(text + len - n, end, n);
}

/* The innermost part of the path that is a service, or else a scope. */
static bool unit_of_path(const char *path, char unit[LABEL_VALUE])
{
	bool service = false;

	unit[0] = '\0';
	while (*path) {
		const size_t len = strcspn(path, "/");
		const bool is = ends_with(path, len, ".service");

		if (len < LABEL_VALUE && (is || (!service && ends_with(path, len, ".scope")))) {
			snprintf(unit, LABEL_VALUE, "%.*s", (int)len, path);
			service = is;
		}
		path += len + (path[len] == '/');
	}
	return *unit;
}

static void set_container(struct labels *all, const char *root, const struct container *c)
{
	char name[CONTAINER_NAME], pod[CONTAINER_NAME];
	const char *rest;
	size_t len;

	if (!container_name(root, c, name)) {
		/* an ID, as people shorten it */
		snprintf(name, sizeof(name), "%.12s", c->id);
		labels_set(all, "container", name);
		labels_set(all, "pod", c->pod);
		labels_set(all, "service", *name ? name : c->pod);
		return;
	}
	labels_set(all, "service", name);
	rest = *c->pod ? strchr(name, '/') : NULL;
	if (!rest) {
		labels_set(all, "container", name);
		return;
	}
	/* namespace/pod/container */
	len = (size_t)(rest - name) + 1 + strcspn(rest + 1, "/");
	snprintf(pod, sizeof(pod), "%.*s", (int)len, name);
	labels_set(all, "pod", pod);
	labels_set(all, "container", name[len] ? name + len + 1 : "");
	/* pods of one kind come and go: their container is what they are called by */
	if (name[len]) {
		snprintf(pod, sizeof(pod), "%.*s%s", (int)(rest - name), name, name + len);
		labels_set(all, "service", pod);
	}
}

void labels_of_cgroup(struct labels *all, const char *root, const char *path)
{
	char unit[LABEL_VALUE];
	struct container c;

	labels_set(all, "cgroup", path);
	if (container_of_path(path, &c))
		set_container(all, root, &c);
	else if (unit_of_path(path, unit))
		labels_set(all, "service", unit);
}

void labels_pyroscope(const struct labels *all, char line[LABEL_LINE])
{
	const char *app = labels_get(all, "service");
	size_t n = 0;

	if (!*app)
		app = labels_get(all, "program");
	if (!*app)
		app = "memtap";
	for (; *app && n < LABEL_VALUE; app++)
		line[n++] = is_letter(*app) || is_digit(*app) || *app == '-' ? *app : '.';
	line[n++] = '{';
	for (size_t i = 0; i < all->nr; i++)
		n += (size_t)snprintf(line + n, LABEL_LINE - n, "%s%s=%s", i ? "," : "",
				      all->at[i].name, all->at[i].value);
	snprintf(line + n, LABEL_LINE - n, "}");
}
