/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../include/uapi/memtap.h"
