/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_PERF_RAW_H
#define _COMPAT_PERF_RAW_H

#include <linux/perf_event.h>

/*
 * A tracepoint's record, as its counter has it, which was made with PERF_SAMPLE_RAW; as long
 * as the counter's handler runs.  NULL: there is none.
 */
static inline const void *memtap_perf_raw(const struct perf_sample_data *data, u32 *len)
{
	const struct perf_raw_record *raw = data->raw;

	if (!raw)
		return NULL;
#ifdef HAVE_PERF_RAW_FRAG			/* since v4.8 */
	*len = raw->frag.size;
	return raw->frag.data;
#else
	*len = raw->size;
	return raw->data;
#endif
}

#endif
