/* SPDX-License-Identifier: MIT */
/* A user of the installed package: one inline path, one slow path, one plain function. */
#include <stdio.h>

#include <ipcwait/ipcwait.h>

int main(void)
{
	static struct ipcwait_sem s;

	if (ipcwait_sem_post(&s) || ipcwait_sem_wait(&s) ||
	    ipcwait_sem_wait_until(&s, 0) == 0)
		return 1;
	puts(ipcwait_version());
	return 0;
}
