/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _FLAME_DATA_H
#define _FLAME_DATA_H

/* Text, ending with 0. */
extern const char flame_head[];		/* the page down to its scripts */
extern const char flame_library[];	/* d3 and d3-flame-graph */
extern const char flame_app[];		/* what draws the data */
extern const char flame_licenses[];	/* of the library */

/* The same of a history's page, which needs no library. */
extern const char history_head[], history_app[];

#endif
