/* SPDX-License-Identifier: MIT */
/* The library reads its environment when it is loaded: too early for main() to change it. */
#ifndef TOOLS_COMMON_BEGIN_AGAIN_H
#define TOOLS_COMMON_BEGIN_AGAIN_H

/*
 * Run the program again, with the variable set to @value, or not set if that is NULL. Returns
 * only if it cannot, after a message.
 */
void begin_again(char **argv, const char *name, const char *value);

#endif
