/* SPDX-License-Identifier: MIT */
#include "pid1.h"
#include "line.h"

#include <errno.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static void mount_one(const char *type, const char *where)
{
	mkdir(where, 0755);
	/* EBUSY: the kernel has done it by itself, as some do with devtmpfs. */
	if (mount(type, where, type, 0, NULL) && errno != EBUSY)
		line_error(where, errno);
}

void pid1_mount(void)
{
	mount_one("proc", "/proc");
	mount_one("sysfs", "/sys");
	mount_one("devtmpfs", "/dev");
	mkdir("/tmp", 0777);
}

void pid1_power_off(void)
{
	/* The serial line is slow: what stands in its buffer would be lost. */
	tcdrain(STDOUT_FILENO);
	reboot(RB_POWER_OFF);
	/* An init that returns is a panic. The host has a time limit. */
	for (;;)
		pause();
}
