// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap doctor`: check whether the module is installed, may be loaded, and can be built. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "doctor/int.h"

static bool is_loaded(const struct host *h)
{
	return h->loaded == HOST_YES;
}

static bool is_there(const struct host *h)
{
	return is_loaded(h) || *h->module;
}

/* "v0.1.0-12-g3ab2f" and "0.1.0" are the same release. */
static bool same_version(const char *a, const char *b)
{
	size_t n;

	a += *a == 'v';
	b += *b == 'v';
	n = strcspn(a, "-");
	return n == strcspn(b, "-") && !strncmp(a, b, n);
}

void look_module(struct doctor *d)
{
	const struct host *h = d->host;

	if (is_loaded(h) && *h->loaded_version && !same_version(h->loaded_version, d->version))
		found_err(d, "module", DOCTOR_NOTE, ERR_INFO, ENOTTY, "");
	else if (is_loaded(h))
		found(d, "module", DOCTOR_OK, "loaded%s%s", *h->loaded_version ? ", version " : "",
		      h->loaded_version);
	else if (*h->module)
		found_err(d, "module", DOCTOR_OK, ERR_DEVICE, ENOENT, "");
	else	/* other findings say why it cannot be built */
		found_err(d, "module", DOCTOR_NOTE, ERR_LOAD, ENOENT, h->release);
	if (h->modules_disabled == HOST_YES && !is_loaded(h))
		mend(found(d, "module", DOCTOR_PROBLEM, "kernel.modules_disabled is 1: no module "
			   "can be loaded until the next boot"),
		     "reboot, and load memtap before it is set");
}

/* DKMS signs with its own key; otherwise make a key, enrol it, and sign. */
static void put_ways(struct doctor_finding *f, const struct host *h)
{
	if (h->dkms_key == HOST_YES && h->dkms == HOST_YES) {
		mend(f, "enrol the key of DKMS, reboot, and confirm it in the firmware");
		command(f, "mokutil --import /var/lib/dkms/mok.pub");
		return;
	}
	mend(f, "make a key, enrol it (confirm it in the firmware at the next boot), and sign "
		"the module");
	command(f, "openssl req -new -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=memtap/ "
		"-outform DER -keyout MOK.priv -out MOK.der");
	command(f, "mokutil --import MOK.der");
	command(f, "/lib/modules/%.64s/build/scripts/sign-file sha256 MOK.priv MOK.der %.80s",
		h->release, *h->module ? h->module : "kmod/memtap.ko");
}

void look_signing(struct doctor *d)
{
	const struct host *h = d->host;
	const bool locked = *h->lockdown && strcmp(h->lockdown, "none") != 0;
	const bool forced = h->sig_enforce == HOST_YES ||
			    h->config[CFG_MODULE_SIG_FORCE] == HOST_YES;
	struct doctor_finding *f;

	if (*h->config_path && h->config[CFG_MODULES] == HOST_NO)
		return;
	if (!locked && !forced) {
		if (h->secure_boot != HOST_YES) {
			found(d, "signing", DOCTOR_OK, "the kernel loads unsigned "
				"modules%s", h->secure_boot == HOST_NO ? ", Secure Boot is off" :
			      "");
			return;
		}
		f = found(d, "signing", is_loaded(h) ? DOCTOR_OK : DOCTOR_NOTE, "Secure Boot is "
			  "on: the kernel may require signed modules, but does not show it%s",
			  is_loaded(h) ? "; the module is loaded" : "");
		if (!is_loaded(h))
			put_ways(f, h);
		return;
	}
	if (is_loaded(h)) {
		found(d, "signing", DOCTOR_OK, "%s%s%s; the module is loaded", locked ?
		      "locked down: " : "signed modules only", locked ? h->lockdown : "",
		      h->secure_boot == HOST_YES ? ", Secure Boot" : "");
	} else if (h->module_signed == HOST_YES) {
		mend(found(d, "signing", DOCTOR_NOTE, "the kernel loads only signed modules, and "
			   "%.100s is signed", h->module),
		     "`memtap load` shows whether the kernel trusts the key");
	} else {
		f = locked ? found_err(d, "signing", DOCTOR_PROBLEM, ERR_LOCKDOWN, 0, h->lockdown) :
			     found_err(d, "signing", DOCTOR_PROBLEM, ERR_LOAD, ENOKEY, "");
		put_ways(f, h);
	}
	if (locked)
		found(d, "lockdown", DOCTOR_NOTE, "%s: only built-in events and tracepoints; "
		      "probes on kernel functions (k:) are not allowed", h->lockdown);
}

/* The package of headers, by the way the distribution names its kernels. */
static const char *headers_of(const char *release)
{
	if (strstr(release, ".el7"))
		return "yum install kernel-devel";
	if (strstr(release, ".el") || strstr(release, ".fc") || strstr(release, ".amzn"))
		return "dnf install kernel-devel";
	return "apt install linux-headers";
}

void look_headers(struct doctor *d)
{
	const struct host *h = d->host;
	struct doctor_finding *f;

	if (h->headers == HOST_YES) {
		found(d, "headers", DOCTOR_OK, "/lib/modules/%s/build", h->release);
		return;
	}
	f = found(d, "headers", is_there(h) ? DOCTOR_OK : DOCTOR_PROBLEM, "no headers of Linux %s "
		  "(/lib/modules/%s/build)%s", h->release, h->release, is_there(h) ?
		  "; the module is already built" : "");
	if (is_there(h))
		return;
	mend(f, "install them, or build the module on a machine that has them (make KERNELDIR=...) "
	     "and run `memtap load FILE.ko`");
	command(f, "%s-%.64s", headers_of(h->release), h->release);
}

void look_compiler(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->compiler_there == HOST_YES)
		found(d, "compiler", DOCTOR_OK, "the kernel's, %s", h->built_by);
	else if (is_there(h) || !*h->compiler)
		;	/* not needed, or unknown which one is */
	else if (h->compiler_other == HOST_YES)
		mend(found(d, "compiler", DOCTOR_NOTE, "the kernel was built by %s; the compiler "
			   "here differs", h->built_by),
		     "if the build fails, use the same compiler: make CC=%s-%d",
		     strstr(h->compiler, "clang") ? "clang" : "gcc", h->compiler_major);
	else
		mend(found(d, "compiler", DOCTOR_PROBLEM, "the kernel was built by %s; no compiler "
			   "is installed", h->built_by),
		     "install %s and make, or build the module elsewhere", h->compiler);
	if (h->make == HOST_NO && !is_there(h))
		mend(found(d, "compiler", DOCTOR_PROBLEM, "make is not installed"), "install make");
}

void look_dkms(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->dkms == HOST_YES)
		found(d, "dkms", DOCTOR_OK, "DKMS builds the module for future kernels");
	else if (h->dkms == HOST_NO)
		mend(found(d, "dkms", DOCTOR_OK, "not used: the next kernel will lack the "
			   "module"), "`make dkms-install` builds it for each new kernel");
}

void look_debuginfo(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->debuginfo == HOST_YES)
		found(d, "debuginfo", DOCTOR_OK, "found in /usr/lib/debug");
	else if (h->debuginfo == HOST_NO)
		mend(found(d, "debuginfo", DOCTOR_OK, "none in /usr/lib/debug: functions still "
			   "have names"),
		     "debuginfo packages add source lines and inlined functions");
}
