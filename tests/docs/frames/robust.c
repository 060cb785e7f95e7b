/* SPDX-License-Identifier: MIT */
/* A child dies with the mutex; the fragment repairs what it left. */
#include <ipcwait/mutex.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
	struct ipcwait_mutex lock;
	int repaired;
};

static void repair(struct shared *s)
{
	s->repaired++;
}

int main(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (ipcwait_mutex_init(&shared->lock, IPCWAIT_ROBUST))
		return 1;
	if (fork() == 0)
		_exit(ipcwait_mutex_lock(&shared->lock) != 0);
	wait(NULL);

	/* @BLOCK@ */

	return r || shared->repaired != 1 || ipcwait_mutex_unlock(&shared->lock) ||
	       ipcwait_mutex_lock(&shared->lock);
}
