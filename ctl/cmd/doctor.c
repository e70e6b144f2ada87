// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap doctor`: check whether memtap can run here, and how to fix what is missing. */
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "doctor/doctor.h"
#include "render/doctor.h"

int cmd_doctor(const struct cmd *cmd, struct opts *o)
{
	const struct machine_at at = machine_here();
	const struct doctor_opts to = {
		.out = stdout,
		.color = cmd_wants_color(o),
		.json = o->json,
		.quiet = o->quiet,
	};
	struct doctor d;
	struct host h;

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is too much", o->args.at[0]);
	host_read(&at, &h);
	doctor_look(&d, &h, cmd_tool_version());
	render_doctor(&d, &to);
	return d.problems ? EXIT_FAILURE : 0;
}
