/* SPDX-License-Identifier: MIT */
/*
 * Probes for tracers (bpftrace, perf, systemtap): a name and where its arguments are, in a note of
 * the binary, and one nop in the code. In a build with <sys/sdt.h> only, -Dprobes; else nothing.
 */
#ifndef IW_OS_PROBES_H
#define IW_OS_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef IW_PROBES
#include <sys/sdt.h>
/* Its macros are of the compilers' own C. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#else
#define DTRACE_PROBE2(provider, name, a, b)    ((void)(a), (void)(b))
#define DTRACE_PROBE3(provider, name, a, b, c) ((void)(a), (void)(b), (void)(c))
#define DTRACE_PROBE4(provider, name, a, b, c, d) \
	((void)(a), (void)(b), (void)(c), (void)(d))
#endif

/* A spin on the object with this window is over, after that CPU time; @taken: it ended the wait. */
static inline void iw_probe_spin_end(const void *window, uint64_t spun_ns, bool taken,
				     unsigned reason)
{
	DTRACE_PROBE4(ipcwait, spin_end, window, spun_ns, taken, reason);
}

/* A thread is about to sleep. */
static inline void iw_probe_sleep(const void *window, uintptr_t site, unsigned kind,
				  unsigned reason)
{
	DTRACE_PROBE4(ipcwait, sleep, window, site, kind, reason);
}

/* It runs again; @result is 0 or a negative errno. */
static inline void iw_probe_woken(const void *window, int result)
{
	DTRACE_PROBE2(ipcwait, woken, window, result);
}

/* So many sleepers on @word were woken. */
static inline void iw_probe_wake(const uint32_t *word, unsigned kind, int woken)
{
	DTRACE_PROBE3(ipcwait, wake, word, kind, woken);
}

#ifdef IW_PROBES
#pragma GCC diagnostic pop
#endif

#endif
