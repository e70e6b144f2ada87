// SPDX-License-Identifier: GPL-2.0-only
/* Find and register tracepoints by name. */
#include <linux/errno.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "compat/removal.h"
#include "compat/tracepoint.h"

#if defined(HAVE_TRACEPOINT_OBJECT)		/* since v3.15 */
struct search {
	const char *name;
	struct tracepoint *found;
};

static void look(struct tracepoint *tp, void *priv)
{
	struct search *s = priv;

	if (!strcmp(tp->name, s->name))
		s->found = tp;
}

static struct tracepoint *find(const char *name)
{
	struct search s = { .name = name };

	for_each_kernel_tracepoint(look, &s);
	return s.found;
}

int memtap_tracepoint_register(const char *name, void *probe, void *data)
{
	struct tracepoint *tp = find(name);

	return tp ? tracepoint_probe_register(tp, probe, data) : -ENOENT;
}

static int unregister(const char *name, void *probe, void *data)
{
	struct tracepoint *tp = find(name);

	return tp ? tracepoint_probe_unregister(tp, probe, data) : 0;
}
#elif defined(HAVE_TRACEPOINT_NAME)		/* before v3.15 */
/* The kernel takes any name, in case that a module brings it later. */
static bool exists(const char *name)
{
	char symbol[KSYM_NAME_LEN];
	int len = snprintf(symbol, sizeof(symbol), "__tracepoint_%s", name);

	return len < (int)sizeof(symbol) && kallsyms_lookup_name(symbol);
}

int memtap_tracepoint_register(const char *name, void *probe, void *data)
{
	return exists(name) ? tracepoint_probe_register(name, probe, data) :
			      -ENOENT;
}

static int unregister(const char *name, void *probe, void *data)
{
	return tracepoint_probe_unregister(name, probe, data);
}
#else
#error "tracepoint_probe_register(): unknown prototype, add a probe in compat/probe"
#endif

#define TRIES	500

struct probe {
	const char *name;
	void *fn, *data;
};

static bool try_unregister(void *what)
{
	const struct probe *p = what;

	return unregister(p->name, p->fn, p->data) != -ENOMEM;
}

bool memtap_tracepoint_unregister(const char *name, void *probe, void *data)
{
	struct probe p = { .name = name, .fn = probe, .data = data };

	return memtap_unregister_retry(try_unregister, &p, TRIES, name);
}
