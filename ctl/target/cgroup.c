// SPDX-License-Identifier: GPL-2.0-or-later
/* Find cgroups by path or inode. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "target/cgroup.h"
#include "target/maps.h"
#include "base/opt.h"
#include "base/words.h"

#define CGROUP1_MAGIC	0x27e0eb
#define CGROUP2_MAGIC	0x63677270

/* ... mountpoint options [optional] - type source super-options */
static bool line_fits(char *line, bool v2, const char **point)
{
	char *dash = strstr(line, " - "), *save;
	char *type, *super;

	if (!dash)
		return false;
	*dash = '\0';
	type = strtok_r(dash + 3, " ", &save);
	strtok_r(NULL, " ", &save);
	super = strtok_r(NULL, " ", &save);
	if (!type || strcmp(type, v2 ? "cgroup2" : "cgroup"))
		return false;
	if (!v2 && (!super || !has_word(super, "memory")))
		return false;
	strtok_r(line, " ", &save);
	for (int i = 0; i < 3; i++)
		strtok_r(NULL, " ", &save);
	*point = strtok_r(NULL, " ", &save);
	return *point != NULL;
}

bool cgroup_mount(const char *mountinfo, bool v2, char *path, size_t len)
{
	char *text = strdup(mountinfo), *line, *save;
	const char *point;
	bool found = false;

	if (!text)
		return false;
	for (line = strtok_r(text, "\n", &save); line && !found;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!line_fits(line, v2, &point))
			continue;
		found = snprintf(path, len, "%s", point) < (int)len;
	}
	free(text);
	return found;
}

static bool find_mount(bool v2, char *path, size_t len)
{
	size_t size;
	char *text;
	bool found;

	if (maps_slurp(AT_FDCWD, "/proc/self/mountinfo", &text, &size))
		return false;
	found = cgroup_mount(text, v2, path, len);
	free(text);
	return found;
}

bool cgroup_memory_mount(char *path, size_t len)
{
	return find_mount(false, path, len) || find_mount(true, path, len);
}

static int from_dir(const char *dir, struct memtap_filter_item *item)
{
	char mount[512];
	struct statfs fs;
	struct stat st, root;

	if (stat(dir, &st) || statfs(dir, &fs))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	item->value = st.st_ino;
	if (fs.f_type == CGROUP2_MAGIC) {
		item->kind = MEMTAP_FILTER_CGROUP2;
		return 0;
	}
	if (fs.f_type != CGROUP1_MAGIC || !find_mount(false, mount, sizeof(mount)) ||
	    stat(mount, &root) || root.st_dev != st.st_dev)
		return -EMEDIUMTYPE;
	item->kind = MEMTAP_FILTER_CGROUP1;
	return 0;
}

/* nftw() has no context. */
static ino_t wanted;

static int is_wanted(const char *path, const struct stat *st, int type,
		     struct FTW *ftw)
{
	(void)path;
	(void)ftw;
	return type == FTW_D && st->st_ino == wanted;
}

static int from_inode(__u64 inode, struct memtap_filter_item *item)
{
	char mount[512];

	wanted = (ino_t)inode;
	item->value = inode;
	for (int v2 = 1; v2 >= 0; v2--) {
		if (!find_mount(v2, mount, sizeof(mount)) ||
		    nftw(mount, is_wanted, 32, FTW_PHYS | FTW_MOUNT) != 1)
			continue;
		item->kind = v2 ? MEMTAP_FILTER_CGROUP2 : MEMTAP_FILTER_CGROUP1;
		return 0;
	}
	return -ENOENT;
}

/* A path as /proc/PID/cgroup shows it. */
static int from_path(const char *name, struct memtap_filter_item *item)
{
	char dir[1024], mount[512];

	for (int v2 = 1; v2 >= 0; v2--) {
		if (!find_mount(v2, mount, sizeof(mount)))
			continue;
		snprintf(dir, sizeof(dir), "%s%s%.500s", mount,
			 name[0] == '/' ? "" : "/", name);
		if (!from_dir(dir, item))
			return 0;
	}
	return -ENOENT;
}

int cgroup_item(const char *name, struct memtap_filter_item *item)
{
	__u64 inode;
	int err;

	memset(item, 0, sizeof(*item));
	if (opt_u64(name, &inode))
		return from_inode(inode, item);
	err = from_dir(name, item);
	if (!err)
		return 0;
	if (!from_path(name, item))
		return 0;
	return err;
}
