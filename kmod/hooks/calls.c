// SPDX-License-Identifier: GPL-2.0-only
/* Find the path of the file that a system call is about. */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "hooks/calls.h"
#include "record/guard.h"
#include "record/spaces.h"

#define CUT	"..."

/* The end of a long path tells more than its beginning. */
static void keep_end(char path[CALL_PATH], const char *from)
{
	const size_t len = strlen(from);

	if (len < CALL_PATH) {
		memcpy(path, from, len + 1);
		return;
	}
	memcpy(path, CUT, sizeof(CUT) - 1);
	memcpy(path + sizeof(CUT) - 1, from + len - (CALL_PATH - sizeof(CUT)),
	       CALL_PATH - sizeof(CUT) + 1);
}

/* d_path() takes spinlocks, and asks for the root of current. */
void memtap_call_file_path(const struct file *file, char path[CALL_PATH])
{
	const char *found;

	path[0] = '\0';
	if (!memtap_plain_spinlocks() || !current->fs)
		return;
	preempt_disable();
	found = d_path(&file->f_path, memtap_path_buf(), MEMTAP_PATH_BUF);
	if (!IS_ERR(found))
		keep_end(path, found);
	preempt_enable();
}

void memtap_call_path(int fd, char path[CALL_PATH])
{
	struct file *file = fget(fd);

	path[0] = '\0';
	if (!file)
		return;
	memtap_call_file_path(file, path);
	fput(file);
}
