/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "os/eventfd.h"
#include "queue/channel_eventfd.h"

static int fd_of(uint64_t alarm)
{
	return (int)(alarm / 2) - 1;
}

static uint64_t read_alarm(const struct ipcwait_channel *ch)
{
	/* ORD channel_eventfd.X1: relaxed, no order needed: the descriptor is the kernel's. */
	return ipcwait_impl_load64_relaxed(&ch->alarm);
}

void iw_channel_alarm_slow(struct ipcwait_channel *ch)
{
	uint64_t w = read_alarm(ch);

	while (w & IW_ALARM_ARMED)
		/* ORD channel_eventfd.X2: relaxed, no order needed: only one of them sets it. */
		if (ipcwait_impl_cas64_relaxed(&ch->alarm, &w, w & ~IW_ALARM_ARMED)) {
			iw_eventfd_set(fd_of(w));
			break;
		}
}

bool iw_channel_alarm_rearm(struct ipcwait_channel *ch)
{
	uint64_t w = read_alarm(ch);

	if (!w)
		return false;
	iw_eventfd_clear(fd_of(w));
	/* ORD channel_eventfd.S2: seq_cst, before the last look. Pairs with channel_eventfd.S1. */
	(void)ipcwait_impl_or64_seq_cst(&ch->alarm, IW_ALARM_ARMED);
	return true;
}

void iw_channel_alarm_end(struct ipcwait_channel *ch)
{
	uint64_t w = read_alarm(ch);

	if (w)
		iw_eventfd_close(fd_of(w));
}

int ipcwait_channel_eventfd(struct ipcwait_channel *ch)
{
	uint64_t w = 0;
	int fd;

	if (!ch)
		return -EINVAL;
	if (ch->any != &iw_channel_made.any)
		return -ENOTSUP;
	w = read_alarm(ch);
	if (w)
		return fd_of(w);
	fd = iw_eventfd_make();
	/* ORD channel_eventfd.X3: relaxed, no order needed, as channel_eventfd.X1. */
	if (fd < 0 || ipcwait_impl_cas64_relaxed(&ch->alarm, &w, ((uint64_t)fd + 1) * 2))
		return fd;
	iw_eventfd_close(fd);
	return fd_of(w);
}
