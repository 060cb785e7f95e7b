/* SPDX-License-Identifier: MIT */
#ifndef IW_PRELOAD_OWNER_H
#define IW_PRELOAD_OWNER_H

#include <stdint.h>

#include <ipcwait/base.h>

#include "os/life.h"

/*
 * The calling thread as libc notes it in the locks that it owns, and above it the generation of
 * processes that this was read in: a child by fork(2) is another thread. One assignment, as in
 * lib/os/life.c.
 */
extern _Thread_local uint64_t iw_owner_known __attribute__((tls_model("initial-exec")));

/* Out of line: asks libc, and notes the answer. */
uint32_t iw_owner_ask(uint32_t generation);

/* The same; 0: libc does not tell. No system call. */
static inline uint32_t iw_owner_self(void)
{
	uint32_t generation = iw_process_generation();
	uint64_t known = iw_owner_known;

	if (IPCWAIT_LIKELY(generation && known >> 32 == generation))
		return (uint32_t)known;
	return iw_owner_ask(generation);
}

#endif
