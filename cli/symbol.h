/* SPDX-License-Identifier: MIT */
/*
 * Where an address of a process lies: in which function of which file. Files, their names and what
 * is in them are other people's.
 */
#ifndef CLI_SYMBOL_H
#define CLI_SYMBOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * An output begins: what was found for the last one is forgotten, and @most_ms of CPU time may be
 * spent on finding places. After that they are shown by their addresses, so that nobody can keep
 * the reader busy with tables that have no end. A place in a program with 100,000 symbols takes 1
 * ms.
 */
void symbols_begin(unsigned most_ms);

/*
 * "redis-server:dictFind+0x1c"; without symbols "redis-server+0x8f21c", as addr2line(1) wants it
 * of a program that can be loaded anywhere; "0x55d2c3a1921c" if the process may not be looked at.
 * A terminal may have it.
 */
void symbol_of(pid_t pid, uint64_t address, char *text, size_t size);

/* The same of a place in a file, as it is now. @path lives until the next output begins. */
void symbol_in(const char *path, uint64_t offset, char *text, size_t size);

#endif
