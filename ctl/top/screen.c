// SPDX-License-Identifier: GPL-2.0-or-later
/* Draw on the terminal by ncurses; without ncurses, say that it is missing. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "top/screen.h"
#include "top/state.h"

#ifdef TOP_CURSES

#include <curses.h>
#include <langinfo.h>
#include <term.h>

static struct screen *screen;
static bool utf8;

static bool can_move(void)
{
	const char *move = tigetstr("cup");

	return move && move != (const char *)-1;
}

bool screen_can(void)
{
	int err;

	return setupterm(NULL, STDOUT_FILENO, &err) == OK && can_move();
}

static void choose_colors(void)
{
	const char *no = getenv("NO_COLOR");

	if ((no && *no) || !has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(1, COLOR_YELLOW, -1);
	init_pair(2, COLOR_RED, -1);
}

int screen_open(char why[160])
{
	const char *term = getenv("TERM");

	setlocale(LC_CTYPE, "");
	utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		snprintf(why, 160, "the terminal '%.40s' cannot be opened", term ? term : "");
		return -ENOTTY;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	nodelay(stdscr, TRUE);
	curs_set(0);
	choose_colors();
	return 0;
}

void screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

void screen_size(int *rows, int *cols)
{
	getmaxyx(stdscr, *rows, *cols);
}

void screen_resized(void)
{
	struct winsize ws;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col)
		resizeterm(ws.ws_row, ws.ws_col);
	clearok(curscr, TRUE);
}

static chtype attributes(enum canvas_look look)
{
	switch (look) {
	case LOOK_STRONG: return A_BOLD;
	case LOOK_BAR: return A_REVERSE;
	case LOOK_CHOSEN: return A_REVERSE | A_BOLD;
	case LOOK_WATCH: return COLOR_PAIRS > 1 ? COLOR_PAIR(1) : A_BOLD;
	case LOOK_BAD: return COLOR_PAIRS > 1 ? COLOR_PAIR(2) | A_BOLD : A_BOLD;
	default: return A_NORMAL;
	}
}

void screen_show(const struct canvas *c)
{
	const struct canvas_cell *cell = c->at;

	for (int y = 0; y < c->rows; y++)
		for (int x = 0; x < c->cols; x++, cell++) {
			attrset((int)attributes((enum canvas_look)cell->look));
			mvaddstr(y, x, utf8 || !(cell->ch[0] & 0x80) ? cell->ch : "?");
		}
	refresh();
}

int screen_key(void)
{
	static const struct {
		int curses, ours;
	} keys[] = {
		{ KEY_UP, TOP_KEY_UP }, { KEY_DOWN, TOP_KEY_DOWN }, { KEY_LEFT, TOP_KEY_LEFT },
		{ KEY_RIGHT, TOP_KEY_RIGHT }, { KEY_PPAGE, TOP_KEY_PAGE_UP },
		{ KEY_NPAGE, TOP_KEY_PAGE_DOWN }, { KEY_HOME, TOP_KEY_HOME },
		{ KEY_END, TOP_KEY_END }, { KEY_BACKSPACE, TOP_KEY_BACKSPACE },
		{ 127, TOP_KEY_BACKSPACE }, { 8, TOP_KEY_BACKSPACE }, { KEY_ENTER, '\n' },
		{ '\r', '\n' },
	};
	const int key = getch();

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (key == keys[i].curses)
			return keys[i].ours;
	return key == ERR ? TOP_NO_KEY : key < 256 ? key : 0;
}

#else

bool screen_can(void)
{
	return false;
}

int screen_open(char why[160])
{
	snprintf(why, 160, "built without ncurses (libncurses-dev, ncurses-devel); `memtap top 1 "
		 "| cat` prints the same line by line");
	return -EOPNOTSUPP;
}

void screen_close(void)
{
}

void screen_size(int *rows, int *cols)
{
	*rows = *cols = 0;
}

void screen_resized(void)
{
}

void screen_show(const struct canvas *c)
{
	(void)c;
}

int screen_key(void)
{
	return TOP_NO_KEY;
}

#endif
