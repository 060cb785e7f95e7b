/* SPDX-License-Identifier: MIT */
/* The same layout in C++. */
#include "layout_test.c"
