/* SPDX-License-Identifier: MIT */
#include "machine.h"
#include "json_writer.h"
#include "place.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
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
static enum is_virtual read_cpuinfo(struct machine *m)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	enum is_virtual hypervisor = IS_VIRTUAL_UNKNOWN;
	char line[4096];

	snprintf(m->cpu, sizeof(m->cpu), "%s", NOT_AVAILABLE);
	while (f && fgets(line, sizeof(line), f) && line[0] != '\n') {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "model name", 10))
			snprintf(m->cpu, sizeof(m->cpu), "%.79s", after_colon(line));
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

static void name_hypervisor(struct machine *m, enum is_virtual flag)
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
	snprintf(m->hypervisor, sizeof(m->hypervisor), "%s", name);
}

static void read_idle_states(struct machine *m)
{
	char path[96], name[32];
	size_t used = 0;

	snprintf(m->idle_states, sizeof(m->idle_states), "%s", NOT_AVAILABLE);
	for (int i = 0; i < 10; i++) {
		snprintf(path, sizeof(path), CPU_SYS "cpu0/cpuidle/state%d/name", i);
		if (!read_line(path, name, sizeof(name)))
			return;
		if (used + strlen(name) + 3 > sizeof(m->idle_states))
			return;
		used += (size_t)snprintf(m->idle_states + used,
					 sizeof(m->idle_states) - used, "%s%s",
					 i ? ", " : "", name);
	}
}

static void read_kernel(struct machine *m)
{
	struct utsname u;

	if (uname(&u))
		snprintf(m->kernel, sizeof(m->kernel), "%s", NOT_AVAILABLE);
	else
		snprintf(m->kernel, sizeof(m->kernel), "%.20s %.50s %.20s", u.sysname,
			 u.release, u.machine);
}

void machine_read(struct machine *m)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	enum is_virtual flag = read_cpuinfo(m);

	name_hypervisor(m, flag);
	read_kernel(m);
	read_idle_states(m);
	read_line(CPU_SYS "cpuidle/current_driver", m->idle_driver, sizeof(m->idle_driver));
	read_line(CPU_SYS "cpuidle/current_governor_ro", m->idle_governor,
		  sizeof(m->idle_governor));
	read_line("/sys/module/haltpoll/parameters/guest_halt_poll_ns",
		  m->guest_halt_poll_ns, sizeof(m->guest_halt_poll_ns));
	read_line(CLOCK_SYS "current_clocksource", m->clock_source,
		  sizeof(m->clock_source));
	read_line("/proc/loadavg", m->load_average, sizeof(m->load_average));
	m->load_average[strcspn(m->load_average, " ")] = 0;
	m->cpus_usable = place_cpus(NULL, 0);
	m->cpus_online = online > 0 ? (unsigned)online : 1;
}

void machine_write(struct json *j, const struct machine *m)
{
	json_text(j, "hypervisor", m->hypervisor);
	json_whole(j, "cpus_usable", m->cpus_usable);
	json_whole(j, "cpus_online", m->cpus_online);
	json_text(j, "cpu", m->cpu);
	json_text(j, "kernel", m->kernel);
	json_text(j, "clock_source", m->clock_source);
	json_text(j, "load_average", m->load_average);
	json_text(j, "idle_driver", m->idle_driver);
	json_text(j, "idle_governor", m->idle_governor);
	json_text(j, "idle_states", m->idle_states);
	json_text(j, "guest_halt_poll_ns", m->guest_halt_poll_ns);
}

/*
 * The first line of /proc/stat, in ticks: user nice system idle iowait irq softirq steal;
 * guest times are part of user and nice.
 */
int machine_time_read(struct machine_time *t)
{
	FILE *f = fopen("/proc/stat", "re");
	double per_second = (double)sysconf(_SC_CLK_TCK);
	long long n[8] = { 0 };
	int found = f ? fscanf(f, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &n[0],
			       &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7])
		      : 0;

	if (f)
		fclose(f);
	if (found < 7 || per_second <= 0)
		return -1;
	t->busy_s = (double)(n[0] + n[1] + n[2] + n[5] + n[6]) / per_second;
	t->stolen_s = (double)n[7] / per_second;
	return 0;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

double machine_own_seconds(int who)
{
	struct rusage own;

	return getrusage(who, &own) ? 0 : seconds(&own.ru_utime) + seconds(&own.ru_stime);
}
