/* SPDX-License-Identifier: MIT */
/* Which CPUs there are, and which of them this process may use. */
#include "info.h"
#include "../tools/common/cpu_list.h"

#include <string.h>
#include <sys/utsname.h>

/* A CPU of x86 has some 2 KiB in /proc/cpuinfo; the first is enough. */
#define CPUINFO_BYTES 8192

/* With the masks of the most CPUs. */
#define STATUS_BYTES 16384

/* arm64 tells numbers: MIDR_EL1, Arm's list of implementers. */
static const struct {
	const char *code, *name;
} implementers[] = {
	{ "0x41", "Arm" },      { "0x42", "Broadcom" },  { "0x43", "Cavium" },
	{ "0x46", "Fujitsu" },  { "0x48", "HiSilicon" }, { "0x4e", "NVIDIA" },
	{ "0x51", "Qualcomm" }, { "0x61", "Apple" },     { "0x6d", "Microsoft" },
	{ "0xc0", "Ampere" },
};

static const char *implementer(const char *code)
{
	for (size_t i = 0; i < sizeof(implementers) / sizeof(implementers[0]); i++)
		if (!strcmp(code, implementers[i].code))
			return implementers[i].name;
	return code;
}

/* x86, arm64, riscv64. */
static void put_model(struct info *info, const char *cpuinfo)
{
	char value[INFO_TEXT_BYTES], text[INFO_TEXT_BYTES] = "part ";

	if (info_field(cpuinfo, "model name", value, sizeof(value)) ||
	    info_field(cpuinfo, "uarch", value, sizeof(value))) {
		info_put_text(info, "cpu_model", value);
	} else if (info_field(cpuinfo, "CPU part", value, sizeof(value))) {
		info_append(text, sizeof(text), value);
		info_put_text(info, "cpu_model", text);
	} else {
		info_put_missing(info, "cpu_model", "/proc/cpuinfo does not tell");
	}
	if (info_field(cpuinfo, "vendor_id", value, sizeof(value)) ||
	    info_field(cpuinfo, "mvendorid", value, sizeof(value)))
		info_put_text(info, "cpu_vendor", value);
	else if (info_field(cpuinfo, "CPU implementer", value, sizeof(value)))
		info_put_text(info, "cpu_vendor", implementer(value));
	else
		info_put_missing(info, "cpu_vendor", "/proc/cpuinfo does not tell");
}

/* The file exists since Linux 6.1. */
static void put_architecture(struct info *info)
{
	char text[INFO_TEXT_BYTES];
	struct utsname name;

	if (info_line(info, text, sizeof(text), "/proc/sys/kernel/arch"))
		info_put_text(info, "architecture", text);
	else if (!info_is_saved_tree(info) && !uname(&name))
		info_put_text(info, "architecture", name.machine);
	else
		info_put_missing(info, "architecture", text);
}

static void put_list(struct info *info, const char *key, const char *text)
{
	unsigned n = cpu_list_count(text, &info->cpu);

	if (n)
		info_put_number(info, key, n);
	else
		info_put_missing(info, key, "the list of CPUs makes no sense");
}

static void put_counts(struct info *info)
{
	char text[STATUS_BYTES], list[STATUS_BYTES];

	if (info_read(info, text, sizeof(text), "/sys/devices/system/cpu/online"))
		put_list(info, "cpus_online", text);
	else
		info_put_missing(info, "cpus_online", text);
	/* The last to choose the CPU that is looked at: one that this process may use. */
	if (!info_read(info, text, sizeof(text), "/proc/self/status"))
		info_put_missing(info, "cpus_usable", text);
	else if (info_field(text, "Cpus_allowed_list", list, sizeof(list)))
		put_list(info, "cpus_usable", list);
	else
		info_put_missing(info, "cpus_usable", "/proc/self/status does not tell");
}

static void put_list_length(struct info *info, const char *key, const char *text, bool read)
{
	unsigned n = read ? cpu_list_count(text, NULL) : 0;

	if (n)
		info_put_number(info, key, n);
	else
		info_put_missing(info, key, read ? "the list makes no sense" : text);
}

void info_read_cpu(struct info *info)
{
	char text[CPUINFO_BYTES];
	bool read = info_read(info, text, sizeof(text), "/proc/cpuinfo");

	if (read) {
		put_model(info, text);
	} else {
		info_put_missing(info, "cpu_model", text);
		info_put_missing(info, "cpu_vendor", text);
	}
	put_architecture(info);
	put_counts(info);
	info_put_number(info, "looked_at_cpu", info->cpu);
	read = info_read(info, text, sizeof(text),
			 "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
			 info->cpu);
	put_list_length(info, "threads_per_core", text, read);
	read = info_read(info, text, sizeof(text), "/sys/devices/system/node/online");
	put_list_length(info, "numa_nodes", text, read);
}
