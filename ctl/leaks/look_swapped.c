// SPDX-License-Identifier: GPL-2.0-or-later
/* Count the swapped-out memory of an inspected process: reading it would swap it in. */
#include "base/err.h"
#include "base/text.h"
#include "leaks/leaks.h"
#include "target/procmaps.h"

__u64 look_swapped(pid_t tid)
{
	return procmaps_status(tid, "VmSwap") << 10;
}

void look_announce_swapped(pid_t tid, pid_t pid, bool read)
{
	const __u64 swapped = look_swapped(tid);
	char bytes[TEXT_LEN];

	if (!swapped)
		return;
	text_bytes(bytes, (__s64)swapped, false);
	if (read)
		note("process %d has %s swapped out, which will be read and thereby swapped in",
		     pid, bytes);
	else
		note("process %d has %s swapped out, which will not be read; --swapped reads it "
		     "and swaps it in", pid, bytes);
}
