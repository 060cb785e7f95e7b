/* SPDX-License-Identifier: MIT */
/* lib/os and the thread's data, as the layers above see them, over the checker. */
#include "interleave/sched.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/futex.h"
#include "os/rseq.h"
#include "os/thread.h"

/* What a reading of the clock takes, in ns. */
#define READING_NS 25

_Thread_local struct iw_thread iw_thread IW_TLS_INITIAL_EXEC;

const struct iw_rseq_sequence iw_rseq_sequence;
ptrdiff_t iw_rseq_offset;

int iw_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		  bool private_)
{
	return model_futex_wait(word, expected, deadline_ns, private_, UINT32_MAX);
}

int iw_futex_wake(const uint32_t *word, uint32_t count, bool private_)
{
	return model_futex_wake(word, count, private_, UINT32_MAX);
}

int iw_futex_wait_bits(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		       bool private_, uint32_t bits)
{
	return model_futex_wait(word, expected, deadline_ns, private_, bits);
}

int iw_futex_wake_bits(const uint32_t *word, uint32_t count, bool private_, uint32_t bits)
{
	return model_futex_wake(word, count, private_, bits);
}

int64_t iw_clock_ns(void)
{
	(void)sched_clock_jumps();
	model_elapse(READING_NS);
	return model_now();
}

int64_t iw_clock_raw_ns(void)
{
	return iw_clock_ns();
}

/* Each thread has a CPU of its own. */
unsigned iw_cpu_current(void)
{
	return model_thread();
}
