// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/host_text.c ctl/doctor/found.c */
/* LINK: ctl/machine/account.c ctl/machine/cgroup.c ctl/machine/fields.c */
/* LINK: ctl/machine/kernel.c ctl/machine/log.c ctl/machine/machine.c */
/* LINK: ctl/machine/process.c ctl/machine/text.c ctl/machine/zones.c */
/* LINK: ctl/triage/advice.c ctl/triage/grow.c ctl/triage/kernel.c ctl/triage/kills.c */
/* LINK: ctl/triage/look.c ctl/triage/rates.c ctl/triage/pressure.c */
/* LINK: ctl/render/census.c ctl/render/triage.c ctl/render/triage_json.c */
/* LINK: ctl/render/triage_page.c ctl/base/json.c ctl/base/text.c */
/* LINK: ctl/machine/host.c ctl/machine/host_build.c ctl/machine/host_kernel.c */
/* LINK: ctl/doctor/doctor.c ctl/doctor/kernel.c ctl/doctor/module.c ctl/render/doctor.c */
/* LINK: ctl/base/err.c -lz */
/*
 * machine BEFORE AFTER [census|json|color|line|seconds=N]...: what is said of a machine whose
 * /proc and /sys were so, and N seconds (2) later so.  machine advice: the table's commands.
 * machine BEFORE AFTER doctor: can memtap run on the machine that AFTER is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/doctor.h"
#include "render/triage.h"

/* "MOUNT USED SIZE" in the tree's own file "space" */
static int space(const struct machine_at *at, const char *path, __u64 *used, __u64 *size)
{
	char name[512], file[4096];
	unsigned long long u, s;
	int err = -ENOENT;
	FILE *f;

	snprintf(file, sizeof(file), "%s/space", at->root);
	f = fopen(file, "r");
	if (!f)
		return -ENOENT;
	while (err && fscanf(f, "%511s %llu %llu", name, &u, &s) == 3)
		if (!strcmp(name, path)) {
			*used = u;
			*size = s;
			err = 0;
		}
	fclose(f);
	return err;
}

static int read_tree(const char *root, unsigned int what, struct machine_at *at,
		     struct machine *m)
{
	int err;

	*at = (struct machine_at){
		.root = root, .page = 4096, .budget_ns = 60000000000ULL, .space = space,
	};
	err = machine_read(at, what, m);
	if (err)
		fprintf(stderr, "%s: %s\n", root, strerror(-err));
	return err;
}

static int doctor(const char *root, bool json)
{
	const struct machine_at at = { .root = root, .page = 4096 };
	const struct doctor_opts o = { .out = stdout, .json = json };
	struct doctor d;
	struct host h;

	host_read(&at, &h);
	doctor_look(&d, &h, "v0.1.0-7-g1234567");
	render_doctor(&d, &o);
	return d.problems ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct triage_opts o = { .out = stdout };
	struct machine_at at_before, at;
	struct machine before, now;
	struct triage t;
	bool census = false, doc = false;
	double seconds = 2;
	unsigned int what;
	int ret = 1;

	if (argc == 2 && !strcmp(argv[1], "advice")) {
		for (size_t i = 0; triage_advice(i); i++)
			puts(triage_advice(i));
		return 0;
	}
	if (argc < 3)
		return 2;
	for (int i = 3; i < argc; i++) {
		census |= !strcmp(argv[i], "census");
		o.json |= !strcmp(argv[i], "json");
		o.line |= !strcmp(argv[i], "line");
		o.color |= !strcmp(argv[i], "color");
		doc |= !strcmp(argv[i], "doctor");
		sscanf(argv[i], "seconds=%lf", &seconds);
	}
	if (doc)
		return doctor(argv[2], o.json);
	what = census ? MACHINE_SLAB | MACHINE_VMALLOC | MACHINE_SITES :
	       MACHINE_SLAB | MACHINE_LOG;
	if (!read_tree(argv[1], what, &at_before, &before)) {
		if (!read_tree(argv[2], what, &at, &now)) {
			before.ns = 0;
			now.ns = (__u64)(seconds * 1e9);
			ret = triage_look(&t, &at, &before, &now, census) ? 1 : 0;
			if (!ret) {
				(census ? render_census : render_triage)(&t, &o);
				triage_free(&t);
			}
		}
		machine_free(&now);
	}
	machine_free(&before);
	return ret;
}
