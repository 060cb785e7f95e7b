/* SPDX-License-Identifier: MIT */
/* The kernel, its clocks, and the settings that change what waiting costs. */
#include "info.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static bool pretty_name(const char *text, char name[INFO_TEXT_BYTES])
{
	static const char key[] = "PRETTY_NAME=";
	const char *at = strstr(text, key);

	if (!at)
		return false;
	at += sizeof(key) - 1;
	at += *at == '"' || *at == '\'';
	(void)snprintf(name, INFO_TEXT_BYTES, "%.*s", (int)strcspn(at, "\"'\n"), at);
	info_make_printable(name);
	return *name != '\0';
}

static void put_distribution(struct info *info)
{
	char text[4096], name[INFO_TEXT_BYTES];

	if (!info_read(info, text, sizeof(text), "/etc/os-release") &&
	    !info_read(info, text, sizeof(text), "/usr/lib/os-release"))
		info_put_missing(info, "distribution", "no /etc/os-release");
	else if (pretty_name(text, name))
		info_put_text(info, "distribution", name);
	else
		info_put_missing(info, "distribution",
				 "/etc/os-release has no PRETTY_NAME");
}

static const char *preempt_model(const char *build)
{
	if (strstr(build, "PREEMPT_RT"))
		return "real-time";
	if (strstr(build, "PREEMPT_DYNAMIC"))
		return "dynamic";
	if (strstr(build, "PREEMPT_LAZY"))
		return "lazy";
	return strstr(build, "PREEMPT") ? "full" : "voluntary or none";
}

/* The choice among several: "always [madvise] never", "none (full)". */
static void put_choice(struct info *info, const char *key, const char *marks,
		       const char *path)
{
	char text[INFO_TEXT_BYTES];
	char *begin, *end;

	if (!info_line(info, text, sizeof(text), "%s", path)) {
		info_put_missing(info, key, text);
		return;
	}
	begin = strchr(text, marks[0]);
	end = begin ? strchr(begin, marks[1]) : NULL;
	if (!end) {
		info_put_missing(info, key, "the file makes no sense");
		return;
	}
	*end = '\0';
	info_put_text(info, key, begin + 1);
}

static void put_release(struct info *info)
{
	const struct info_fact *build;

	info_put_file(info, "kernel_release", "/proc/sys/kernel/osrelease");
	info_put_file(info, "kernel_build", "/proc/sys/kernel/version");
	build = info_find(info, "kernel_build");
	if (build->kind == INFO_TEXT)
		info_put_text(info, "preempt_model", preempt_model(build->text));
	else
		info_put_missing(info, "preempt_model", build->text);
	/* For root only, as a rule. */
	put_choice(info, "preempt_mode", "()", "/sys/kernel/debug/sched/preempt");
}

static void put_clocks(struct info *info)
{
	char text[INFO_TEXT_BYTES];
	size_t n;

	info_put_file(info, "clocksource", CLOCKS "current_clocksource");
	if (!info_line(info, text, sizeof(text) - 1, CLOCKS "available_clocksource")) {
		info_put_missing(info, "clocksources", text);
		return;
	}
	for (n = 0; text[n]; n++)
		if (text[n] == ' ')
			text[n] = '\n';
	if (n)
		strcpy(text + n, "\n");
	info_put_list(info, "clocksources", text);
}

/* Coarse clocks advance with the tick, so their resolution is the tick. */
static void put_tick(struct info *info)
{
	struct timespec tick;
	const char *why = NULL;

	if (info_is_saved_tree(info))
		why = "a running kernel must be asked, and this is a saved tree";
	else if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec ||
		 !tick.tv_nsec)
		why = "there is no coarse clock";
	if (why) {
		info_put_missing(info, "tick_ns", why);
		info_put_missing(info, "tick_hz", why);
		return;
	}
	info_put_number(info, "tick_ns", (double)tick.tv_nsec);
	info_put_number(info, "tick_hz", (double)(1000000000 / tick.tv_nsec));
}

/* Of the boot options those that touch waiting; the others may name hosts and disks. */
static const char *const option_names[] = {
	"idle=",    "cpuidle",      "haltpoll.",  "intel_idle.",   "processor.",
	"nohlt",    "nohz",         "isolcpus=",  "rcu_nocbs",     "mitigations=",
	"preempt=", "clocksource=", "tsc=",       "no-kvmclock",   "no-steal-acc",
	"nosmt",    "nosmp",        "amd_pstate", "intel_pstate=", "transparent_hugepage=",
	"highres=", "hpet=",        "threadirqs", "maxcpus=",      "nr_cpus=",
	"kvm.",     "sched_",       "nopvspin",   "xen_nopvspin",  "skew_tick=",
	"cpufreq.",
};

static bool is_about_waiting(const char *option)
{
	for (size_t i = 0; i < sizeof(option_names) / sizeof(option_names[0]); i++)
		if (!strncmp(option, option_names[i], strlen(option_names[i])))
			return true;
	return false;
}

static void put_boot_options(struct info *info)
{
	char text[4096], list[INFO_TEXT_BYTES] = "", *rest = text;

	if (!info_line(info, text, sizeof(text), "/proc/cmdline")) {
		info_put_missing(info, "boot_options", text);
		return;
	}
	for (char *option; (option = strsep(&rest, " "));) {
		if (!strcmp(option, "--")) /* the rest is for the first process */
			break;
		if (!is_about_waiting(option) ||
		    strlen(list) + strlen(option) + 2 > sizeof(list))
			continue;
		info_append(list, sizeof(list), option);
		info_append(list, sizeof(list), "\n");
	}
	info_put_list(info, "boot_options", list);
}

/* Of this process, as of all in a container; a saved tree has it of the process that saved it. */
static void put_filter(struct info *info)
{
	static const char key[] = "call_filter";
	char text[4096], mode[INFO_TEXT_BYTES];

	if (!info_read(info, text, sizeof(text), "/proc/self/status"))
		info_put_missing(info, key, text);
	else if (!info_field(text, "Seccomp", mode, sizeof(mode)))
		info_put_missing(info, key, "/proc/self/status does not tell");
	else if (!strcmp(mode, "0"))
		info_put_none(info, key, "none");
	else
		info_put_text(info, key, "seccomp");
}

void info_read_kernel(struct info *info)
{
	put_release(info);
	put_distribution(info);
	put_clocks(info);
	put_tick(info);
	put_boot_options(info);
	put_filter(info);
	put_choice(info, "transparent_hugepages", "[]",
		   "/sys/kernel/mm/transparent_hugepage/enabled");
	info_put_file_number(info, "perf_event_paranoid",
			     "/proc/sys/kernel/perf_event_paranoid");
}
