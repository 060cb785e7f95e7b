/* SPDX-License-Identifier: MIT */
/* An execution, step by step, for people. */
#ifndef TESTS_INTERLEAVE_TRACE_H
#define TESTS_INTERLEAVE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

/* From now on steps are kept. */
void trace_begin(void);
bool trace_on(void);

/* The place in the code under test that the next steps come from. */
void trace_place(const void *code);
const void *trace_place_now(void);

void trace_step(unsigned thread, const volatile void *p, const char *what, uint64_t value);

/* Something that happens to a thread: an event of sched.c. */
void trace_event(unsigned thread, unsigned event);

/* Print what was kept, with the lines of the source where a tool that finds them is there. */
void trace_print(void);

#endif
