// SPDX-License-Identifier: GPL-2.0-or-later
/* Draw text into the cells of a screen. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "port/utf8.h"
#include "top/canvas.h"

#define LARGEST		1000		/* of a screen that says it has a size */

bool canvas_begin(struct canvas *c, int rows, int cols)
{
	struct canvas_cell *at;

	rows = rows < 1 ? 1 : rows > LARGEST ? LARGEST : rows;
	cols = cols < 1 ? 1 : cols > LARGEST ? LARGEST : cols;
	at = realloc(c->at, (size_t)rows * (size_t)cols * sizeof(*at));
	if (!at)
		return false;
	c->at = at;
	c->rows = rows;
	c->cols = cols;
	for (int i = 0; i < rows * cols; i++)
		at[i] = (struct canvas_cell){ " ", LOOK_PLAIN };
	return true;
}

void canvas_free(struct canvas *c)
{
	free(c->at);
	memset(c, 0, sizeof(*c));
}

static int char_at(const char *text, const char **shown)
{
	int is_shown, len = utf8_shown(text, &is_shown);

	*shown = is_shown ? text : "?";
	return len;
}

int canvas_put(struct canvas *c, int y, int x, enum canvas_look look, const char *text)
{
	const char *shown;
	int len;

	if (y < 0 || y >= c->rows)
		return x;
	for (; *text; text += len, x++) {
		len = char_at(text, &shown);
		if (x < 0 || x >= c->cols)
			continue;
		snprintf(c->at[y * c->cols + x].ch, sizeof(c->at[0].ch), "%.*s",
			 *shown == '?' ? 1 : len, shown);
		c->at[y * c->cols + x].look = look;
	}
	return x;
}

int canvas_printf(struct canvas *c, int y, int x, enum canvas_look look, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return canvas_put(c, y, x, look, text);
}

void canvas_right(struct canvas *c, int y, int end, int width, enum canvas_look look,
		  const char *text)
{
	const int len = (int)strlen(text);	/* numbers */

	canvas_put(c, y, end - (len < width ? len : width), look, text);
}

void canvas_line(struct canvas *c, int y, enum canvas_look look)
{
	if (y >= 0 && y < c->rows)
		for (int x = 0; x < c->cols; x++)
			c->at[y * c->cols + x].look = look;
}

void canvas_print(const struct canvas *c, FILE *out)
{
	for (int y = 0; y < c->rows; y++) {
		int end = c->cols;

		while (end && !strcmp(c->at[y * c->cols + end - 1].ch, " "))
			end--;
		for (int x = 0; x < end; x++)
			fputs(c->at[y * c->cols + x].ch, out);
		fputc('\n', out);
	}
}
