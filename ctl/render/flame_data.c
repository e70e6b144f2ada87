// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Include the fixed parts of pages at build time.  The assembler finds them by -Ictl.
 */
#include "render/flame_data.h"

#define TEXT(_name, _files)						\
	__asm__(".pushsection .rodata\n"				\
		".global " #_name "\n"					\
		#_name ":\n"						\
		_files							\
		".byte 0\n"						\
		".popsection\n")

#define FILE_(_path)	".incbin \"render/flame/" _path "\"\n"
#define SCRIPT(_name)	FILE_("vendor/" _name ".min.js") ".ascii \";\\n\"\n"
#define LICENSE(_what, _name)						\
	".ascii \"" _what "\\n\\n\"\n" FILE_("vendor/LICENSE." _name) ".ascii \"\\n\"\n"

TEXT(flame_head, FILE_("head.html"));

/* In the order in which they need each other. */
TEXT(flame_library,
     SCRIPT("d3-array") SCRIPT("d3-color") SCRIPT("d3-dispatch")
     SCRIPT("d3-ease") SCRIPT("d3-format") SCRIPT("d3-hierarchy")
     SCRIPT("d3-interpolate") SCRIPT("d3-time") SCRIPT("d3-time-format")
     SCRIPT("d3-timer") SCRIPT("d3-scale") SCRIPT("d3-selection")
     SCRIPT("d3-transition") SCRIPT("d3-flame-graph"));

TEXT(flame_app, FILE_("app.js"));

TEXT(flame_licenses,
     LICENSE("d3-flame-graph", "d3-flame-graph")
     LICENSE("d3-array, -color, -dispatch, -format, -hierarchy, -interpolate, "
	     "-scale, -selection, -time, -time-format, -timer, -transition", "d3")
     LICENSE("d3-ease", "d3-ease") LICENSE("internmap", "internmap"));

TEXT(history_head, ".incbin \"render/history/head.html\"\n");
TEXT(history_app, ".incbin \"render/history/app.js\"\n");
