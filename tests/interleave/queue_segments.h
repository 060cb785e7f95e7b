/* SPDX-License-Identifier: MIT */
#ifndef TESTS_INTERLEAVE_QUEUE_SEGMENTS_H
#define TESTS_INTERLEAVE_QUEUE_SEGMENTS_H

/* Segments of watched memory, in place of lib/queue/segment.c; before the first of an execution. */
void segments_begin(unsigned slots);

/* That are not given back. */
unsigned segments_left(void);

#endif
