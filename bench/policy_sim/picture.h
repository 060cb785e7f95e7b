/* SPDX-License-Identifier: MIT */
#ifndef POLICY_SIM_PICTURE_H
#define POLICY_SIM_PICTURE_H

#include "results.h"

#include <stdio.h>

/*
 * A panel for each B, a row for each policy, a dot for each member at its ratio, and the
 * suite mean as a bar. gnuplot writes the SVG text to @f.
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int picture_draw(FILE *f, const struct results *r);

#endif
