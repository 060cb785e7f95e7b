/* SPDX-License-Identifier: MIT */
#ifndef BENCH_QUANTILE_H
#define BENCH_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* The value with the share @q of @values below it. Changes the order of @values. */
uint64_t quantile(uint64_t *values, size_t n, double q);

#endif
