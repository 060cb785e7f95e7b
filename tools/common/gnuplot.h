/* SPDX-License-Identifier: MIT */
/* Pictures by gnuplot, for the option --svg. */
#ifndef TOOLS_GNUPLOT_H
#define TOOLS_GNUPLOT_H

#include <stdio.h>

/* Is it on the PATH? Return: 0, or -EINVAL after one line on stderr. */
int gnuplot_check(void);

/*
 * Run the script that @write writes to @script; what gnuplot says to that goes to @out.
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int gnuplot_draw(FILE *out, void (*write)(FILE *script, const void *arg), const void *arg);

#endif
