/* SPDX-License-Identifier: MIT */
#include "run.h"
#include "../tools/common/complain.h"
#include "../tools/common/json_writer.h"

#include <ipcwait/base.h>

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#define FORMAT_VERSION 1

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void run_print(FILE *f, const struct run_report *r)
{
	const struct run_counts *c = &r->counts;

	fprintf(f, "%s: %s: %.3f s, %.3f s of CPU time (%.3f user, %.3f system)",
		program_name, program_command, r->end.seconds,
		r->end.user_seconds + r->end.system_seconds, r->end.user_seconds,
		r->end.system_seconds);
	if (r->program->plain) {
		fprintf(f, ", nothing counted\n");
		return;
	}
	fprintf(f, ", %" PRIu64 " program%s and %" PRIu64 " fork%s counted\n", c->programs,
		plural(c->programs), c->forks, plural(c->forks));
	if (c->uncounted)
		fprintf(f,
			"  %" PRIu64
			" program%s or more could not be counted, as after su(1), "
			"setpriv(1) or unshare(1):\n"
			"  another user, or another PID namespace, cannot reach the "
			"counters.\n",
			c->uncounted, plural(c->uncounted));
	if (!c->programs) {
		fputs("  The program has not loaded the module, or may not open what is "
		      "under /proc.\n",
		      f);
		return;
	}
	counters_print(f, &c->counters);
	if (c->left_out)
		fprintf(f,
			"  %" PRIu64
			" program%s started without the module, which cannot be loaded "
			"there.\n",
			c->left_out, c->left_out == 1 ? " was" : "s were");
	if (c->sharing)
		fprintf(f,
			"  %" PRIu64
			" process%s had to share counters with others: the figures "
			"may be too low.\n",
			c->sharing, c->sharing == 1 ? "" : "es");
}

static int count_of(char *const *texts)
{
	int n = 0;

	while (texts[n])
		n++;
	return n;
}

void run_write_json(FILE *f, const struct run_report *r)
{
	int status = r->end.wait_status;
	struct json j = json_begin(f);

	json_text(&j, "program", "ipcwait run");
	json_whole(&j, "format", FORMAT_VERSION);
	json_text(&j, "libipcwait", ipcwait_version());
	json_texts(&j, "command", count_of(r->program->argv), r->program->argv);
	json_text(&j, "module", r->program->plain ? NULL : r->module);
	json_text(&j, "why_no_module", r->program->plain);
	json_integer(&j, "status", run_status_of(status));
	if (WIFSIGNALED(status))
		json_integer(&j, "signal", WTERMSIG(status));
	else
		json_null(&j, "signal");
	json_number(&j, "seconds", r->end.seconds);
	json_number(&j, "user_seconds", r->end.user_seconds);
	json_number(&j, "system_seconds", r->end.system_seconds);
	json_whole(&j, "programs", r->counts.programs);
	json_whole(&j, "forks", r->counts.forks);
	json_whole(&j, "sharing", r->counts.sharing);
	json_whole(&j, "left_out", r->counts.left_out);
	json_whole(&j, "uncounted", r->counts.uncounted);
	counters_write(&j, &r->counts.counters);
	json_end(&j);
}
