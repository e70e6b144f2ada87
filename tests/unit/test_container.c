// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/container.c ctl/machine/text.c ctl/base/json_read.c ctl/base/err.c */
/* LINK: ctl/target/containers.c ctl/target/cgroup.c ctl/target/maps.c ctl/base/opt_value.c */
/* LINK: ctl/target/procmaps.c ctl/base/text.c ctl/base/openreg.c */
/* Containers and pods: by paths of cgroups as runtimes make them, and by names in their files. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/container.h"
#include "target/containers.h"
#include "scratch.h"
#include "tap.h"

#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2	"0123ffff89abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID3	"fedcba98765432100123456789abcdef0123456789abcdef0123456789abcdef"
#define UID	"11111111-2222-3333-4444-555555555555"
#define UID_	"11111111_2222_3333_4444_555555555555"

static const struct {
	const char *path, *runtime, *id, *pod;
	bool whole;
} paths[] = {
	{ "/", NULL, NULL, NULL, false },
	{ "/system.slice/ssh.service", NULL, NULL, NULL, false },
	{ "/user.slice/user-1000.slice/session-2.scope", NULL, NULL, NULL, false },
	{ "/system.slice/docker.service", NULL, NULL, NULL, false },
	{ "/system.slice/docker-" ID ".scope", "docker", ID, "", true },
	{ "/system.slice/docker-" ID ".scope/init", "docker", ID, "", false },
	{ "/docker/" ID, "docker", ID, "", true },
	{ "/docker/buildkit", NULL, NULL, NULL, false },
	{ "/machine.slice/libpod-" ID ".scope/container", "podman", ID, "", false },
	{ "/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL, NULL, false },
	{ "/libpod_parent/libpod-" ID, "podman", ID, "", true },
	{ "/default/" ID, "containerd", ID, "", true },
	{ "/system.slice/nerdctl-" ID ".scope", "containerd", ID, "", true },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/"
	  "cri-containerd-" ID ".scope", "containerd", ID, UID, true },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope", "cri-o", ID, UID, true },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope", "kubernetes", "",
	  UID, false },
	{ "/kubepods/burstable/pod" UID "/" ID, "container", ID, UID, true },
	{ "/kubepods/burstable/pod" UID, "kubernetes", "", UID, true },
	{ "/kubepods/besteffort/pod0123456789abcdef0123456789abcdef/" ID3, "container", ID3,
	  "0123456789abcdef0123456789abcdef", true },
	{ "/kubepods/burstable/podium", NULL, NULL, NULL, false },
	{ "/docker/" ID "/kubelet/kubepods/pod" UID "/" ID2, "container", ID2, UID, true },
	{ "/machine.slice/machine-deb\\x2d12.scope/payload", "systemd", "deb-12", "", false },
	{ "/machine.slice/systemd-nspawn@web.service/payload", "systemd", "web", "", false },
	{ "/lxc/ct1/init.scope", "lxc", "ct1", "", false },
	{ "/lxc.payload.ct1", "lxc", "ct1", "", true },
	/* not 64 digits; not digits */
	{ "/docker/0123456789ab", NULL, NULL, NULL, false },
	{ "/docker/xyz3456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", NULL, NULL,
	  NULL, false },
};

static void check_paths(void)
{
	struct container c;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const bool found = container_of_path(paths[i].path, &c);

		if (!paths[i].runtime)
			ok(!found, "%s: no container", paths[i].path);
		else
			ok(found && !strcmp(c.runtime, paths[i].runtime) &&
			   !strcmp(c.id, paths[i].id) && !strcmp(c.pod, paths[i].pod) &&
			   c.whole == paths[i].whole, "%s: %s, %.12s, %s", paths[i].path,
			   c.runtime, c.id, c.pod);
	}
}

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s", path);
	for (char *p = full; (p = strchr(p + 1, '/'));) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = text ? fopen(full, "w") : NULL;
	if (!text ? mkdir(full, 0700) : !f || fputs(text, f) < 0)
		perror(full);
	if (f)
		fclose(f);
}

