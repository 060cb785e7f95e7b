/* SPDX-License-Identifier: MIT */
#ifndef SEM_TEST_JSON_H
#define SEM_TEST_JSON_H

#include "results.h"

#include <stdio.h>

/*
 * The result file: all raw runs, medians, environment, command, bars, as one JSON object. What
 * was not measured is null.
 */
void json_write(FILE *f, const struct results *r);

#endif
