/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "os/calls.h"
#include "os/cpu.h"
#include "os/rseq.h"
#include "os/status.h"
#include "os/syscall.h"

#include <ipcwait/base.h>

/* The kernel's mask for up to 8192 CPUs, its largest configuration. */
#define MASK_WORDS 128

static struct iw_cpu_set allowed_by_mask(bool main_thread)
{
	struct iw_cpu_set set = { 0, 0 };
	uint64_t mask[MASK_WORDS] = { 0 };
	int saved_errno = errno;
	long bytes = IW_SYS(SYS_sched_getaffinity, main_thread ? getpid() : 0, sizeof(mask),
			    mask);

	errno = saved_errno;
	for (unsigned i = 0; bytes > 0 && i < (unsigned long)bytes / 8; i++) {
		if (mask[i] && !set.count)
			set.first = i * 64 + (unsigned)__builtin_ctzll(mask[i]);
		set.count += (unsigned)__builtin_popcountll(mask[i]);
	}
	return set;
}

struct iw_cpu_set iw_cpu_allowed(bool main_thread)
{
	struct iw_cpu_set set = iw_call_allowed(IW_CALL_AFFINITY)
					? allowed_by_mask(main_thread)
					: iw_status_last_cpus();

	if (!set.count)
		set.count = MASK_WORDS * 64;
	return set;
}

bool iw_cpu_can_monitor(void)
{
	return iw_arch_can_monitor(getauxval(AT_HWCAP));
}

unsigned iw_cpu_current(void)
{
	int cpu = iw_rseq_cpu(), saved_errno;

	if (IPCWAIT_LIKELY(cpu >= 0))
		return (unsigned)cpu;
	if (!iw_call_allowed(IW_CALL_THREAD_ID))
		return IW_CPU_UNKNOWN;
	saved_errno = errno;
	cpu = sched_getcpu();
	errno = saved_errno;
	return cpu < 0 ? IW_CPU_UNKNOWN : (unsigned)cpu;
}

unsigned iw_cpu_node(void)
{
	unsigned cpu = 0, node = 0;

	if (!iw_call_allowed(IW_CALL_THREAD_ID) ||
	    iw_syscall(SYS_getcpu, (long)&cpu, (long)&node, 0, 0, 0, 0))
		return 0;
	return node;
}

void iw_cpu_yield(void)
{
	if (iw_call_allowed(IW_CALL_YIELD))
		(void)iw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}
