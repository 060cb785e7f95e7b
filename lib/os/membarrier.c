/* SPDX-License-Identifier: MIT */
#include <linux/membarrier.h>
#include <sys/syscall.h>

#include "os/membarrier.h"
#include "os/syscall.h"

static bool command(long number)
{
	return iw_syscall(SYS_membarrier, number, 0, 0, 0, 0, 0) == 0;
}

bool iw_membarrier_register(void)
{
	return command(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

/* A child of fork(2) that the kernel does not count as registered is so now. */
bool iw_membarrier(void)
{
	return command(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
	       (iw_membarrier_register() && command(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}
