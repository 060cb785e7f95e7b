/* SPDX-License-Identifier: MIT */
/* What may be written to a terminal besides text. */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* @fd is a terminal that knows escape sequences: TERM is set, and is not "dumb". */
bool terminal_obeys(int fd);

/* The same, and its user wants colours: NO_COLOR is not set, or empty. */
bool terminal_has_colour(int fd);

#ifdef __cplusplus
}
#endif

#endif
