// SPDX-License-Identifier: GPL-2.0-only
/* Names of the constants of the user interface. */
#include "names.h"
#include "../../include/uapi/memtap_names.h"

MEMTAP_NAMES_CHECK(MEMTAP_LOST_NAMES, MEMTAP_NR_LOST);
MEMTAP_NAMES_CHECK(MEMTAP_PART_NAMES, MEMTAP_NR_PART);
MEMTAP_NAMES_CHECK(MEMTAP_UNIT_NAMES, MEMTAP_NR_UNIT);
MEMTAP_NAMES_CHECK(MEMTAP_HOOK_NAMES, MEMTAP_NR_HOOK);
MEMTAP_NAMES_CHECK(MEMTAP_WAY_NAMES, MEMTAP_NR_WAY);
MEMTAP_NAMES_CHECK(MEMTAP_MISMATCH_NAMES, MEMTAP_NR_MISMATCH);
MEMTAP_NAMES_CHECK(MEMTAP_REACH_NAMES, MEMTAP_NR_REACH);
MEMTAP_NAMES_CHECK(MEMTAP_CACHE_NAMES, MEMTAP_NR_CACHE);
MEMTAP_NAMES_CHECK(MEMTAP_SPACE_NAMES, MEMTAP_NR_SPACE);
MEMTAP_NAMES_CHECK(MEMTAP_KEY_NAMES, MEMTAP_NR_KEY);
MEMTAP_NAMES_CHECK(MEMTAP_CONSTRAINT_NAMES, MEMTAP_NR_CONSTRAINT);
MEMTAP_NAMES_CHECK(MEMTAP_VM_NAMES, MEMTAP_NR_VM);
MEMTAP_NAMES_CHECK(MEMTAP_CHARGED_NAMES, MEMTAP_NR_CHARGED);
MEMTAP_NAMES_CHECK(MEMTAP_RECLAIM_NAMES, MEMTAP_NR_RECLAIM);

static const char *const lost_names[] = { MEMTAP_LOST_NAMES(MEMTAP_NAME_ENTRY) };
static const char *const part_names[] = { MEMTAP_PART_NAMES(MEMTAP_NAME_ENTRY) };
static const char *const part_words[] = { MEMTAP_PART_NAMES(MEMTAP_SENTENCE_ENTRY) };
static const char *const unit_names[] = { MEMTAP_UNIT_NAMES(MEMTAP_NAME_ENTRY) };
static const char *const hook_names[] = { MEMTAP_HOOK_NAMES(MEMTAP_NAME_ENTRY) };
static const char *const way_names[] = { MEMTAP_WAY_NAMES(MEMTAP_NAME_ENTRY) };
static const char *const mismatch_names[] = { MEMTAP_MISMATCH_NAMES(MEMTAP_NAME_ENTRY) };
static const char *const cache_names[] = { MEMTAP_CACHE_NAMES(MEMTAP_NAME_ENTRY) };
static const char *const reach_names[] = { MEMTAP_REACH_NAMES(MEMTAP_NAME_ENTRY) };
static const char *const constraint_names[] = {
	MEMTAP_CONSTRAINT_NAMES(MEMTAP_NAME_ENTRY)
};
static const char *const constraint_words[] = {
	MEMTAP_CONSTRAINT_NAMES(MEMTAP_SENTENCE_ENTRY)
};
static const char *const vm_names[] = { MEMTAP_VM_NAMES(MEMTAP_NAME_ENTRY) };
static const char *const vm_words[] = { MEMTAP_VM_NAMES(MEMTAP_SENTENCE_ENTRY) };
static const char *const charged_names[] = { MEMTAP_CHARGED_NAMES(MEMTAP_NAME_ENTRY) };
static const char *const charged_words[] = { MEMTAP_CHARGED_NAMES(MEMTAP_SENTENCE_ENTRY) };
static const char *const reclaim_names[] = { MEMTAP_RECLAIM_NAMES(MEMTAP_NAME_ENTRY) };

#define NAME_OF(names, number, other)					\
	((number) < sizeof(names) / sizeof(names[0]) && names[number] ?	\
	 names[number] : (other))

const char *lost_name(u32 reason)
{
	return NAME_OF(lost_names, reason, NAME_UNKNOWN);
}

const char *part_name(u32 reason)
{
	return NAME_OF(part_names, reason, NAME_UNKNOWN);
}

const char *part_sentence(u32 reason)
{
	return NAME_OF(part_words, reason, "for an unknown reason");
}

const char *unit_name(u32 unit)
{
	return NAME_OF(unit_names, unit, "");
}

const char *hook_name(u32 state)
{
	return NAME_OF(hook_names, state, "unknown");
}

const char *way_name(u32 way)
{
	return NAME_OF(way_names, way, "unknown");
}

const char *mismatch_name(u32 kind)
{
	return NAME_OF(mismatch_names, kind, "other");
}

const char *reach_name(u32 kind)
{
	return NAME_OF(reach_names, kind, "unknown");
}

const char *constraint_name(u32 constraint)
{
	return NAME_OF(constraint_names, constraint, "unknown");
}

const char *constraint_sentence(u32 constraint)
{
	return NAME_OF(constraint_words, constraint, "of an unknown kind");
}

const char *charged_name(u32 kind)
{
	return NAME_OF(charged_names, kind, "unknown");
}

const char *charged_sentence(u32 kind)
{
	return NAME_OF(charged_words, kind, "unknown");
}

const char *vm_name(u32 counter)
{
	return NAME_OF(vm_names, counter, "unknown");
}

const char *vm_sentence(u32 counter)
{
	return NAME_OF(vm_words, counter, "of an unknown kind");
}

const char *reclaim_name(u32 counter)
{
	return NAME_OF(reclaim_names, counter, "unknown");
}

const char *cache_kind_name(u32 kind)
{
	return NAME_OF(cache_names, kind, "unknown");
}

#define FLAG_ENTRY(number, name, sentence)	number,
#define FLAG_NAME(number, name, sentence)	name,
#define FLAG_SENTENCE(number, name, sentence)	sentence,

static const char *of_bit(u32 bit, const u32 *flags, const char *const *names, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (bit < 32 && flags[i] == 1U << bit)
			return names[i];
	return NULL;
}

const char *space_name(u32 bit)
{
	static const u32 flags[] = { MEMTAP_SPACE_NAMES(FLAG_ENTRY) };
	static const char *const names[] = { MEMTAP_SPACE_NAMES(FLAG_NAME) };

	return of_bit(bit, flags, names, MEMTAP_NR_SPACE);
}

static const u32 key_flags[] = { MEMTAP_KEY_NAMES(FLAG_ENTRY) };

const char *key_name(u32 bit)
{
	static const char *const names[] = { MEMTAP_KEY_NAMES(FLAG_NAME) };

	return of_bit(bit, key_flags, names, MEMTAP_NR_KEY);
}

const char *key_sentence(u32 bit)
{
	static const char *const sentences[] = { MEMTAP_KEY_NAMES(FLAG_SENTENCE) };

	return of_bit(bit, key_flags, sentences, MEMTAP_NR_KEY);
}
