/* SPDX-License-Identifier: MIT */
/* Wake latency by idle age as gnuplot draws it: the median as a line, 10 to 90 % as a band. */
#include "calibrate.h"
#include "complain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WIDTH  760
#define HEIGHT 460

/* One for each pair: told apart by the colour-blind too (Okabe and Ito). */
static const char *const colours[IPCWAIT_CALIBRATION_PAIRS] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
};

int calibrate_can_draw(void)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	for (; path && *path; path += *path == ':') {
		int length = (int)strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/gnuplot", length, path);
		if (!access(file, X_OK))
			return 0;
		path += length;
	}
	return refuse(
		"calibrate: --svg needs gnuplot, which is not on the PATH; on Debian: "
		"apt-get install gnuplot-nox");
}

static void write_data(FILE *g, const struct ipcwait_calibration_pair *pair, unsigned i)
{
	fprintf(g, "$pair%u << EOD\n", i);
	for (unsigned k = 0; k < IPCWAIT_IDLE_AGES; k++) {
		const struct ipcwait_wake_latency *l = &pair->latency[k];

		if (l->used)
			fprintf(g, "%g %g %g %g %g\n", (double)l->idle_ns / 1000,
				(double)l->p10_ns / 1000, (double)l->median_ns / 1000,
				(double)l->p90_ns / 1000, (double)l->waker_ns / 1000);
	}
	fputs("EOD\n", g);
}

static void write_plot(FILE *g, const struct ipcwait_calibration_pair *pair, unsigned i)
{
	fprintf(g,
		"%s $pair%u using 1:2:4 with filledcurves fc rgb '%s' fs transparent solid "
		"0.2 noborder notitle, $pair%u using 1:3 with linespoints lc rgb '%s' lw 2 "
		"pt 7 ps 0.6 title 'CPU %u wakes CPU %u (%s)'",
		i ? "," : "plot", i, colours[i], i, colours[i], pair->cpu_a, pair->cpu_b,
		calibrate_distance(pair->distance));
	if (i == 0)
		fputs(", $pair0 using 1:5 with lines lc rgb '#707070' dt 2 title 'what the "
		      "waker pays for it'",
		      g);
}

static void write_script(FILE *g, const struct ipcwait_calibration *c)
{
	for (unsigned i = 0; i < c->pair_count; i++)
		write_data(g, &c->pair[i], i);
	fprintf(g,
		"set terminal svg size %d,%d font 'sans,13' background '#ffffff'\n"
		"set title 'How late a sleeper runs after a wake (median, and 10 to 90 "
		"%%)'\n"
		"set xlabel 'time it had been asleep, us'\nset ylabel 'late by, us'\n"
		"set logscale x\nset xrange [4:12500]\nset yrange [0:*]\n"
		"set xtics ('5' 5, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, "
		"'2000' 2000, '10 000' 10000)\n"
		"set grid y\nset border 3\nset tics nomirror\nset key top left reverse "
		"Left\n"
		"set offsets 0, 0, graph 0.2, 0\n",
		WIDTH, HEIGHT);
	for (unsigned i = 0; i < c->pair_count; i++)
		write_plot(g, &c->pair[i], i);
	fputc('\n', g);
}

/* The script in a file without a name, or NULL. */
static FILE *make_script(const struct ipcwait_calibration *c)
{
	int fd = memfd_create("gnuplot script", MFD_CLOEXEC);
	FILE *g = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!g)
		return NULL;
	write_script(g, c);
	if (!fflush(g) && !fseek(g, 0, SEEK_SET))
		return g;
	fclose(g);
	return NULL;
}

static _Noreturn void be_gnuplot(int script, int out)
{
	if (dup2(script, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(127);
	execlp("gnuplot", "gnuplot", (char *)NULL);
	_exit(127);
}

/* Run gnuplot from one file to another. Returns its wait status, or -1. */
static int run_gnuplot(FILE *script, FILE *out)
{
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0)
		be_gnuplot(fileno(script), fileno(out));
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

int calibrate_draw(FILE *f, const struct calibrate_result *r)
{
	FILE *script = make_script(&r->now);
	int status = script ? run_gnuplot(script, f) : -1;

	if (status < 0)
		complain("calibrate: --svg: cannot start gnuplot: %s", strerror(errno));
	else if (status)
		complain("calibrate: --svg: gnuplot failed");
	if (script)
		fclose(script);
	return status ? EXIT_FAILED : 0;
}
