/* SPDX-License-Identifier: MIT */
#ifndef TESTS_COMMON_FUZZ_H
#define TESTS_COMMON_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer keeps the input that led to a trap. */
#define FUZZ_CHECK(condition) ((condition) ? (void)0 : __builtin_trap())

/* What a target defines. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
