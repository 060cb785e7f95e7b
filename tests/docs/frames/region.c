/* SPDX-License-Identifier: MIT */
/* The fragment stamps the memory; a header of another layout is refused after that. */
#include <ipcwait/region.h>
#include <ipcwait/sem.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void give_up(const char *format, int layout)
{
	printf(format, layout);
	exit(1);
}

int main(void)
{
	struct desk;
	struct desk *d =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	/* @BLOCK@ */

	ipcwait_sem_post(&d->asked);
	if (ipcwait_sem_wait(&d->asked) ||
	    ipcwait_region_layout(&d->region) != IPCWAIT_LAYOUT)
		return 1;
	((unsigned char *)&d->region)[7]++;
	return ipcwait_region_attach(&d->region) != -EPROTO;
}
