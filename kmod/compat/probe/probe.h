/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a probe states its fact: so that it is an error, not a warning, where the
 * fact does not hold, whatever the compiler and its flags.
 */
#define PROBE_IS(condition)	typedef char probe_is[(condition) ? 1 : -1]

/* There is such a function, object or enumeration constant; no macro. */
#define PROBE_EXISTS(name)	typedef typeof(name) probe_exists

/* ... and it has this type. */
#define PROBE_TYPE(expression, type...)					\
	PROBE_IS(__builtin_types_compatible_p(typeof(expression), type))

/* struct @s has a member @m, of this type. */
#define PROBE_MEMBER(s, m)	PROBE_EXISTS(((s *)0)->m)
#define PROBE_MEMBER_TYPE(s, m, type...)	PROBE_TYPE(((s *)0)->m, type)
