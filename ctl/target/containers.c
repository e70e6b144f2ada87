// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the cgroups of containers and pods that a person names; see target/containers.h. */
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "machine/container.h"
#include "target/cgroup.h"
#include "target/containers.h"

#define SHOWN	3		/* of several that match */

struct match {
	char *path;
	struct container c;
};

/* nftw() has no context. */
static struct {
	const char *mount, *root, *wanted;
	bool pod;
	struct match found[SHOWN + 1];
	size_t nr;
} search;

static int look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const char *below = path + strlen(search.mount);
	struct container c;

	(void)st;
	(void)ftw;
	if (type != FTW_D || !container_of_path(below, &c) || !c.whole || !*c.id != search.pod ||
	    !(search.pod ? container_in_pod : container_is)(&c, search.wanted, search.root))
		return 0;
	/* a container may have a cgroup below its own that is named in the same way */
	for (size_t i = 0; i < search.nr; i++)
		if (!strcmp(search.found[i].c.id, c.id) && !strcmp(search.found[i].c.pod, c.pod))
			return 0;
	search.found[search.nr].path = strdup(below);
	if (!search.found[search.nr].path)
		return -ENOMEM;
	search.found[search.nr++].c = c;
	return search.nr > SHOWN;
}

static int say_several(const char *cmd)
{
	char label[CONTAINER_NAME + CONTAINER_ID], name[CONTAINER_NAME], all[1024] = "";

	for (size_t i = 0; i < search.nr && i < SHOWN; i++) {
		const size_t used = strlen(all);

		container_name(search.root, &search.found[i].c, name);
		container_label(&search.found[i].c, name, label, sizeof(label));
		snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", label);
	}
	return usage_error(cmd, "--%s %s is not unique: %s%zu match (%s%s); give more of the ID or "
			   "name",
			   search.pod ? "pod" : "container", search.wanted,
			   search.nr > SHOWN ? "more than " : "",
			   search.nr > SHOWN ? (size_t)SHOWN : search.nr, all,
			   search.nr > SHOWN ? ", ..." : "");
}

/* Options point to these. */
static char *kept[OPT_MAX_LIST];

static int find(const char *wanted, bool pod, const char *cmd, char **path)
{
	int err;

	search.wanted = wanted;
	search.pod = pod;
	search.nr = 0;
	err = nftw(search.mount, look, 32, FTW_PHYS | FTW_MOUNT);
	if (err == -ENOMEM)
		return fail(ERR_PLAIN, ENOMEM, "%s", "the cgroups");
	if (search.nr == 1) {
		*path = search.found[0].path;
		return 0;
	}
	err = search.nr ? say_several(cmd) :
		fail_text("--%s %s: no such %s: no cgroup below %s has this %s or name; `memtap "
			  "ps --by container` lists containers", pod ? "pod" : "container", wanted,
			  pod ? "pod" : "container", search.mount, pod ? "UID" : "ID");
	for (size_t i = 0; i < search.nr; i++)
		free(search.found[i].path);
	return err;
}

static int add(struct opts *o, const struct opt_strs *list, bool pod, const char *cmd)
{
	char *path = NULL;
	int ret;

	for (size_t i = 0; i < list->nr; i++) {
		if (o->cgroups.nr == OPT_MAX_LIST)
			return usage_error(cmd, "more than %d cgroups", OPT_MAX_LIST);
		ret = find(list->at[i], pod, cmd, &path);
		if (ret)
			return ret;
		kept[o->cgroups.nr] = path;
		o->cgroups.at[o->cgroups.nr++] = path;
	}
	return 0;
}

int containers_resolve_at(struct opts *o, const char *cmd, const char *mount, const char *root)
{
	int ret;

	search.mount = mount;
	search.root = root;
	ret = add(o, &o->containers, false, cmd);
	return ret ? ret : add(o, &o->pods, true, cmd);
}

int containers_resolve(struct opts *o, const char *cmd)
{
	static char mount[512];

	if (!o->containers.nr && !o->pods.nr)
		return 0;
	/* where both are mounted, memory is charged in the old hierarchy */
	if (!cgroup_memory_mount(mount, sizeof(mount)))
		return fail_text("--%s: no hierarchy of cgroups is mounted here",
				 o->containers.nr ? "container" : "pod");
	return containers_resolve_at(o, cmd, mount, "");
}
