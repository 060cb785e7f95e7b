/* SPDX-License-Identifier: MIT */
#include "calibrate.h"
#include "../tools/common/arguments.h"
#include "../tools/common/bar.h"
#include "../tools/common/complain.h"
#include "../tools/common/gnuplot.h"
#include "../tools/common/machine.h"
#include "../tools/common/outfile.h"

#include <ipcwait/base.h>

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

static const char help[] =
	"Usage: ipcwait calibrate [OPTION]...\n"
	"\n"
	"Measures what sleeping and waking cost on this machine, shows it, and saves it\n"
	"for the programs that this user starts until the machine boots again. Takes\n"
	"about half a second; nothing else should run.\n"
	"\n"
	"  --thorough    five times the samples, and every idle age for every distance\n"
	"  --no-save     measure and show only\n"
	"  --force       save it although other programs or the host disturbed it\n"
	"  --json FILE   also write everything to FILE; -: to the standard output, and\n"
	"                no table\n"
	"  --svg FILE    also draw wake latency by idle age, with gnuplot\n"
	"  -h, --help\n"
	"\n"
	"What was disturbed is measured again, three times at most, and then not saved.\n"
	"\n"
	"Exit status: 0 done; 1 it could not be measured or written, or was disturbed\n"
	"and not saved; 2 bad arguments.\n";

/* How often to measure before it is given up that nothing else runs. */
#define TRIES 3

static void print_help(void)
{
	fputs(help, stdout);
}

static const struct argument known[] = {
	{ "--thorough", ARGUMENT_FLAG, .at = offsetof(struct options, thorough) },
	{ "--no-save", ARGUMENT_FLAG, .at = offsetof(struct options, no_save) },
	{ "--force", ARGUMENT_FLAG, .at = offsetof(struct options, force) },
	{ "--json", ARGUMENT_PATH, .at = offsetof(struct options, json) },
	{ "--svg", ARGUMENT_PATH, .at = offsetof(struct options, svg) },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]), NULL };

/* Before half a second is spent on what cannot be written. */
static int check_outputs(const struct options *o)
{
	int r = 0;

	if (o->no_save && o->force)
		return refuse("--no-save and --force exclude each other");
	if (o->json && strcmp(o->json, "-") != 0)
		r = outfile_check("--json", o->json);
	if (!r && o->svg)
		r = gnuplot_check();
	if (!r && o->svg)
		r = outfile_check("--svg", o->svg);
	return r;
}

static const char *why(int r)
{
	switch (r) {
	case -EOPNOTSUPP:
		return "this process may use one CPU only, and a wake needs two";
	case -EAGAIN:
		return "the machine is too busy; try again when it is quiet";
	default:
		return strerror(-r);
	}
}

static void show_progress(void *unused, uint32_t done_us, uint32_t total_us)
{
	(void)unused;
	bar_draw(total_us ? (double)done_us / total_us : 0, "calibrating, %.1f of %.1f s",
		 done_us / 1e6, total_us / 1e6);
}

/* CPU seconds of all other programs so far; negative if the kernel does not tell. */
static double seconds_of_others(void)
{
	struct machine_time machine;

	return machine_time_read(&machine)
		       ? -1
		       : machine.busy_s - machine_own_seconds(RUSAGE_SELF);
}

static int measure_once(struct calibrate_result *r)
{
	const struct ipcwait_calibrate_params params = {
		.thorough = r->options->thorough,
		.progress = show_progress,
	};
	double before = seconds_of_others(), after;
	int64_t begin = ipcwait_now_ns();
	int result = ipcwait_calibrate(&params, &r->now);

	bar_clear();
	r->seconds = (double)(ipcwait_now_ns() - begin) / 1e9;
	after = seconds_of_others();
	/* Ticks that are counted late make it a little less than nothing. */
	r->other_cpus = after > before ? (after - before) / r->seconds : 0;
	if (before < 0 || after < 0)
		r->other_cpus = -1;
	return result;
}

/* What was disturbed, if it matters; the last that came to an end counts. */
static void repeat(struct calibrate_result *r)
{
	bool matters = !r->options->force && !r->options->no_save;

	for (int i = 1; i < TRIES && matters && calibrate_disturbed(r); i++) {
		struct calibrate_result again = *r;

		if (measure_once(&again))
			return;
		*r = again;
	}
}

static int measure(struct calibrate_result *r)
{
	int result = ipcwait_calibration_get(&r->before);

	if (!result)
		result = measure_once(r);
	if (!result) {
		repeat(r);
		return 0;
	}
	complain("%s", why(result));
	return EXIT_FAILED;
}

/* A calibration that could not be saved is shown all the same. */
static int save(struct calibrate_result *r)
{
	int n = ipcwait_calibration_path(r->path, sizeof(r->path));

	if (r->options->no_save)
		return 0;
	r->refused = calibrate_disturbed(r) && !r->options->force;
	if (r->refused) {
		complain("not saved: it was disturbed, %d times; repeat it on a quiet "
			 "machine, "
			 "or use --force",
			 TRIES);
		return EXIT_FAILED;
	}
	r->saved = n < 0 ? n : ipcwait_calibration_save(&r->now);
	if (!r->saved)
		return 0;
	if (n < 0)
		complain("not saved: there is no place for it; set HOME or "
			 "IPCWAIT_CALIBRATION, or use --no-save");
	else
		complain("cannot save '%s': %s", shown(r->path, -1), strerror(-r->saved));
	return EXIT_FAILED;
}

static int write_file(const struct calibrate_result *r, const char *option,
		      const char *path)
{
	struct outfile o;
	int result = outfile_open(&o, option, path);

	if (result)
		return EXIT_FAILED;
	if (path == r->options->svg)
		result = calibrate_draw(o.f, r);
	else
		calibrate_write_json(o.f, r);
	if (!result)
		result = outfile_complete(&o);
	outfile_abandon(&o);
	return result ? EXIT_FAILED : 0;
}

static int write_all(const struct calibrate_result *r)
{
	const struct options *o = r->options;
	bool to_stdout = o->json && !strcmp(o->json, "-");
	int status = 0;

	if (to_stdout)
		calibrate_write_json(stdout, r);
	else
		calibrate_print(stdout, r);
	if (o->json && !to_stdout)
		status = write_file(r, "--json", o->json);
	if (o->svg && !status)
		status = write_file(r, "--svg", o->svg);
	return status;
}

int calibrate_main(int argc, char **argv)
{
	struct options options = { .json = NULL };
	struct calibrate_result result = { .options = &options };
	int r = arguments_parse(&options, &arguments, argc, argv), status, written;

	if (r > 0)
		return EXIT_DONE;
	if (r < 0 || check_outputs(&options))
		return EXIT_BAD_INPUT;
	status = measure(&result);
	if (status)
		return status;
	status = save(&result);
	written = write_all(&result);
	return status ? status : written;
}
