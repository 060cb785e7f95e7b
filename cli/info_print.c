/* SPDX-License-Identifier: MIT */
/* The facts for people: a line for what belongs together. */
#include "info.h"

#include <string.h>

#define LABEL_WIDTH 15
#define WIDTH       80
#define LINE_BYTES  2048

/* "{key}" stands for a fact. A row without a label is a heading, one without a form belongs to
 * the idle states. */
static const struct row {
	const char *label, *form;
} rows[] = {
	{ NULL, "ipcwait {libipcwait_version} (headers {libipcwait_header_version})" },
	{ NULL, "Machine" },
	{ "CPU", "{cpu_model} ({cpu_vendor}), {architecture}" },
	{ "CPUs", "{cpus_online} online, {cpus_usable} usable here; quota: {quota_cpus}" },
	{ "topology", "threads per core: {threads_per_core}, NUMA nodes: {numa_nodes}" },
	{ "L2 cache", "{l2_bytes}, CPUs that share it: {l2_shared_by_cpus}" },
	{ "L3 cache", "{l3_bytes}, CPUs that share it: {l3_shared_by_cpus}" },
	{ "memory", "{memory_bytes}, {memory_available_bytes} available" },
	{ "load",
	  "{load_1min} {load_5min} {load_15min} in 1, 5, 15 minutes; up {uptime_s}" },
	{ "hypervisor", "{hypervisor}" },
	{ "stolen time", "{steal_share} of all CPU time since boot" },
	{ "product", "{product_vendor} {product}" },
	{ NULL, "Idle CPUs" },
	{ "cpuidle", "driver {idle_driver}, governor {idle_governor}" },
	{ "CPU {looked_at_cpu}", NULL },
	{ "haltpoll", "polls for up to {guest_halt_poll_ns} before it halts; grow "
		      "{guest_halt_poll_grow} from {guest_halt_poll_grow_start_ns}, shrink "
		      "{guest_halt_poll_shrink} ({guest_halt_poll_allow_shrink})" },
	{ "as a KVM host", "polls for {kvm_halt_poll_ns} when a guest halts" },
	{ "cpufreq", "driver {cpufreq_driver}, governor {cpufreq_governor}" },
	{ NULL, "Kernel" },
	{ "release", "{kernel_release}, {kernel_build}" },
	{ "preemption", "{preempt_model}; mode: {preempt_mode}" },
	{ "distribution", "{distribution}" },
	{ "clock source", "{clocksource}, one of: {clocksources}" },
	{ "tick", "{tick_ns}, HZ {tick_hz}" },
	{ "boot options", "{boot_options}" },
	{ "call filter", "{call_filter}" },
	{ "huge pages", "{transparent_hugepages}" },
	{ "perf", "perf_event_paranoid {perf_event_paranoid}" },
	{ "vulnerable", "{vulnerable}" },
	{ "mitigated", "{mitigated}" },
	{ NULL, "Programs with libipcwait" },
	{ "C library", "glibc {glibc_version}, rseq registered: {rseq_registered}" },
	{ "B", "{block_cost_ns}, from: {block_cost_from}" },
	{ "calibration", "{calibration_file}, measured at: {calibration_measured_at}" },
	{ "preset", "{default_preset}" },
	{ "variables", "{variables}" },
	{ "spinning here", "{spins_here}: {spins_here_because}" },
};

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), length = strlen(end);

	return n >= length && !strcmp(text + n - length, end);
}

/* By the unit in the key. */
static void show_number(char *text, size_t size, const struct info_fact *fact)
{
	double n = fact->number;

	if (ends_in(fact->key, "_bytes") && n >= 1 << 30)
		(void)snprintf(text, size, "%.1f GiB", n / (1 << 30));
	else if (ends_in(fact->key, "_bytes") && n >= 1 << 20)
		(void)snprintf(text, size, "%.4g MiB", n / (1 << 20));
	else if (ends_in(fact->key, "_bytes"))
		(void)snprintf(text, size, "%.4g KiB", n / 1024);
	else if (ends_in(fact->key, "_ns") && n >= 1e6)
		(void)snprintf(text, size, "%g ms", n / 1e6);
	else if (ends_in(fact->key, "_ns") && n >= 1000)
		(void)snprintf(text, size, "%g us", n / 1000);
	else if (ends_in(fact->key, "_ns"))
		(void)snprintf(text, size, "%g ns", n);
	else if (ends_in(fact->key, "_s"))
		(void)snprintf(text, size, "%.1f hours", n / 3600);
	else if (ends_in(fact->key, "_share"))
		(void)snprintf(text, size, "%.4f %%", n * 100);
	else
		(void)snprintf(text, size, "%.10g", n);
}

