/* SPDX-License-Identifier: MIT */
#ifndef SEED_PART_H
#define SEED_PART_H

/*
 * The calling thread begins on the CPU of this number, free to move later. The scheduler often
 * starts two threads on one CPU and takes up to 20 ms to part them.
 */
void part(unsigned number);

#endif
