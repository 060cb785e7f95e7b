/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "os/worker.h"
#include "calibrate/team.h"

/* Looks between two readings of the clock. */
#define CLOCK_LOOKS 64

void iw_team_fail(struct iw_team *t, int error)
{
	uint32_t none = 0;

	/* ORD team.X1: relaxed, hint: the other thread may try a little longer. */
	(void)ipcwait_impl_cas32_relaxed(&t->failed, &none, (uint32_t)error);
}

static bool failed(const struct iw_team *t)
{
	/* ORD team.X2: relaxed, hint as team.X1. */
	return ipcwait_impl_load32_relaxed(&t->failed) != 0;
}

bool iw_team_patient(struct iw_team *t, uint32_t looks)
{
	iw_pause();
	if (looks % CLOCK_LOOKS != 0)
		return true;
	if (iw_clock_ns() > t->give_up_ns)
		iw_team_fail(t, EAGAIN);
	return !failed(t);
}

int iw_team_run(struct iw_team *t, void (*first)(void *), void (*second)(void *),
		void *phase)
{
	struct iw_worker worker[2] = {
		{ .body = first, .arg = phase },
		{ .body = second, .arg = phase },
	};
	unsigned started = 0, n = second ? 2 : 1;
	int r = 0;

	t->failed = (struct ipcwait_word32){ 0 };
	t->give_up_ns = iw_clock_ns() + IW_TEAM_PATIENCE_NS;
	while (started < n && !r) {
		r = iw_worker_start(&worker[started], t->cpu[started]);
		started += r == 0;
	}
	/* The CPU was usable when it was chosen. */
	if (r)
		iw_team_fail(t, r == -EINVAL ? EAGAIN : -r);
	while (started)
		iw_worker_join(&worker[--started]);
	/* ORD team.X3: relaxed, protected by the joins. */
	return -(int)ipcwait_impl_load32_relaxed(&t->failed);
}
