// SPDX-License-Identifier: GPL-2.0-or-later
/* Compute the maximum size of a copy. */
#include <unistd.h>

#include "leaks/copy.h"
#include "machine/machine.h"

__u64 copy_max_bytes(void)
{
	const struct machine_at at = machine_here();
	struct machine_room room;

	return machine_room(&at, getpid(), &room) ? room.bytes / 2 : 0;
}
