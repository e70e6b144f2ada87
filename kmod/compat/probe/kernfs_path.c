// SPDX-License-Identifier: GPL-2.0-only
/* v4.10: kernfs_path_from_node() is exported; it was another one before */
#include <linux/kernfs.h>
#include "probe.h"

PROBE_IS(__builtin_types_compatible_p(typeof(&kernfs_path_from_node),
	int (*)(struct kernfs_node *, struct kernfs_node *, char *, size_t)));
