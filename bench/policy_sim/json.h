/* SPDX-License-Identifier: MIT */
#ifndef POLICY_SIM_JSON_H
#define POLICY_SIM_JSON_H

#include "results.h"

#include <stdio.h>

/* The results as one JSON object. What does not apply is null. */
void json_write(FILE *f, const struct results *r);

#endif
