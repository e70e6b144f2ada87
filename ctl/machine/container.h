/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CONTAINER_H
#define _CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"

/*
 * Containers and Kubernetes pods, as the paths of their cgroups name them.  A path has an ID; the
 * name that a person gave is in files of the runtime or the kubelet on the same host.  Nothing is
 * asked of a runtime.
 */
#define CONTAINER_ID	128
#define CONTAINER_NAME	256

/*
 * @runtime: "docker", "containerd", "cri-o", "podman", "lxc", "systemd" (systemd-nspawn, and
 * virtual machines that systemd registers), or "container" where the path does not say.
 * @id: 64 hexadecimal digits, or a name where the runtime uses names; "" in a pod's own cgroup.
 * @pod: the UID of the Kubernetes pod, with dashes; "": none.
 * @whole: the path is the container's (or the pod's), and not one below it.
 */
struct container {
	const char *runtime;
	char id[CONTAINER_ID], pod[64];
	bool whole;
};

/* The innermost container of a cgroup's path, or a pod's cgroup; false: neither. */
bool container_of_path(const char *path, struct container *c);

/*
 * What a person calls it: @name "web", or "shop/cart-5d9/app" in a pod (namespace, pod,
 * container), or "shop/cart-5d9" of a pod's own cgroup.  @root: where the host's files are, "" on
 * the host.  False: no file says so; @name is then "".
 */
bool container_name(const char *root, const struct container *c, char name[CONTAINER_NAME]);

/*
 * Is it what a person calls @wanted: a name, or the last parts of one; an ID, which may be
 * shortened; the UID of a pod.
 */
bool container_is(const struct container *c, const char *wanted, const char *root);
bool container_in_pod(const struct container *c, const char *wanted, const char *root);

/* For people: "web (docker 0123456789ab)", without a name "docker 0123456789ab". */
void container_label(const struct container *c, const char *name, char *buf, size_t len);

/* The same of a cgroup's path; of one in no container, or without a known path: so. */
#define CONTAINER_LABEL	(CONTAINER_NAME + CONTAINER_ID)
#define CONTAINER_NONE	"[no container]"
void container_label_of(const char *root, const char *path, char label[CONTAINER_LABEL]);

/*
 * Is the cgroup that of a container of --container or of a pod of --pod (@o->containers,
 * @o->pods), or below one?
 */
bool container_wanted(const struct opts *o, const char *path);

#endif