static void show_list(char *text, size_t size, const struct info_fact *fact)
{
	const char *at = fact->text;

	text[0] = '\0';
	if (!*at)
		info_append(text, size, "none");
	while (*at) {
		int length = (int)strcspn(at, "\n");
		char member[INFO_TEXT_BYTES];

		(void)snprintf(member, sizeof(member), "%.*s%s", length, at,
			       at[length] && at[length + 1] ? " " : "");
		info_append(text, size, member);
		at += length + (at[length] == '\n');
	}
}

static void show(char *text, size_t size, const struct info_fact *fact)
{
	switch (fact->kind) {
	case INFO_NUMBER:
		show_number(text, size, fact);
		break;
	case INFO_BOOLEAN:
		(void)snprintf(text, size, "%s", fact->number != 0 ? "yes" : "no");
		break;
	case INFO_LIST:
		show_list(text, size, fact);
		break;
	case INFO_MISSING:
		(void)snprintf(text, size, "not available: %s", fact->text);
		break;
	default:
		(void)snprintf(text, size, "%s", fact->text);
		break;
	}
}

/* The fact whose name in braces begins at @at; NULL if none does. */
static const struct info_fact *fact_at(const struct info *info, const char *at,
				       size_t *length)
{
	char key[64];
	size_t n = *at == '{' ? strcspn(at, "}") : 0;

	if (!n || n >= sizeof(key))
		return NULL;
	memcpy(key, at + 1, n - 1);
	key[n - 1] = '\0';
	*length = n + 1;
	return info_find(info, key);
}

/* Every fact of a form filled in. */
static void fill_in(const struct info *info, const char *form, char line[LINE_BYTES])
{
	line[0] = '\0';
	for (size_t n; *form; form += n) {
		const struct info_fact *fact = fact_at(info, form, &n);
		char text[LINE_BYTES] = "";

		if (fact) {
			show(text, sizeof(text), fact);
		} else {
			n = 1 + strcspn(form + 1, "{");
			(void)snprintf(text, sizeof(text), "%.*s", (int)n, form);
		}
		info_append(line, LINE_BYTES, text);
	}
}

/* The first fact of a form if nothing of the form is known. */
static const struct info_fact *all_missing(const struct info *info, const char *form)
{
	const struct info_fact *first = NULL;

	for (; *form; form++) {
		size_t n;
		const struct info_fact *fact = fact_at(info, form, &n);

		if (fact && fact->kind != INFO_MISSING)
			return NULL;
		first = first ? first : fact;
	}
	return first;
}

/* Words of a row, and of its next lines if they do not fit. */
static void print_row(FILE *f, const char *label, const char *text)
{
	int column = fprintf(f, "  %-*s", LABEL_WIDTH - 1, label);

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column >= LABEL_WIDTH + 2 && column + length >= WIDTH)
			column = fprintf(f, "\n%*s", LABEL_WIDTH + 1, "") - 1;
		column += fprintf(f, " %.*s", length, text);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

static void add_figure(char line[LINE_BYTES], const char *before, double n,
		       const char *unit)
{
	char text[64];

	if (n < 0)
		(void)snprintf(text, sizeof(text), "%s?%s", before, unit);
	else
		(void)snprintf(text, sizeof(text), "%s%.0f%s", before, n, unit);
	info_append(line, LINE_BYTES, text);
}

static void print_states(FILE *f, const struct info *info, const char *label)
{
	for (unsigned i = 0; i < info->states; i++) {
		const struct info_state *s = &info->state[i];
		char line[LINE_BYTES] = "";

		info_append(line, sizeof(line), s->name);
		add_figure(line, ": exit ", s->exit_us, " us, ");
		add_figure(line, "stay ", s->residency_us, " us, ");
		add_figure(line, "", s->usage, " times, ");
		add_figure(line, "", s->time_us < 0 ? -1 : s->time_us / 1e6, " s");
		info_append(line, sizeof(line), s->disabled ? ", disabled" : "");
		print_row(f, i ? "" : label, line);
	}
}

static void print_fact_row(FILE *f, const struct info *info, const struct row *row)
{
	char label[LINE_BYTES], line[LINE_BYTES];
	const char *form = row->form ? row->form : "{idle_states}";
	const struct info_fact *missing = all_missing(info, form);

	fill_in(info, row->label, label);
	if (!row->form && !missing) {
		print_states(f, info, label);
		return;
	}
	if (missing)
		show(line, sizeof(line), missing);
	else
		fill_in(info, form, line);
	print_row(f, label, line);
}

void info_print(FILE *f, const struct info *info)
{
	char line[LINE_BYTES];

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].label) {
			print_fact_row(f, info, &rows[i]);
			continue;
		}
		fill_in(info, rows[i].form, line);
		fprintf(f, "%s%s\n", line,
			!i && info_is_saved_tree(info) ? ", about a saved tree" : "");
	}
}
