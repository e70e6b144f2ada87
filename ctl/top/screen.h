/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TOP_SCREEN_H
#define _TOP_SCREEN_H

#include "top/canvas.h"

/* The terminal: draw changes, read keys.  TOP_CURSES: built with ncurses. */

/* Has the terminal a cursor that can be moved? */
bool screen_can(void);
/* 0; else a sentence in @why, and nothing is open. */
int screen_open(char why[160]);
void screen_close(void);
void screen_size(int *rows, int *cols);
/* After SIGWINCH. */
void screen_resized(void);
void screen_show(const struct canvas *c);
/* enum top_key, or a character; TOP_NO_KEY: none is there. */
int screen_key(void);

#endif
