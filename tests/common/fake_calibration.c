/* SPDX-License-Identifier: MIT */
/*
 * The rest of the kernel of fake_os.c: no saved calibration, no second CPU and no threads, so
 * that nothing is calibrated.
 */
#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "os/clock.h"
#include "os/cpu_mask.h"
#include "os/private_file.h"
#include "os/usage.h"
#include "os/worker.h"

int iw_private_file_open(const char *path, size_t bytes_most)
{
	(void)path;
	(void)bytes_most;
	return -ENOENT;
}

int iw_private_file_read(int fd, char *bytes, size_t size)
{
	(void)fd;
	(void)bytes;
	(void)size;
	return -EBADF;
}

void iw_private_file_close(int fd)
{
	(void)fd;
}

int iw_private_file_write(const char *path, const char *bytes, size_t size)
{
	(void)path;
	(void)bytes;
	(void)size;
	return -EROFS;
}

int iw_private_file_make_room(const char *path)
{
	(void)path;
	return -EROFS;
}

void iw_cpu_mask_of_thread(struct iw_cpu_mask *mask)
{
	memset(mask, 0, sizeof(*mask));
	iw_cpu_mask_add(mask, 0);
}

void iw_cpu_mask_of_process(struct iw_cpu_mask *mask)
{
	iw_cpu_mask_of_thread(mask);
}

uint64_t iw_clock_wall_s(void)
{
	return 0;
}

uint32_t iw_usage_process(void)
{
	return 1;
}

uint64_t iw_usage_preemptions(void)
{
	return 0;
}

uint64_t iw_usage_cpu_ns(void)
{
	return 0;
}

uint64_t iw_usage_steal(unsigned cpu_a, unsigned cpu_b)
{
	(void)cpu_a;
	(void)cpu_b;
	return 0;
}

int iw_worker_start(struct iw_worker *w, unsigned cpu)
{
	(void)w;
	(void)cpu;
	return -EAGAIN;
}

void iw_worker_join(struct iw_worker *w)
{
	(void)w;
	CHECK(!"no worker was started");
}

int iw_cancel_off(void)
{
	return 0;
}

void iw_cancel_restore(int state)
{
	(void)state;
}
