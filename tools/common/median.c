/* SPDX-License-Identifier: MIT */
#include "median.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(double *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (isnan(v[i]))
			return NAN;
	if (!n)
		return NAN;
	qsort(v, n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double lowest_tenth(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), compare);
	return v[n / 10];
}

double lowest_quarter(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), compare);
	return v[n / 4];
}
