// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the program that a wrapper command runs; see wrapper.h. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "target/wrapper.h"
#include "target/target.h"

#define MAX_WORDS	64
#define MAX_DEPTH	8		/* a wrapper of a wrapper ... */

struct walk {
	wrapper_fn fn;
	void *ctx;
	size_t nr;			/* programs */
	int depth;
};

/* Programs whose arguments are another one: their options that have a value, and so on. */
static const struct wrapper {
	const char *name;
	const char *with_value;		/* letters */
	size_t words;			/* before the program: a time, a mask */
	bool forks;
} wrappers[] = {
	{ "env", "uCS", 0, false }, { "nice", "n", 0, false }, { "nohup", "", 0, false },
	{ "ionice", "cn", 0, false }, { "chrt", "TPD", 1, false }, { "taskset", "", 1, false },
	{ "setsid", "", 0, false }, { "stdbuf", "ioe", 0, false }, { "setarch", "", 0, false },
	{ "prlimit", "", 0, false }, { "numactl", "CNmip", 0, false },
	{ "timeout", "ks", 1, true }, { "sudo", "ugpCDhrtTU", 0, true },
	{ "time", "fo", 0, true }, { "flock", "wE", 1, true },
};

static const struct wrapper *find_wrapper(const char *path)
{
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (!strcmp(wrappers[i].name, base_name(path)))
			return &wrappers[i];
	return NULL;
}

bool wrapper_is_shell(const char *path)
{
	static const char *const names[] = { "sh", "bash", "dash", "ksh", "zsh", "ash" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], base_name(path)))
			return true;
	return false;
}

static bool is_assignment(const char *word)
{
	size_t len = 0;

	while (isalnum((unsigned char)word[len]) || word[len] == '_')
		len++;
	return len && !isdigit((unsigned char)*word) && word[len] == '=';
}

static const char *preload_of(const char *word, const char *before)
{
	static const char name[] = "LD_PRELOAD=";

	return strncmp(word, name, sizeof(name) - 1) ? before : word + sizeof(name) - 1;
}

/*
 * Behind the options of a wrapper.  Long ones have their values joined; else a word follows
 * that is no program, and ends the search.
 */
static char *const *skip_options(const struct wrapper *w, char *const *argv)
{
	while (*argv && (*argv)[0] == '-' && (*argv)[1]) {
		const char *arg = *argv++;

		if (!strcmp(arg, "--"))
			break;
		if (arg[1] == '-')
			continue;
		/* the value is joined, or the next word */
		for (const char *p = arg + 1; *p; p++)
			if (strchr(w->with_value, *p)) {
				argv += !p[1] && *argv;
				break;
			}
	}
	return argv;
}

/* Where the program of a wrapper begins; NULL: nowhere. */
static char *const *behind(const struct wrapper *w, char *const *argv, const char **preload)
{
	argv = skip_options(w, argv + 1);
	for (size_t i = 0; i < w->words && *argv; i++)
		argv++;
	while (*argv && is_assignment(*argv))
		*preload = preload_of(*argv++, *preload);
	return *argv ? argv : NULL;
}

/* ---- shell ---- */

/* A word, without its quotes; false: it has what only a shell can expand, or is too long. */
static bool read_word(const char **text, char *word, size_t room)
{
	const char *p = *text;
	bool known = true;
	char quote = 0;
	size_t len = 0;

	for (; *p && (quote || !strchr(" \t\n;&|(){}<>", *p)); p++) {
		if (*p == quote) {
			quote = 0;
		} else if (!quote && (*p == '\'' || *p == '"')) {
			quote = *p;
		} else {
			if (*p == '\\' && quote != '\'' && p[1])
				p++;
			else if (quote != '\'' && strchr("$`*?[", *p))
				known = false;
			if (len + 1 < room)
				word[len++] = *p;
			else
				known = false;
		}
	}
	word[len] = '\0';
	*text = p;
	return known;
}

