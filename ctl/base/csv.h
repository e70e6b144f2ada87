/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CSV_H
#define _CSV_H

#include <stdio.h>

/*
 * A stream that takes the JSON documents of commands, and writes their tables to @out as comma-
 * separated values (RFC 4180), with @separator between columns.  A document with "functions" or
 * "rows" has a line for each of these; another one is a line.  Columns are the fields, those of
 * objects in it with a dot; what a list has is joined by ';'.  Each line begins with the document's
 * "real_ns" (or "time_ns") and "interval", if it has them.  Closing it does not close @out.
 * NULL: no memory.
 */
FILE *csv_open(FILE *out, const char *separator);

#endif
