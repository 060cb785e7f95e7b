/* SPDX-License-Identifier: MIT */
#include "replay.h"
#include "record.h"
#include "report.h"
#include "../tools/common/arguments.h"
#include "../tools/common/complain.h"
#include "../tools/common/json_writer.h"

#include <ipcwait/base.h>

#include <inttypes.h>
#include <string.h>

#define FORMAT_VERSION 1

#define US_MOST   100000
#define NS_PER_US 1000

static const char help[] =
	"Usage: ipcwait replay [OPTION]... [FILE]\n"
	"\n"
	"What would have become of the waits in a record under the library's policies,\n"
	"and where a sleep costs something else? FILE is " RECORD_FILE " if it is not\n"
	"given.\n"
	"\n"
	"  --wake US   from what a sleeper waits for until it runs again; by default\n"
	"              the mean of the record\n"
	"  --paid US   CPU time of a sleep and its wake, both sides together; by\n"
	"              default what the program had learned, or a calibration says\n"
	"  --all       also other libraries' rules, and the kernels'\n"
	"  --json      as a JSON object\n"
	"  -h, --help\n"
	"\n"
	"`ipcwait replay --wake 4 --paid 2` is what a machine without a hypervisor\n"
	"costs.\n"
	"\n"
	"Exit status: 0; 1 it cannot be read, or a price is not known; 2 bad arguments.\n";

struct options {
	bool all, json, late_given, paid_given;
	uint64_t late_us, paid_us;
	const char *file;
};

static void print_help(void)
{
	fputs(help, stdout);
}

static int set_wake(struct options *o, const char *text)
{
	o->late_given = true;
	return argument_number("--wake", text, 1, US_MOST, &o->late_us);
}

static int set_paid(struct options *o, const char *text)
{
	o->paid_given = true;
	return argument_number("--paid", text, 0, US_MOST, &o->paid_us);
}

static int set_file(struct options *o, const char *text, unsigned i)
{
	return waits_take_file(&o->file, text, i);
}

static const struct argument known[] = {
	{ "--wake", ARGUMENT_VALUE, .set = set_wake },
	{ "--paid", ARGUMENT_VALUE, .set = set_paid },
	{ "--all", ARGUMENT_FLAG, .at = offsetof(struct options, all) },
	{ "--json", ARGUMENT_FLAG, .at = offsetof(struct options, json) },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]),
					    set_file };

