/* SPDX-License-Identifier: MIT */
/* Where an address of a process lies: in which function of which file. */
#ifndef CLI_SYMBOL_H
#define CLI_SYMBOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * "redis-server:dictFind+0x1c"; without symbols "redis-server+0x8f21c", as addr2line(1) wants it
 * of a program that can be loaded anywhere; "0x55d2c3a1921c" if the process may not be looked at.
 */
void symbol_of(pid_t pid, uint64_t address, char *text, size_t size);

/* The same of a place in a file, as it is now. */
void symbol_in(const char *path, uint64_t offset, char *text, size_t size);

#endif
