// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the page of a flame graph. */
#include "render/flame_data.h"
#include "render/flame_page.h"

void flame_page(const struct flame_page *p, FILE *out)
{
	struct json j = { .out = out, .html = true };

	fputs(flame_head, out);
	fprintf(out, "<script>\n%s</script>\n", flame_library);
	fputs("<script id=\"data\" type=\"application/json\">", out);
	json_open(&j, NULL, '{');
	json_str(&j, "title", p->title);
	json_str(&j, "subtitle", p->subtitle);
	json_open(&j, "values", '[');
	for (size_t i = 0; i < p->nr_values; i++) {
		json_open(&j, NULL, '{');
		json_str(&j, "name", p->values[i].name);
		json_str(&j, "unit", p->values[i].unit);
		if (p->values[i].how) {
			json_str(&j, "how", p->values[i].how);
			json_s64(&j, "plus", p->values[i].plus);
			json_s64(&j, "minus", p->values[i].minus);
		}
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_u64(&j, "page_size", p->bytes);
	if (p->nr_spans) {
		json_open(&j, "spans", '[');
		for (size_t i = 0; i <= p->nr_spans; i++)
			json_seconds(&j, NULL, p->spans[i]);
		json_close(&j, ']');
	}
	json_str(&j, "foot", p->foot);
	j.comma = true;
	fputs(",\"tree\":", out);
	j.comma = false;
	p->tree(&j, p->ctx);
	json_close(&j, '}');
	fprintf(out, "</script>\n<script>\n%s</script>\n", flame_app);
	fprintf(out, "<script type=\"text/plain\">\n"
		"The drawing library in this page is free software:\n\n"
		"%s</script>\n</body>\n</html>\n", flame_licenses);
}