/* The library's presets. */
static const struct {
	const char *name;
	const struct rule *rule;
} rows[] = {
	{ "adaptive", &rule_ipcwait },
	{ "spin", &rule_preset_spin },
	{ "block", &rule_block },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Of the simulator's rules: those that are a row, and one whose timed sleeps are not replayed. */
static bool is_left_out(const struct rule *rule)
{
	return rule == &rule_ipcwait || rule == &rule_block || rule == &rule_latency;
}

/* The simulator's `spin` is another than the library's. */
static const char *name_of(const struct rule *rule)
{
	return rule == &rule_spin ? "to the end" : rule->name;
}

/*
 * B as it was learned, or, where the user knows better, from what he says: the sleeper's part of
 * CPU time is in no B, since nobody waits for it.
 */
static uint64_t block_ns(const struct replay_price *price, const struct options *o,
			 const struct waits_process *p)
{
	uint64_t both_ns = p ? p->waker_ns + p->sleeper_ns : 0;

	if (!o->late_given && !o->paid_given)
		return p->block_ns;
	return price->late_ns +
	       (both_ns ? price->paid_ns * p->waker_ns / both_ns : price->paid_ns);
}

/* Return: 0, or -EINVAL after one line on stderr. */
static int set_price(struct replay_price *price, const struct options *o,
		     const struct waits *w)
{
	const struct waits_process *p = replay_learned(w);

	price->late_ns = o->late_given ? o->late_us * NS_PER_US : replay_late_ns(w);
	if (!price->late_ns)
		return complain("no wait in '%s' slept whose length is known: what does a "
				"wake cost? Say so with --wake",
				shown(w->path, -1));
	if (!(p && p->waker_ns) && !o->paid_given)
		return complain("'%s' does not tell what a sleep costs: say so with --paid",
				shown(w->path, -1));
	price->paid_ns =
		o->paid_given ? o->paid_us * NS_PER_US : p->waker_ns + p->sleeper_ns;
	price->block_ns = block_ns(price, o, p);
	return 0;
}

static uint64_t cpu_ns(const struct replay_bill *b, const struct replay_price *price)
{
	return b->spun_ns + b->slept * price->paid_ns;
}

static void print_row(const char *name, const struct replay_bill *b,
		      const struct replay_price *price)
{
	char spun[REPORT_TIME_BYTES], cpu[REPORT_TIME_BYTES], late[REPORT_TIME_BYTES],
		mean[REPORT_TIME_BYTES];

	printf("  %-12s %9.1f%% %10s %10s %12s %12s\n", name,
	       100.0 * (double)b->slept / (double)b->waits, report_time(spun, b->spun_ns),
	       report_time(cpu, cpu_ns(b, price)), report_time(late, b->late_ns),
	       report_time(mean, b->late_ns / b->waits));
}

static void print(const struct waits *w, const struct options *o,
		  const struct replay_price *price)
{
	struct replay_bill recorded = replay_recorded(w);
	char late[REPORT_TIME_BYTES], paid[REPORT_TIME_BYTES];

	printf("%s: %" PRIu64 " waits, and %" PRIu64 " of unknown length or given up\n"
	       "a wake comes %s late, and a sleep costs %s of CPU time\n\n",
	       shown(w->path, -1), recorded.waits, w->n - recorded.waits,
	       report_time(late, price->late_ns), report_time(paid, price->paid_ns));
	if (!recorded.waits)
		return;
	printf("  %-12s %10s %10s %10s %12s %12s\n", "", "slept", "spun", "CPU time",
	       "added in all", "to each wait");
	print_row("as recorded", &recorded, price);
	for (size_t i = 0; i < ROWS; i++) {
		struct replay_bill b = replay_under(w, rows[i].rule, price);

		print_row(rows[i].name, &b, price);
	}
	for (unsigned i = 0; o->all && i < n_rules; i++) {
		struct replay_bill b;

		if (is_left_out(rules[i]))
			continue;
		b = replay_under(w, rules[i], price);
		print_row(name_of(rules[i]), &b, price);
	}
}

static void write_row(struct json *j, const char *name, const struct replay_bill *b,
		      const struct replay_price *price)
{
	json_open(j, name, '{');
	json_whole(j, "waits", b->waits);
	json_whole(j, "slept", b->slept);
	json_whole(j, "spun_ns", b->spun_ns);
	json_whole(j, "cpu_ns", cpu_ns(b, price));
	json_whole(j, "late_ns", b->late_ns);
	json_close(j, '}');
}

static void write_json(const struct waits *w, const struct options *o,
		       const struct replay_price *price)
{
	struct replay_bill b = replay_recorded(w);
	struct json j = json_begin(stdout);

	json_text(&j, "program", "ipcwait replay");
	json_whole(&j, "format", FORMAT_VERSION);
	json_text(&j, "libipcwait", ipcwait_version());
	json_whole(&j, "wake_ns", price->late_ns);
	json_whole(&j, "paid_ns", price->paid_ns);
	json_whole(&j, "left_out", w->n - b.waits);
	json_open(&j, "rules", '{');
	write_row(&j, "as_recorded", &b, price);
	for (size_t i = 0; i < ROWS; i++) {
		b = replay_under(w, rows[i].rule, price);
		write_row(&j, rows[i].name, &b, price);
	}
	for (unsigned i = 0; o->all && i < n_rules; i++) {
		if (is_left_out(rules[i]))
			continue;
		b = replay_under(w, rules[i], price);
		write_row(&j, name_of(rules[i]), &b, price);
	}
	json_close(&j, '}');
	json_end(&j);
}

int replay_main(int argc, char **argv)
{
	struct options o = { .file = RECORD_FILE };
	int r = arguments_parse(&o, &arguments, argc, argv);
	struct replay_price price = { 0 };
	struct waits w;

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	if (waits_open(&w, o.file))
		return EXIT_FAILED;
	r = set_price(&price, &o, &w);
	replay_sort(&w);
	if (!r && o.json)
		write_json(&w, &o, &price);
	else if (!r)
		print(&w, &o, &price);
	waits_close(&w);
	return r ? EXIT_FAILED : EXIT_DONE;
}
