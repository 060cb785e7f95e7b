/* SPDX-License-Identifier: MIT */
#include "top.h"
#include "run.h"
#include "symbol.h"
#include "watched.h"
#include "../tools/common/arguments.h"
#include "../tools/common/complain.h"
#include "../tools/common/foreign_name.h"
#include "../tools/common/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NS_PER_S 1e9

#define SECONDS_MOST 3600
#define TIMES_MOST   1000000

/* Of what is no terminal. */
#define COLUMNS 80
#define LINES   1000

#define LABEL_BYTES 128

/* CPU time for finding the places of a table. */
#define PLACES_MS 200

static const char help[] =
	"Usage: ipcwait top [OPTION]...\n"
	"\n"
	"A table of the objects that programs wait for, busiest first, renewed every\n"
	"second until Ctrl-C. It shows processes with a statistics page: those that\n"
	"were started with IPCWAIT_PAGE=1, or by `ipcwait run --page`.\n"
	"\n"
	"  -p, --pid PID       only this process\n"
	"  --sites             by where the programs wait, not by what they wait for\n"
	"  --interval SECONDS  between two tables (1)\n"
	"  -n, --times N       end after N tables\n"
	"  -h, --help\n"
	"\n"
	"  WAITS/S  waits that had to wait     SPUN   of them, ended without a sleep\n"
	"  WINDOW   how long it spins at most  CPU    one CPU's time spent spinning\n"
	"  SLEPT/S  waits that slept, each with a system call to wake it\n"
	"\n"
	"Exit status: 0; 2 bad arguments.\n";

struct options {
	bool sites;
	uint64_t pid, seconds, times;
};

static void print_help(void)
{
	fputs(help, stdout);
}

static int set_pid(struct options *o, const char *text)
{
	return argument_number("--pid", text, 1, INT32_MAX, &o->pid);
}

static int set_interval(struct options *o, const char *text)
{
	return argument_number("--interval", text, 1, SECONDS_MOST, &o->seconds);
}

static int set_times(struct options *o, const char *text)
{
	return argument_number("--times", text, 1, TIMES_MOST, &o->times);
}

static const struct argument known[] = {
	{ "--pid", ARGUMENT_VALUE, .set = set_pid, .letter = 'p' },
	{ "--sites", ARGUMENT_FLAG, .at = offsetof(struct options, sites) },
	{ "--interval", ARGUMENT_VALUE, .set = set_interval },
	{ "--times", ARGUMENT_VALUE, .set = set_times, .letter = 'n' },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]), NULL };

/* Where the tables go. */
struct screen {
	bool colour;
	unsigned lines, columns, used;
};

static void begin_screen(struct screen *s)
{
	struct winsize size;

	*s = (struct screen){ .lines = LINES, .columns = COLUMNS };
	s->colour = terminal_has_colour(STDOUT_FILENO);
	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
	    size.ws_row && size.ws_col) {
		s->lines = size.ws_row;
		s->columns = size.ws_col;
	}
	if (terminal_obeys(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout);
}

