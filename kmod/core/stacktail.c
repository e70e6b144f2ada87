// SPDX-License-Identifier: GPL-2.0-only
/* Reuse the outer frames of the stack that was unwound last. */
#include "stacktail.h"

/* Is the frame pointer of @f needed, if that of its caller is? */
static inline u16 live(const struct stacktail_frame *f, u16 caller)
{
	if (f->how & STACKTAIL_USES)
		return STACKTAIL_LIVE;
	return f->how & STACKTAIL_SAVED ? 0 : caller & STACKTAIL_LIVE;
}

void stacktail_put(struct stacktail *t, const struct stacktail_head *h,
		   const struct userstack_trail *trail, const struct stacktail_frame *from)
{
	u32 k = (u32)(from - t->at), end = k < STACKTAIL_FRAMES ? from->word : STACKTAIL_WORDS;
	u16 how = k < STACKTAIL_FRAMES ? from->how : 0;
	u32 i, nr;

	if (!h->nr)
		return;
	nr = trail->nr - h->at[0].word;
	if (h->nr > k || nr > end)
		return;
	for (i = 0; i < nr; i++) {
		t->words[end - nr + i].slot = trail->slot[h->at[0].word + i];
		t->words[end - nr + i].value = trail->value[h->at[0].word + i];
	}
	for (i = h->nr; i--;) {
		t->at[--k] = h->at[i];
		t->at[k].word = (u16)(end - (trail->nr - h->at[i].word));
		how = live(&h->at[i], how);
		t->at[k].how |= how;
	}
	t->first = k;
}
