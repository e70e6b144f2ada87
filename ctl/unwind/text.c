// SPDX-License-Identifier: GPL-2.0-or-later
/* Format an unwind rule for people. */
#include <stdarg.h>

#include "unwind/unwind.h"

static const char *const reg_names[16] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

static const char *const kind_texts[MEMTAP_NR_RULE] = {
	[MEMTAP_RULE_GAP] = "no unwind information",
	[MEMTAP_RULE_NONE] = "unsupported",
	[MEMTAP_RULE_END] = "outermost frame",
	[MEMTAP_RULE_SIGNAL] = "signal frame: registers from the ucontext at rsp",
	[MEMTAP_RULE_FP] = "by frame pointer: CFA=rbp+16 rbp=[CFA-16]",
};

__attribute__((format(printf, 3, 4)))
static void add(char **text, size_t *len, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(*text, *len, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= *len)
		n = *len ? (int)*len - 1 : 0;
	*text += n;
	*len -= (size_t)n;
}

static void add_saved(char **text, size_t *len, const char *reg, bool saved, bool at_fp,
		      __s32 off)
{
	if (saved || at_fp)
		add(text, len, " %s=[%s%+d]", reg, saved ? "CFA" : "rbp", off);
}

void unwind_rule_text(const struct memtap_rule *r, char *text, size_t len)
{
	const char *reg = reg_names[r->reg & 15];
	const __u8 f = r->flags;

	if (r->kind < MEMTAP_NR_RULE && kind_texts[r->kind]) {
		add(&text, &len, "%s", kind_texts[r->kind]);
		return;
	}
	switch (r->kind) {
	case MEMTAP_RULE_CFA:
		add(&text, &len, "CFA=%s%+d", reg, r->cfa);
		break;
	case MEMTAP_RULE_DEREF:
		add(&text, &len, "CFA=[%s%+d]", reg, r->cfa);
		if (r->add)
			add(&text, &len, "%+d", r->add);
		break;
	case MEMTAP_RULE_PLT:
		add(&text, &len, "CFA=rsp%+d, 8 more from byte %d of the PLT entry", r->cfa,
		    r->add);
		break;
	default:
		add(&text, &len, "rule of unknown kind %u", r->kind);
		return;
	}
	add_saved(&text, &len, "rbp", f & MEMTAP_RULE_FP_SAVED, f & MEMTAP_RULE_FP_AT_FP, r->fp);
	add_saved(&text, &len, "rbx", f & MEMTAP_RULE_BX_SAVED, f & MEMTAP_RULE_BX_AT_FP, r->bx);
	if (f & MEMTAP_RULE_SWITCH)
		add(&text, &len, " on another stack");
	if (f & MEMTAP_RULE_RA_REG)
		add(&text, &len, " return=%s", reg_names[r->ra & 15]);
}
