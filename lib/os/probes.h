/* SPDX-License-Identifier: MIT */
/*
 * Probes for tracers (bpftrace, perf, systemtap): a name and where its arguments are, in a note of
 * the binary, and one nop in the code. In a build with <sys/sdt.h> only, -Dprobes; else nothing.
 */
#ifndef IW_OS_PROBES_H
#define IW_OS_PROBES_H

#ifdef IW_PROBES
#include <sys/sdt.h>

/* A spin is over: the object's window, CPU time in ns, whether it ended the wait, why else. */
#define IW_PROBE_SPIN_END(window, spun_ns, taken, reason) \
	DTRACE_PROBE4(ipcwait, spin_end, window, spun_ns, taken, reason)

/* A thread is about to sleep: the object's window, call site, enum ipcwait_kind, why. */
#define IW_PROBE_SLEEP(window, site, kind, reason) \
	DTRACE_PROBE4(ipcwait, sleep, window, site, kind, reason)

/* It runs again: the object's window, what the kernel said, 0 or a negative errno. */
#define IW_PROBE_WOKEN(window, result) DTRACE_PROBE2(ipcwait, woken, window, result)

/* Sleepers were woken: the word that they slept on, enum ipcwait_kind, how many. */
#define IW_PROBE_WAKE(word, kind, woken) DTRACE_PROBE3(ipcwait, wake, word, kind, woken)

#else

#define IW_PROBE_SPIN_END(window, spun_ns, taken, reason) ((void)0)
#define IW_PROBE_SLEEP(window, site, kind, reason)        ((void)0)
#define IW_PROBE_WOKEN(window, result)                    ((void)0)
#define IW_PROBE_WAKE(word, kind, woken)                  ((void)0)

#endif

#endif
