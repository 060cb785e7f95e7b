/* SPDX-License-Identifier: MIT */
#include "calibrate.h"
#include "complain.h"
#include "disturbance.h"
#include "outfile.h"
#include "progress.h"

#include <ipcwait/base.h>

#include <errno.h>
#include <string.h>

static const char help[] =
	"Usage: ipcwait calibrate [OPTION]...\n"
	"\n"
	"Measures what sleeping and waking cost on this machine, shows it, and saves it "
	"for the\n"
	"programs that this user starts until the machine boots again. Takes about half a\n"
	"second; nothing else should run.\n"
	"\n"
	"  --thorough    five times the samples, and every idle age for every distance\n"
	"  --no-save     measure and show only\n"
	"  --json FILE   also write everything to FILE; -: to the standard output, and no "
	"table\n"
	"  --svg FILE    also draw wake latency by idle age, with gnuplot\n"
	"  --help\n"
	"\n"
	"Exit status: 0 done; 1 it could not be measured or written; 2 bad arguments.\n";

/* In place of an exit status: none yet. */
#define GO_ON (-1)

static int take_value(const char **value, int argc, char **argv, int *i)
{
	const char *name = argv[*i];
	const char *equals = strchr(name, '=');

	if (equals)
		*value = equals + 1;
	else if (*i + 1 < argc)
		*value = argv[++*i];
	else
		return refuse("calibrate: %s needs a value; see ipcwait calibrate --help",
			      name);
	if (!**value)
		return refuse("calibrate: %s is '', but must be the path of a file",
			      shown(name, (int)strcspn(name, "=")));
	return GO_ON;
}

static bool is(const char *argument, const char *name, bool has_value)
{
	size_t length = strlen(name);

	return !strncmp(argument, name, length) &&
	       (!argument[length] || (has_value && argument[length] == '='));
}

/* One argument. Returns GO_ON or an exit status. */
static int parse_one(struct calibrate_options *o, int argc, char **argv, int *i)
{
	if (is(argv[*i], "--json", true))
		return take_value(&o->json, argc, argv, i);
	if (is(argv[*i], "--svg", true))
		return take_value(&o->svg, argc, argv, i);
	if (is(argv[*i], "--thorough", false)) {
		o->thorough = true;
	} else if (is(argv[*i], "--no-save", false)) {
		o->no_save = true;
	} else if (is(argv[*i], "--help", false)) {
		fputs(help, stdout);
		return EXIT_DONE;
	} else {
		return refuse(
			"calibrate: unknown argument '%s'; see ipcwait calibrate --help",
			shown(argv[*i], -1));
	}
	return GO_ON;
}

/* Before half a second is spent on what cannot be written. */
static int check_outputs(const struct calibrate_options *o)
{
	int status = 0;

	if (o->json && strcmp(o->json, "-") != 0)
		status = outfile_check("calibrate: --json", o->json);
	if (!status && o->svg)
		status = calibrate_can_draw();
	if (!status && o->svg)
		status = outfile_check("calibrate: --svg", o->svg);
	return status ? status : GO_ON;
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

static int measure(struct calibrate_result *r)
{
	const struct ipcwait_calibrate_params params = {
		.thorough = r->options->thorough,
		.progress = progress_show,
	};
	double others = disturbance_seconds();
	int64_t begin = ipcwait_now_ns();
	int result = ipcwait_calibration_get(&r->before);

	if (!result)
		result = ipcwait_calibrate(&params, &r->now);
	progress_end();
	r->seconds = (double)(ipcwait_now_ns() - begin) / 1e9;
	r->other_cpus = others < 0 ? -1 : (disturbance_seconds() - others) / r->seconds;
	if (!result)
		return 0;
	complain("calibrate: %s", why(result));
	return EXIT_FAILED;
}

/* A calibration that could not be saved is shown all the same. */
static int save(struct calibrate_result *r)
{
	int n = ipcwait_calibration_path(r->path, sizeof(r->path));

	if (r->options->no_save)
		return 0;
	r->saved = n < 0 ? n : ipcwait_calibration_save(&r->now);
	if (!r->saved)
		return 0;
	if (n < 0)
		complain("calibrate: not saved: there is no place for it; set HOME or "
			 "IPCWAIT_CALIBRATION, or use --no-save");
	else
		complain("calibrate: cannot save '%s': %s", shown(r->path, -1),
			 strerror(-r->saved));
	return EXIT_FAILED;
}

static int write_file(const struct calibrate_result *r, const char *option,
		      const char *path)
{
	struct outfile o;
	int status = outfile_begin(&o, option, path);

	if (status)
		return status;
	if (path == r->options->svg)
		status = calibrate_draw(o.f, r);
	else
		calibrate_write_json(o.f, r);
	if (!status)
		return outfile_complete(&o);
	outfile_abandon(&o);
	return status;
}

static int write_all(const struct calibrate_result *r)
{
	const struct calibrate_options *o = r->options;
	bool to_stdout = o->json && !strcmp(o->json, "-");
	int status = 0;

	if (to_stdout)
		calibrate_write_json(stdout, r);
	else
		calibrate_print(stdout, r);
	if (o->json && !to_stdout)
		status = write_file(r, "calibrate: --json", o->json);
	if (o->svg && !status)
		status = write_file(r, "calibrate: --svg", o->svg);
	return status;
}

int calibrate_main(int argc, char **argv)
{
	struct calibrate_options options = { .json = NULL };
	struct calibrate_result result = { .options = &options };
	int status = GO_ON, written;

	for (int i = 1; i < argc && status == GO_ON; i++)
		status = parse_one(&options, argc, argv, &i);
	if (status == GO_ON)
		status = check_outputs(&options);
	if (status != GO_ON)
		return status;
	status = measure(&result);
	if (status)
		return status;
	status = save(&result);
	written = write_all(&result);
	return status ? status : written;
}
