/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "env/calibration_key.h"
#include "os/cpu_mask.h"
#include "os/file.h"
#include "os/seam.h"

#define PART_BYTES sizeof(((struct iw_calibration_key *)0)->part[0])
#define IDLE       "/sys/devices/system/cpu/cpuidle/"

/* One line of plain text: what a file or a CPU calls itself may hold anything. */
static void clean(char *text)
{
	text[strcspn(text, "\n")] = '\0';
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	if (!text[0])
		memcpy(text, IW_KEY_UNKNOWN, sizeof(IW_KEY_UNKNOWN));
}

static void read_line(const char *path, char *text, size_t size)
{
	(void)iw_file_read(path, text, size);
	clean(text);
}

/* Where the CPU itself does not tell: Arm's identification register, or else the kernel. */
static void read_cpu(char *text)
{
	char about[IW_ARCH_DESCRIPTION_BYTES + 256];

	iw_arch_describe(text);
	if (*text) {
		clean(text);
		return;
	}
	if (iw_file_read("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", about,
			 sizeof(about)) <= 0)
		(void)iw_file_read("/proc/cpuinfo", about, sizeof(about));
	(void)snprintf(text, PART_BYTES, "%08" PRIx32,
		       iw_fnv(IW_FNV_BEGIN, about, strlen(about)));
}

/* Driver, governor and how long the guest itself polls before it halts. */
static void read_idle(char *text)
{
	char driver[32], governor[32], poll[24];

	read_line(IDLE "current_driver", driver, sizeof(driver));
	read_line(IDLE "current_governor_ro", governor, sizeof(governor));
	read_line("/sys/module/haltpoll/parameters/guest_halt_poll_ns", poll, sizeof(poll));
	(void)snprintf(text, PART_BYTES, "%s %s %s", driver, governor, poll);
}

/* Of the first thread: the others of a program are often pinned, each elsewhere. */
static void read_affinity(char *text)
{
	struct iw_cpu_mask mask;
	unsigned cpus = 0;

	iw_cpu_mask_of_process(&mask);
	for (unsigned i = 0; i < IW_CPU_MOST; i++)
		cpus += iw_cpu_mask_has(&mask, i);
	(void)snprintf(text, PART_BYTES, "%u %08" PRIx32, cpus,
		       iw_fnv(IW_FNV_BEGIN, &mask, sizeof(mask)));
}

void iw_calibration_key_read(struct iw_calibration_key *key)
{
	read_line("/proc/sys/kernel/random/boot_id", key->part[IW_KEY_BOOT], PART_BYTES);
	read_line("/proc/sys/kernel/osrelease", key->part[IW_KEY_KERNEL], PART_BYTES);
	read_cpu(key->part[IW_KEY_CPU]);
	read_idle(key->part[IW_KEY_IDLE]);
	read_affinity(key->part[IW_KEY_AFFINITY]);
}
