/* SPDX-License-Identifier: MIT */
/* The token that the fragment posts is taken by a child, through the same memory. */
#include <ipcwait/sem.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int status;

	/* @BLOCK@ */

	if (fork() == 0)
		_exit(ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(10000000000)) != 0);
	wait(&status);
	return status || ipcwait_sem_value(s) != 0 || close(fd);
}