static void make_host(void)
{
	put("root/var/lib/docker/containers/" ID "/config.v2.json",
	    "{\"State\":{\"Name\":\"/no\"},\"ID\":\"" ID "\",\"Name\":\"/web\",\"Driver\":\"x\"}");
	put("root/var/lib/containers/storage/overlay-containers/containers.json",
	    "[{\"id\":\"" ID3 "\",\"names\":[\"db\",\"db-alias\"],\"image\":\"i\"},"
	    "{\"id\":\"" ID2 "\",\"names\":[\"cache\"],\"flags\":{\"id\":\"" ID "\"}}]");
	put("root/var/log/pods/shop_cart-5d9_" UID, NULL);
	put("root/var/log/pods/other_cart-5d9_99999999-2222-3333-4444-555555555555", NULL);
	put("root/var/log/containers/cart-5d9_shop_app-" ID2 ".log", "");
	put("mount/system.slice/docker-" ID ".scope/init", NULL);
	put("mount/machine.slice/libpod-" ID3 ".scope/container", NULL);
	put("mount/machine.slice/machine-deb\\x2d12.scope", NULL);
	put("mount/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID2 ".scope", NULL);
}

static void check_names(void)
{
	static const struct {
		const char *path, *label;
	} names[] = {
		{ NULL, "[no container]" }, { "/", "[no container]" },
		{ "/docker/" ID, "web (docker 0123456789ab)" },
		{ "/machine.slice/libpod-" ID3 ".scope", "db (podman fedcba987654)" },
		{ "/machine.slice/machine-deb\\x2d12.scope", "deb-12 (systemd)" },
		{ "/kubepods/pod" UID "/" ID2, "shop/cart-5d9/app (container 0123ffff89ab)" },
		{ "/kubepods/pod" UID, "pod shop/cart-5d9" },
		{ "/kubepods/podaaaaaaaa-2222-3333-4444-555555555555",
		  "pod aaaaaaaa-2222-3333-4444-555555555555" },
		{ "/docker/aaaaaaaa89abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		  "docker aaaaaaaa89ab" },
	};
	char label[CONTAINER_LABEL];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		container_label_of("root", names[i].path, label);
		ok(!strcmp(label, names[i].label), "%s: %s", names[i].path ? names[i].path :
		   "(unknown)", label);
	}
	put("root/var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/web\", broken");
	container_label_of("root", "/docker/" ID, label);
	ok(!strcmp(label, "docker 0123456789ab"), "a file that is no JSON gives no name: %s",
	   label);
	put("root/var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/web\"}");
}

/* The cgroup, or "usage", "none". */
static const char *resolve(const char *container, const char *pod)
{
	static char path[512];
	static struct opts o;
	int ret;

	memset(&o, 0, sizeof(o));
	if (container)
		o.containers.at[o.containers.nr++] = container;
	if (pod)
		o.pods.at[o.pods.nr++] = pod;
	ret = containers_resolve_at(&o, "rss", "mount", "root");
	if (ret)
		return ret == 2 ? "usage" : "none";
	snprintf(path, sizeof(path), "%s", o.cgroups.at[0]);
	free((char *)(uintptr_t)o.cgroups.at[0]);
	return path;
}

#define resolves(container, pod, to)							\
	ok(!strcmp(resolve(container, pod), to), "--%s %s: %s", container ? "container" :	\
	   "pod", container ? container : pod, to)

static void check_resolve(void)
{
	const char *const container = NULL, *const pod = NULL;

	resolves("web", pod, "/system.slice/docker-" ID ".scope");
	resolves(ID, pod, "/system.slice/docker-" ID ".scope");
	resolves("01234", pod, "/system.slice/docker-" ID ".scope");
	resolves("01234567A", pod, "none");
	resolves("FEDC", pod, "/machine.slice/libpod-" ID3 ".scope");
	resolves("db", pod, "/machine.slice/libpod-" ID3 ".scope");
	resolves("0123", pod, "usage");		/* two of them */
	resolves("01", pod, "none");		/* too short for an ID, and no name */
	resolves("deb-12", pod, "/machine.slice/machine-deb\\x2d12.scope");
	resolves("app", pod, "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID2
		 ".scope");
	resolves("cart-5d9/app", pod, "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-"
		 ID2 ".scope");
	resolves("d9/app", pod, "none");
	resolves("cart-5d9", pod, "none");
	resolves(container, "cart-5d9", "/kubepods.slice/kubepods-pod" UID_ ".slice");
	resolves(container, "shop/cart-5d9", "/kubepods.slice/kubepods-pod" UID_ ".slice");
	resolves(container, "other/cart-5d9", "none");
	resolves(container, UID, "/kubepods.slice/kubepods-pod" UID_ ".slice");
	resolves(container, "", "none");
}

/* By paths alone: a recording of another machine. */
static void check_wanted(void)
{
	static struct opts o;

	o.containers.at[o.containers.nr++] = "0123456";
	ok(container_wanted(&o, "/docker/" ID), "a container by its ID");
	ok(container_wanted(&o, "/docker/" ID "/a/b"), "a cgroup below it");
	ok(container_wanted(&o, "/docker/" ID "/kubepods/pod" UID "/" ID2),
	   "a container in that container");
	ok(!container_wanted(&o, "/docker/" ID2), "another container");
	ok(!container_wanted(&o, "/"), "no container");
	o.pods.at[o.pods.nr++] = UID;
	ok(container_wanted(&o, "/kubepods/pod" UID "/" ID3), "a container of the pod");
	ok(container_wanted(&o, "/kubepods/pod" UID), "the pod's own cgroup");
}

int main(void)
{
	scratch_begin();
	make_host();
	check_paths();
	check_names();
	check_resolve();
	check_wanted();
	if (chdir("/") || scratch_end())
		return 1;
	return tap_done();
}
