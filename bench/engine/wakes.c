/* SPDX-License-Identifier: MIT */
#include "wakes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

const char *const wakes_names[WAKES_KINDS] = {
	[WAKES_FOUND] = "as found",
	[WAKES_CHEAP] = "cheap",
};

int wakes_hold(void)
{
	const int32_t zero = 0;
	int fd = open(WAKES_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, &zero, sizeof(zero)) == sizeof(zero))
		return fd;
	close(fd);
	return -EIO;
}

void wakes_release(int fd)
{
	close(fd);
}

void wakes_settle(void)
{
	const struct timespec second = { 1, 0 };

	nanosleep(&second, NULL);
}
