/* SPDX-License-Identifier: MIT */
/*
 * Is this a guest, and of what? CPUID would say, but instructions are the library's business;
 * the kernel's files say as much.
 */
#include "info.h"

#include <string.h>

/* With the flags of one CPU. */
#define CPUINFO_BYTES 8192

enum answer { NO, YES, UNKNOWN };

/* What stands in some file, and who is behind it. The first that is found counts. */
struct hint {
	const char *word, *name;
};

/* The kernel offers the clock of its hypervisor, whether it uses it or not. */
static const struct hint clocks[] = {
	{ "kvm-clock", "KVM" },
	{ "hyperv_clocksource", "Hyper-V" },
	{ "xen", "Xen" },
};

static const struct hint products[] = {
	{ "QEMU", "QEMU" },
	{ "KVM", "KVM" },
	{ "VMware", "VMware" },
	{ "VirtualBox", "VirtualBox" },
	{ "Google Compute Engine", "KVM" },
	{ "Microsoft Corporation Virtual Machine", "Hyper-V" },
};

static const char *look_up(const struct hint *hints, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(text, hints[i].word))
			return hints[i].name;
	return NULL;
}

/* CPUs of x86 have a flag for it. */
static enum answer ask_cpu(const struct info *info)
{
	char text[CPUINFO_BYTES], flags[CPUINFO_BYTES];

	if (!info_read(info, text, sizeof(text), "/proc/cpuinfo") ||
	    !info_field(text, "flags", flags, sizeof(flags)))
		return UNKNOWN;
	return strstr(flags, " hypervisor") ? YES : NO;
}

static const char *find_name(const struct info *info, char text[INFO_TEXT_BYTES])
{
	char product[INFO_TEXT_BYTES / 2];
	const char *name = NULL;

	if (info_line(info, text, INFO_TEXT_BYTES, "/sys/hypervisor/type") && *text)
		return text;
	if (info_line(info, text, INFO_TEXT_BYTES,
		      "/proc/device-tree/hypervisor/compatible") &&
	    *text)
		return text;
	if (info_line(info, text, INFO_TEXT_BYTES,
		      "/sys/devices/system/clocksource/clocksource0/available_clocksource"))
		name = look_up(clocks, sizeof(clocks) / sizeof(clocks[0]), text);
	if (name ||
	    !info_line(info, text, INFO_TEXT_BYTES / 2, "/sys/class/dmi/id/sys_vendor") ||
	    !info_line(info, product, sizeof(product), "/sys/class/dmi/id/product_name"))
		return name;
	info_append(text, INFO_TEXT_BYTES, " ");
	info_append(text, INFO_TEXT_BYTES, product);
	return look_up(products, sizeof(products) / sizeof(products[0]), text);
}

static void put_hypervisor(struct info *info)
{
	static const char unknown[] = "this CPU does not tell";
	static const char nameless[] =
		"the CPU says that there is one, and nothing names it";
	char text[INFO_TEXT_BYTES];
	const char *name = find_name(info, text);
	/* Xen and device trees say it themselves. A clock or a product proves nothing where
	 * the CPU denies it: a host of guests may have them too. */
	enum answer virtual = name == text ? YES : ask_cpu(info);

	if (virtual == UNKNOWN && name)
		virtual = YES;
	if (virtual == UNKNOWN)
		info_put_missing(info, "virtual", unknown);
	else
		info_put_boolean(info, "virtual", virtual == YES);
	if (virtual == NO)
		info_put_none(info, "hypervisor", "none");
	else if (name)
		info_put_text(info, "hypervisor", name);
	else
		info_put_missing(info, "hypervisor", virtual == YES ? nameless : unknown);
}

/* Boards without a BIOS have a device tree. Never the serial numbers that stand beside. */
static void put_product(struct info *info)
{
	char text[INFO_TEXT_BYTES];

	info_put_file(info, "product_vendor", "/sys/class/dmi/id/sys_vendor");
	if (info_line(info, text, sizeof(text), "/proc/device-tree/model") && *text)
		info_put_text(info, "product", text);
	else
		info_put_file(info, "product", "/sys/class/dmi/id/product_name");
}

void info_read_virtual(struct info *info)
{
	put_hypervisor(info);
	put_product(info);
}
