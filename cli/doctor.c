/* SPDX-License-Identifier: MIT */
#include "doctor.h"
#include "../tools/common/arguments.h"
#include "../tools/common/complain.h"
#include "../tools/common/json_writer.h"
#include "../tools/common/terminal.h"

#include <ipcwait/base.h>

#include <string.h>
#include <unistd.h>

#define FORMAT_VERSION 1

#define WIDTH  80
#define INDENT 11

static const char help[] =
	"Usage: ipcwait doctor [OPTION]...\n"
	"\n"
	"What on this machine, and in this environment, keeps libipcwait from helping,\n"
	"and what to do about it. It needs no rights and changes nothing. Takes 0.2 s.\n"
	"\n"
	"  --json      as a JSON object\n"
	"  --root DIR  read the copies of /proc, /sys and /etc in DIR, of another\n"
	"              machine\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0 nothing is in the way; 2 bad arguments; 3 something is.\n";

struct options {
	bool json;
	const char *root;
};

static void print_help(void)
{
	fputs(help, stdout);
}

static int set_root(struct options *o, const char *path)
{
	o->root = path;
	return info_check_root(path);
}

static const struct argument known[] = {
	{ "--json", ARGUMENT_FLAG, .at = offsetof(struct options, json) },
	{ "--root", ARGUMENT_VALUE, .set = set_root },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]), NULL };

static const struct {
	const char *name, *colour;
} verdicts[] = {
	[DOCTOR_OK] = { "ok", "32" },
	[DOCTOR_NOTE] = { "note", "33" },
	[DOCTOR_PROBLEM] = { "problem", "31" },
	[DOCTOR_UNKNOWN] = { "unknown", "2" },
};

static bool with_colour(void)
{
	return terminal_has_colour(STDOUT_FILENO);
}

/* Words, and INDENT columns in front of each further line. */
static void print_words(const char *text, int column)
{
	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column > INDENT && column + 1 + length > WIDTH)
			column = printf("\n%*s", INDENT, "") - 1;
		column += printf("%s%.*s", column > INDENT ? " " : "", length, text);
		text += length;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_finding(const struct doctor_finding *f, bool colour)
{
	const char *name = verdicts[f->verdict].name;

	if (colour)
		printf("  \033[%sm%-*s\033[0m", verdicts[f->verdict].colour, INDENT - 2,
		       name);
	else
		printf("  %-*s", INDENT - 2, name);
	print_words(f->text, INDENT);
	if (f->advice) {
		printf("%*s", INDENT, "");
		print_words(f->advice, INDENT);
	}
}

static unsigned count(const struct doctor_finding *all, unsigned n,
		      enum doctor_verdict verdict)
{
	unsigned found = 0;

	for (unsigned i = 0; i < n; i++)
		found += all[i].verdict == verdict;
	return found;
}

static void print(const struct doctor_finding *all, unsigned n)
{
	unsigned problems = count(all, n, DOCTOR_PROBLEM),
		 notes = count(all, n, DOCTOR_NOTE);
	bool colour = with_colour();

	for (unsigned i = 0; i < n; i++)
		print_finding(&all[i], colour);
	if (problems)
		printf("%u problem%s, %u note%s.\n", problems, problems == 1 ? "" : "s",
		       notes, notes == 1 ? "" : "s");
	else
		printf("Nothing is in the way; %u note%s.\n", notes, notes == 1 ? "" : "s");
}

static void write_json(const struct doctor_finding *all, unsigned n)
{
	struct json j = json_begin(stdout);

	json_text(&j, "program", "ipcwait doctor");
	json_whole(&j, "format", FORMAT_VERSION);
	json_text(&j, "libipcwait", ipcwait_version());
	json_whole(&j, "problems", count(all, n, DOCTOR_PROBLEM));
	json_open(&j, "findings", '[');
	for (unsigned i = 0; i < n; i++) {
		json_open(&j, NULL, '{');
		json_text(&j, "check", all[i].what);
		json_text(&j, "verdict", verdicts[all[i].verdict].name);
		json_text(&j, "text", all[i].text);
		json_text(&j, "advice", all[i].advice);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_end(&j);
}

int doctor_main(int argc, char **argv)
{
	static struct doctor_finding all[DOCTOR_FINDINGS_MOST];
	static struct info info;
	struct options o = { .root = "" };
	int r = arguments_parse(&o, &arguments, argc, argv);
	unsigned n;

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	info_hide_recording(argv - 1);
	info.root = o.root;
	info_read_all(&info);
	n = doctor_examine(all, &info);
	if (o.json)
		write_json(all, n);
	else
		print(all, n);
	return count(all, n, DOCTOR_PROBLEM) ? EXIT_NOT_REACHED : EXIT_DONE;
}
