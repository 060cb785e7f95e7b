/* SPDX-License-Identifier: MIT */
#include "environment.h"
#include "cpus.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NOT_AVAILABLE "not available"
#define CPU_SYS       "/sys/devices/system/cpu/"
#define CLOCK_SYS     "/sys/devices/system/clocksource/clocksource0/"

/* The first line of a file without its end. */
static bool read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, size, f);

	if (ok)
		line[strcspn(line, "\n")] = 0;
	else
		snprintf(line, (size_t)size, "%s", NOT_AVAILABLE);
	if (f)
		fclose(f);
	return ok;
}

static const char *after_colon(const char *line)
{
	const char *p = strchr(line, ':');

	return p && p[1] ? p + 2 : line;
}

/* What the CPU says about itself. */
enum is_virtual {
	IS_VIRTUAL_UNKNOWN, /* nothing: it has no such flag, as on ARM */
	IS_VIRTUAL_NO,
	IS_VIRTUAL_YES,
};

/* The first CPU's model, and whether the CPU says that it is a virtual one. */
static enum is_virtual read_cpuinfo(struct environment *e)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	enum is_virtual hypervisor = IS_VIRTUAL_UNKNOWN;
	char line[4096];

	snprintf(e->cpu, sizeof(e->cpu), "%s", NOT_AVAILABLE);
	while (f && fgets(line, sizeof(line), f) && line[0] != '\n') {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "model name", 10))
			snprintf(e->cpu, sizeof(e->cpu), "%.79s", after_colon(line));
		else if (!strncmp(line, "flags", 5))
			hypervisor = strstr(line, " hypervisor") ? IS_VIRTUAL_YES
								 : IS_VIRTUAL_NO;
	}
	if (f)
		fclose(f);
	return hypervisor;
}

/* The firmware names the maker of a machine, who may rent out the bare one as well. */
#define DMI_SYS "/sys/class/dmi/id/"

/* Files that exist or name something only under one hypervisor; DMI only in a guest. */
static const struct trace {
	const char *path;
	const char *word;
	const char *name;
} traces[] = {
	{ CLOCK_SYS "available_clocksource", "kvm-clock", "KVM" },
	{ CLOCK_SYS "available_clocksource", "hyperv", "Hyper-V" },
	{ CLOCK_SYS "available_clocksource", "xen", "Xen" },
	{ CPU_SYS "cpuidle/current_driver", "haltpoll", "KVM" },
	{ "/sys/hypervisor/type", "xen", "Xen" },
	{ DMI_SYS "sys_vendor", "QEMU", "QEMU" },
	{ DMI_SYS "sys_vendor", "VMware", "VMware" },
	{ DMI_SYS "sys_vendor", "innotek", "VirtualBox" },
	{ DMI_SYS "sys_vendor", "Amazon EC2", "Amazon EC2" },
	{ DMI_SYS "sys_vendor", "Google", "Google Compute Engine" },
	{ DMI_SYS "product_name", "KVM", "KVM" },
	{ "/proc/device-tree/hypervisor/compatible", "kvm", "KVM" },
};

static void name_hypervisor(struct environment *e, enum is_virtual flag)
{
	const char *name =
		flag == IS_VIRTUAL_YES ? "yes, name " NOT_AVAILABLE : "none seen";
	char line[256];

	for (unsigned i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		if (flag == IS_VIRTUAL_NO &&
		    !strncmp(traces[i].path, DMI_SYS, strlen(DMI_SYS)))
			continue;
		if (read_line(traces[i].path, line, sizeof(line)) &&
		    strstr(line, traces[i].word)) {
			name = traces[i].name;
			break;
		}
	}
	snprintf(e->hypervisor, sizeof(e->hypervisor), "%s", name);
}

static void read_idle_states(struct environment *e)
{
	char path[96], name[32];
	size_t used = 0;

	snprintf(e->idle_states, sizeof(e->idle_states), "%s", NOT_AVAILABLE);
	for (int i = 0; i < 10; i++) {
		snprintf(path, sizeof(path), CPU_SYS "cpu0/cpuidle/state%d/name", i);
		if (!read_line(path, name, sizeof(name)))
			return;
		if (used + strlen(name) + 3 > sizeof(e->idle_states))
			return;
		used += (size_t)snprintf(e->idle_states + used,
					 sizeof(e->idle_states) - used, "%s%s",
					 i ? ", " : "", name);
	}
}

static void read_kernel(struct environment *e)
{
	struct utsname u;

	if (uname(&u))
		snprintf(e->kernel, sizeof(e->kernel), "%s", NOT_AVAILABLE);
	else
		snprintf(e->kernel, sizeof(e->kernel), "%.20s %.50s %.20s", u.sysname,
			 u.release, u.machine);
}

void environment_read(struct environment *e)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	enum is_virtual flag = read_cpuinfo(e);

	name_hypervisor(e, flag);
	read_kernel(e);
	read_idle_states(e);
	read_line(CPU_SYS "cpuidle/current_driver", e->idle_driver, sizeof(e->idle_driver));
	read_line(CPU_SYS "cpuidle/current_governor_ro", e->idle_governor,
		  sizeof(e->idle_governor));
	read_line("/sys/module/haltpoll/parameters/guest_halt_poll_ns",
		  e->guest_halt_poll_ns, sizeof(e->guest_halt_poll_ns));
	read_line(CLOCK_SYS "current_clocksource", e->clock, sizeof(e->clock));
	read_line("/proc/loadavg", e->load_average, sizeof(e->load_average));
	e->load_average[strcspn(e->load_average, " ")] = 0;
	e->cpus_usable = cpus_usable(NULL, 0);
	e->cpus_online = online > 0 ? (unsigned)online : 1;
}