static bool is_reserved(const char *word)
{
	static const char *const words[] = {
		"exec", "then", "do", "else", "elif", "if", "while", "until", "!", "command",
		"time",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

static int one_command(struct walk *w, char *const *argv, const char *preload);

struct command {
	char room[PATH_MAX];		/* its words, one behind the other */
	size_t used, nr;
	char *argv[MAX_WORDS + 1];
	const char *preload;
};

static void take_word(struct command *c, bool known)
{
	char *word = c->room + c->used;

	if (!c->nr && is_assignment(word)) {
		c->preload = preload_of(word, c->preload);
	} else if (!c->nr && !known) {
		c->nr = MAX_WORDS;	/* nobody knows what is run */
		return;
	} else if (c->nr == MAX_WORDS || (!c->nr && is_reserved(word))) {
		return;
	} else {
		c->argv[c->nr++] = word;
	}
	c->used += strlen(word) + 1;
}

/* Words up to the end of a command. */
static const char *read_command(const char *text, struct command *c)
{
	bool known;

	c->used = c->nr = 0;
	c->preload = NULL;
	for (;;) {
		text += strspn(text, " \t");
		if (*text == '#')
			text += strcspn(text, "\n");
		if (!*text || strchr("\n;&|(){}<>", *text) || c->used + 1 >= sizeof(c->room))
			break;
		known = read_word(&text, c->room + c->used, sizeof(c->room) - c->used);
		take_word(c, known);
	}
	c->argv[c->nr < MAX_WORDS ? c->nr : 0] = NULL;
	return text;
}

static int in_text(struct walk *w, const char *text)
{
	struct command *c = malloc(sizeof(*c));
	int ret = 0;

	while (c && !ret && *text && w->nr < MEANT_MAX) {
		text = read_command(text, c);
		if (c->argv[0])
			ret = one_command(w, c->argv, c->preload);
		/* what a redirection names is no command */
		if (*text == '<' || *text == '>')
			text += strcspn(text, "\n;");
		text += *text != '\0';
		text += strspn(text, " \t\n");
	}
	free(c);
	return ret;
}

/* ---- all of it ---- */

static int behind_first(struct walk *w, char *const *argv, const char *preload)
{
	const struct wrapper *wrapper = find_wrapper(argv[0]);
	char *const *next;

	if (wrapper) {
		next = behind(wrapper, argv, &preload);
		return next ? one_command(w, next, preload) : 0;
	}
	if (!wrapper_is_shell(argv[0]))
		return 0;
	for (next = argv + 1; *next && (*next)[0] == '-'; next++)
		if (strchr(*next, 'c') && (*next)[1] != '-' && next[1])
			return in_text(w, next[1]);
	/* a script */
	return *next ? one_command(w, next, preload) : 0;
}

static int one_command(struct walk *w, char *const *argv, const char *preload)
{
	char path[PATH_MAX];
	int ret;

	if (w->nr >= MEANT_MAX || w->depth >= MAX_DEPTH ||
	    target_find(argv[0], path, sizeof(path)))
		return 0;
	w->nr++;
	ret = w->fn(path, preload, w->ctx);
	w->depth++;
	if (!ret)
		ret = behind_first(w, argv, preload);
	w->depth--;
	return ret;
}

int wrapper_each(char *const *argv, wrapper_fn fn, void *ctx)
{
	struct walk w = { .fn = fn, .ctx = ctx };

	return argv && argv[0] ? behind_first(&w, argv, NULL) : 0;
}

int wrapper_text(const char *text, wrapper_fn fn, void *ctx)
{
	struct walk w = { .fn = fn, .ctx = ctx };

	return in_text(&w, text);
}

const char *wrapper_forks(char *const *argv)
{
	const struct wrapper *w;
	const char *preload = NULL;

	while (argv && argv[0] && (w = find_wrapper(argv[0]))) {
		argv = behind(w, argv, &preload);
		if (w->forks && argv)
			return w->name;
	}
	return NULL;
}
