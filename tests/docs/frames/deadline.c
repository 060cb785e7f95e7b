/* SPDX-License-Identifier: MIT */
/* Nobody makes it ready: the fragment gives up. If it is ready, it does not wait. */
#include <ipcwait/cond.h>
#include <ipcwait/mutex.h>

#include <errno.h>
#include <stdbool.h>

static struct ipcwait_mutex lock;
static struct ipcwait_cond changed;
static bool ready;

static int wait_for_it(void)
{
	/* @BLOCK@ */

	return r;
}

int main(void)
{
	if (wait_for_it() != -ETIMEDOUT)
		return 1;
	ready = true;
	return wait_for_it();
}
