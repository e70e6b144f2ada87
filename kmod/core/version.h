/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_VERSION_H
#define _MEMTAP_VERSION_H

/* For messages only: nothing branches on it.  The build may say more exactly. */
#ifndef MEMTAP_VERSION
#define MEMTAP_VERSION	"0.1"
#endif

#endif
