/* SPDX-License-Identifier: MIT */
/* What the kernel says about another process, and where a process may run. */
#ifndef TESTS_IPC_PROCESS_H
#define TESTS_IPC_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The state letter of proc(5): R runs, S sleeps, T stopped, t stopped by its tracer, Z ended
 * and not reaped. A thread that a wake has reached is R when the wake returns.
 */
char process_state(pid_t pid);

/*
 * It will not do anything by itself: asleep, stopped by its tracer or ended. One that another
 * process has stopped by a signal goes on at any time.
 */
bool process_quiet(pid_t pid);
bool process_quiet_in(char state);

/*
 * Stop another process until process_go_on(). By a trace where that is allowed, because anybody may
 * send SIGCONT.
 */
void process_stop(pid_t pid);
void process_go_on(pid_t pid);

/* CPU time that the process has used, all threads, in ns. */
int64_t process_cpu_ns(pid_t pid);

/* The lowest or the highest CPU that the calling thread may use. */
unsigned process_cpu(bool highest);

/* Let the process (0: the calling thread) run on that CPU only. */
void process_pin(pid_t pid, unsigned cpu);

#endif
