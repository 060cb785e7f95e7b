/* SPDX-License-Identifier: MIT */
/*
 * One wait on a semaphore that sleeps, and nothing else, for a build that counts what is executed:
 * see bench/road/road. It ends by its deadline, so that no poster is on the road.
 */
#include <ipcwait/sem.h>

#define WARM 20
#define NS   1000000

void __gcov_reset(void);
void __gcov_dump(void);

static int sleep_once(struct ipcwait_sem *s, int64_t deadline_ns)
{
	return ipcwait_sem_wait_until(s, deadline_ns) == -ETIMEDOUT ? 0 : 1;
}

int main(void)
{
	static struct ipcwait_sem s;
	int64_t deadline_ns;
	int r = 0;

	for (int i = 0; i < WARM; i++)
		r |= sleep_once(&s, ipcwait_deadline_in_ns(NS));
	deadline_ns = ipcwait_deadline_in_ns(NS);
	__gcov_reset();
	r |= sleep_once(&s, deadline_ns);
	__gcov_dump();
	return r;
}
