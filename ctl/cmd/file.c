// SPDX-License-Identifier: GPL-2.0-or-later
/* Open a `.memtap` file, and describe it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "cmd/file.h"

static void name_value(struct snap *s, const char *note)
{
	char *name;
	const unsigned long id = strtoul(note, &name, 10);

	for (size_t i = 0; *name == ' ' && i < s->nr_events; i++) {
		struct snap_event *e = &s->events[i];
		const size_t len = strlen(e->name);

		if (e->id == id)
			snprintf(e->name + len, sizeof(e->name) - len, "%s", name);
	}
}

static int try_fd(int fd, struct snap **s, char why[256])
{
	const char *note;
	size_t at = 0;
	const int err = snap_from_fd(fd, s, why);

	if (err)
		return err;
	while ((note = file_next_note(*s, "value", &at)))
		name_value(*s, note);
	return 0;
}

int file_read_fd(int fd, const char *path, struct snap **s)
{
	char why[256];

	return try_fd(fd, s, why) ? fail_text("%s: %s", path, why) : 0;
}

int file_try(const char *path, struct snap **s, char why[256])
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0) {
		snprintf(why, 256, "%s", strerror(errno));
		return -EIO;
	}
	err = try_fd(fd, s, why);
	close(fd);
	return err;
}

int file_read(const char *path, struct snap **s)
{
	char why[256];

	return file_try(path, s, why) ? fail_text("%s: %s", path, why) : 0;
}

int file_select(struct snap *s, struct sym *sym, const struct select *sel, const char *path)
{
	char why[SELECT_WHY];
	const int err = report_select(s, sym, sel, why);

	if (!err)
		return 0;
	return why[0] ? fail_text("%s: %s", path, why) :
			fail(ERR_PLAIN, -err, "%s", "filtering the recording");
}

void file_left_out(const struct snap *s, const char *path)
{
	char line[SELECT_WHY];

	for (size_t i = 0; report_left_out(s, i, line); i++)
		note("%s: %s", path, line);
}

const char *file_next_note(const struct snap *s, const char *key, size_t *at)
{
	const size_t len = strlen(key);

	while (*at < s->nr_notes) {
		const char *note = s->notes[(*at)++];

		if (!strncmp(note, key, len) && note[len] == '=')
			return note + len + 1;
	}
	return NULL;
}

const char *file_note(const struct snap *s, const char *key)
{
	size_t at = 0;

	return file_next_note(s, key, &at);
}
