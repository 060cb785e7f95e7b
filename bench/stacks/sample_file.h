/* SPDX-License-Identifier: MIT */
/* Where the sampler keeps its samples: a file of fixed size, mapped and shared. */
#ifndef STACKS_SAMPLE_FILE_H
#define STACKS_SAMPLE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#define FRAMES_MOST 128

enum sample_clock { CLOCK_OF_WALL, CLOCK_OF_CPU };

/*
 * Make @prefix.<process>.<n> and map it. An exec() keeps the process's number, hence the n.
 * Return: false: it cannot be made, a line on stderr says why.
 */
bool sample_file_open(const char *prefix, uint64_t rate_hz, enum sample_clock clock);

/*
 * Append a sample that stands for @weight ticks of the timer; @pcs has the innermost frame
 * first. Async-signal-safe, for any number of threads and for forked processes.
 */
void sample_file_add(uint32_t weight, const uint64_t *pcs, uint32_t frames);

/* Copy the process's memory map beside the samples: addresses mean nothing without it. */
void sample_file_save_maps(void);

#endif
