/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_MEDIAN_H
#define TOOLS_MEDIAN_H

/* Sorts @v. NAN if there is none, or if one of them is NAN. */
double median(double *v, unsigned n);

/* Sorts @v, not empty. What a tenth of them do not exceed. */
double lowest_tenth(double *v, unsigned n);

/* The same, a quarter of them. */
double lowest_quarter(double *v, unsigned n);

#endif
