/* SPDX-License-Identifier: MIT */
#ifndef SEM_TEST_JSON_TEXT_H
#define SEM_TEST_JSON_TEXT_H

#include "results.h"

#include <stdio.h>

/* The results as one JSON object. What was not measured is null. */
void json_text_write(FILE *f, const struct results *r);

#endif
