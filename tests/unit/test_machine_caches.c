// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/ids.c ctl/machine/caches.c ctl/machine/text.c */
/* Names of slab caches, and which of them can be taken back, in made trees of /sys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/caches.h"
#include "tap.h"

static void is_str(const char *got, const char *wanted, const char *name)
{
	if (!ok(got && !strcmp(got, wanted), "%s", name))
		fprintf(stderr, "# got '%s', not '%s'\n", got ? got : "nothing", wanted);
}

static char root[] = "/tmp/caches.XXXXXX";

static void command(const char *text)
{
	if (system(text))
		exit(1);
}

/* @text is a shell's, in the directory that /sys/kernel/slab is. */
static void in_tree(const char *text)
{
	char all[4096];

	snprintf(all, sizeof(all), "mkdir -p %s/sys/kernel/slab && cd %s/sys/kernel/slab && "
		 "{ %s; }", root, root, text);
	command(all);
}

static struct machine_caches *read_tree(void)
{
	const struct machine_at at = { .root = root };

	return machine_caches_read(&at);
}

static void names(void)
{
	char also[CACHE_ALSO];
	struct machine_caches *c;

	in_tree("mkdir :0000704 :A-0000192 dentry; ln -s :0000704 PING; ln -s :0000704 UNIX;"
		"ln -s ../slab/:0000704 RAW; ln -s :0000704 zswap; ln -s :0000704 alone-too;"
		"ln -s :A-0000192 cred; ln -s nowhere lost");
	c = read_tree();
	is_str(machine_caches_also(c, "PING", also), "RAW, UNIX, alone-too and 1 more",
	       "three aliases and a count");
	is_str(machine_caches_also(c, "cred", also), "", "one name has none");
	is_str(machine_caches_also(c, "dentry", also), "", "nor a cache that was never merged");
	is_str(machine_caches_also(c, "lost", also), "", "nor a link that leads nowhere");
	is_str(machine_caches_also(c, "not there", also), "", "nor one that is not there");
	is_str(machine_caches_also(c, ":0000704", also), "", "the directory is no name");
	is_str(machine_caches_also(c, "UNIX(12:a)", also), "PING, RAW, alone-too and 1 more",
	       "a cgroup's cache has those of its root (before v5.9)");
	is_str(machine_caches_alias(c, "PING", 3), "zswap", "all can be asked for");
	ok(!machine_caches_alias(c, "PING", 4), "and no more");
	machine_caches_free(c);
	is_str(machine_caches_also(NULL, "PING", also), "", "where nothing was read there is none");
}

static void reclaimable(void)
{
	struct machine_caches *c;

	in_tree("echo 1 > dentry/reclaim_account; mkdir own foo_inode_cache buffer_head odd;"
		"echo 0 > foo_inode_cache/reclaim_account; echo 1 > own/reclaim_account;"
		"echo > odd/reclaim_account; echo 1 > :0000704/reclaim_account");
	c = read_tree();
	ok(machine_caches_reclaimable(c, "dentry"), "reclaimable, as sysfs says");
	ok(machine_caches_reclaimable(c, "dentry(9:x)"), "also a cgroup's");
	ok(machine_caches_reclaimable(c, "own"), "whatever it is called");
	ok(machine_caches_reclaimable(c, "UNIX"), "by any name of it");
	ok(!machine_caches_reclaimable(c, "foo_inode_cache"), "sysfs counts more than a name");
	ok(!machine_caches_reclaimable(c, "foo_inode_cache"), "also when it is asked again");
	ok(machine_caches_reclaimable(c, "buffer_head"), "without the file: by its name");
	ok(!machine_caches_reclaimable(c, "cred"), "which may say nothing");
	ok(!machine_caches_reclaimable(c, "odd"), "an empty file says no");
	machine_caches_free(c);
	in_tree("cd ..; rm -r slab");
	c = read_tree();
	ok(c != NULL, "no directory: SLAB");
	ok(machine_caches_reclaimable(c, "dentry") &&
	   machine_caches_reclaimable(c, "inode_cache") &&
	   machine_caches_reclaimable(c, "ext4_inode_cache") &&
	   machine_caches_reclaimable(c, "xa_node") &&
	   machine_caches_reclaimable(c, "radix_tree_node") &&
	   machine_caches_reclaimable(c, "buffer_head"), "those that are known by name");
	ok(!machine_caches_reclaimable(c, "shmem_inode_cache") &&
	   !machine_caches_reclaimable(c, "kmalloc-64") && !machine_caches_reclaimable(c, ""),
	   "and no others: files of tmpfs are its inodes");
	machine_caches_free(c);
}

int main(void)
{
	char all[64];

	if (!mkdtemp(root))
		return 1;
	names();
	reclaimable();
	snprintf(all, sizeof(all), "rm -rf %s", root);
	command(all);
	return tap_done();
}
