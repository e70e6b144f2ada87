// SPDX-License-Identifier: GPL-2.0-or-later
/* Load the module, and report errors as sentences. */
#include <errno.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "session/module.h"
#include "session/session.h"

/* With udev, the device's file comes a moment after the module. */
static int wait_for_device(void)
{
	const struct timespec pause = { 0, 20 * 1000 * 1000 };

	for (int i = 0; i < 100; i++) {
		if (!access(MEMTAP_DEVICE, F_OK))
			return 0;
		nanosleep(&pause, NULL);
	}
	return fail_text("the module is loaded, but %s does not appear; is /dev a "
			 "devtmpfs, or does udev run?", MEMTAP_DEVICE);
}

static int load_failed(int err, const char *path)
{
	struct utsname uts;
	char word[32];

	if ((err == -EPERM || err == -EACCES || err == -ENOKEY ||
	     err == -EKEYREJECTED) && !geteuid() &&
	    module_lockdown(word, sizeof(word)))
		return fail(ERR_LOCKDOWN, err, "%s", word);
	if (err == -ENOENT && path && access(path, F_OK))
		return fail(ERR_PLAIN, err, "%s", path);
	uname(&uts);
	return fail(ERR_LOAD, err, "%s",
		    path && err != -ENOENT ? path : uts.release);
}

int session_load(const char *path, const char *params)
{
	int err;

	err = module_load(path, params);
	if (err == -EEXIST) {
		note("the module is already loaded");
		if (params[0])
			return fail_text("its parameters stay as they are; write to "
					 "/sys/module/memtap/parameters/ instead");
		return wait_for_device();
	}
	return err ? load_failed(err, path) : wait_for_device();
}
