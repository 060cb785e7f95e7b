/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "original.h"
#include "owner.h"

_Thread_local uint64_t iw_owner_known __attribute__((tls_model("initial-exec")));

/*
 * A lock of its own tells. Not gettid(2), which a filter of system calls may forbid. Such a mutex
 * is never elided.
 */
__attribute__((noinline)) uint32_t iw_owner_ask(uint32_t generation)
{
	pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	uint32_t id;

	if (original()->mutex_lock(&m) != 0)
		return 0;
	id = (uint32_t)m.__data.__owner;
	(void)original()->mutex_unlock(&m);
	iw_owner_known = (uint64_t)generation << 32 | id;
	return id;
}