/* One line, cut where the screen ends; nothing behind its last line. */
__attribute__((format(printf, 3, 4))) static void line(struct screen *s, bool heading,
						       const char *format, ...)
{
	char text[512];
	va_list args;

	if (++s->used >= s->lines)
		return;
	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 */
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* No character has more columns than bytes. */
	if (s->columns < sizeof(text))
		text[foreign_name_cut(text, (int)s->columns)] = '\0';
	printf(heading && s->colour ? "\033[1m%s\033[0m\n" : "%s\n", text);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void show_process(struct screen *s, const struct watched_process *p, double seconds)
{
	const struct ipcwait_kind_stats *all = &p->counters.all;
	uint64_t spun_ns = all->spun_useful_ns + all->spun_wasted_ns;
	char user[32] = "";

	/* Which of several, and who says what its name is. */
	if (p->uid != geteuid())
		(void)snprintf(user, sizeof(user), ", user %lu", (unsigned long)p->uid);
	line(s, false,
	     "%s (%ld%s): %.0f waits/s, %.0f %% without a sleep, CPU %.1f %%, B %.1f us",
	     shown(p->program, -1), (long)p->pid, user,
	     (double)counters_waits(all) / seconds, percent(all->spun, counters_waits(all)),
	     100.0 * (double)spun_ns / NS_PER_S / seconds, (double)p->block_ns / 1e3);
}

/* A line of its own, as the process's own has 80 columns. */
static void show_moves(struct screen *s, const struct counters *c, double seconds)
{
	const uint64_t *moves = c->moves;
	uint64_t ended =
		moves[COUNTERS_KEPT] + moves[COUNTERS_BACK] + moves[COUNTERS_UNDONE];

	if (moves[COUNTERS_APART] || ended)
		line(s, false,
		     "  %.1f moves/s to another CPU; %.0f %% of %.0f stayed there",
		     (double)moves[COUNTERS_APART] / seconds,
		     percent(moves[COUNTERS_KEPT], ended), (double)ended);
}

static void show_row(struct screen *s, const struct watched_row *r, double seconds)
{
	char label[LABEL_BYTES];

	watched_label(r, label, sizeof(label));
	line(s, false, "%7ld %-10s %9.0f %4.0f%% %8.0f %7.1fus %5.1f%% %s", (long)r->pid,
	     r->kind < IPCWAIT_KIND_COUNT ? counters_kind(r->kind) : "",
	     (double)r->waits / seconds, percent(r->spun, r->waits),
	     (double)(r->waits - r->spun) / seconds, (double)r->window_ns / 1e3,
	     100.0 * (double)(r->spun_useful_ns + r->spun_wasted_ns) / NS_PER_S / seconds,
	     label);
}

static void show(struct watched *w, const struct options *o, double seconds)
{
	enum page_table table = o->sites ? PAGE_CALL_SITES : PAGE_OBJECTS;
	uint64_t missed = 0;
	struct screen s;

	begin_screen(&s);
	watched_sort(w);
	if (!w->processes)
		line(&s, false,
		     "No process with a statistics page: IPCWAIT_PAGE=1, or "
		     "`ipcwait run --page`.");
	for (unsigned i = 0; i < w->processes; i++) {
		show_process(&s, &w->process[i], seconds);
		show_moves(&s, &w->process[i].counters, seconds);
		missed += w->process[i].missed[table];
	}
	line(&s, true, "%7s %-10s %9s %5s %8s %9s %6s %s", "PID", "KIND", "WAITS/S", "SPUN",
	     "SLEPT/S", "WINDOW", "CPU", o->sites ? "CALL SITE" : "OBJECT");
	symbols_begin(PLACES_MS);
	for (unsigned i = 0; i < w->rows[table] && s.used < s.lines; i++)
		show_row(&s, &w->row[table][i], seconds);
	if (missed)
		line(&s, false, "and %.0f waits/s on further ones%s",
		     (double)missed / seconds, o->sites ? "" : ": see --sites");
	fflush(stdout);
}

static void watch(const struct options *o)
{
	const int64_t pause_ns = (int64_t)o->seconds * 1000000000;
	struct watched before, now, since;
	sigset_t ends;

	run_block_ends(&ends);
	watched_look(&before, (pid_t)o->pid);
	for (uint64_t i = 0; !o->times || i < o->times; i++) {
		if (run_pause(&ends, pause_ns))
			break;
		watched_look(&now, (pid_t)o->pid);
		watched_since(&since, &now, &before);
		show(&since, o, (double)(now.at_ns - before.at_ns) / NS_PER_S);
		watched_free(&since);
		watched_free(&before);
		before = now;
		if (ferror(stdout) || (o->pid && !now.processes))
			break;
	}
	watched_free(&before);
}

int top_main(int argc, char **argv)
{
	struct options o = { .seconds = 1 };
	int r = arguments_parse(&o, &arguments, argc, argv);

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	watch(&o);
	return EXIT_DONE;
}
