// SPDX-License-Identifier: GPL-2.0-or-later
/* A probe that cannot be removed keeps the module loaded. */
#include "compat/removal.c"

#include "tap.h"

struct module this_module;

static unsigned int tries, works_at, sleeps, slept_ms, errors, users;
static unsigned int goes_at;		/* the removal begins with this sleep */

void msleep(unsigned int ms)
{
	slept_ms += ms;
	if (++sleeps == goes_at)
		this_module.state = MODULE_STATE_GOING;
}

/* As the kernel's: not of a module that goes. */
bool try_module_get(struct module *mod)
{
	if (mod->state == MODULE_STATE_GOING)
		return false;
	users++;
	return true;
}

int pr_err(const char *text, ...)
{
	errors++;
	return 0;
}

static bool attempt(void *what)
{
	return ++tries >= works_at;
}

static bool run_removal(enum module_state state, unsigned int works, unsigned int goes)
{
	this_module.state = state;
	works_at = works;
	goes_at = goes;
	tries = 0;
	sleeps = 0;
	slept_ms = 0;
	errors = 0;
	users = 0;
	return memtap_unregister_retry(attempt, NULL, 10, "place");
}

int main(void)
{
	bool done;

	done = run_removal(MODULE_STATE_LIVE, 1, 0);
	ok(done && tries == 1 && !sleeps && !users && !errors, "at once");
	done = run_removal(MODULE_STATE_LIVE, 10, 0);
	ok(done && tries == 10 && !users && !errors, "at the last try");
	done = run_removal(MODULE_STATE_LIVE, 11, 0);
	ok(!done && tries == 10 && users == 1 && errors == 1,
	   "not within all tries: it stays, and so does the module");
	ok(slept_ms == 10000, "that takes ten seconds");
	done = run_removal(MODULE_STATE_GOING, 1000, 0);
	ok(done && tries == 1000 && !users, "a module that goes waits until it is done");
	ok(errors == 1, "and says so once");
	done = run_removal(MODULE_STATE_COMING, 1000, 0);
	ok(done && tries == 1000 && !users, "a module whose start failed waits, too");
	done = run_removal(MODULE_STATE_LIVE, 1000, 10);
	ok(done && tries == 1000 && !users, "the removal begins with the last try: it waits");
	return tap_done();
}
