/* SPDX-License-Identifier: MIT */
/*
 * What the kernel and the loader go by in the file of a program. For `ipcwait run`, and for the
 * preload module before the program starts another one: possibly in the child of vfork(2), on the
 * stack of a signal handler. So it makes system calls only, open(2), pread(2), close(2) and
 * stat(2), needs less than 3 KiB of stack, and keeps nothing.
 */
#ifndef TOOLS_PROGRAM_LOOK_H
#define TOOLS_PROGRAM_LOOK_H

#include <stdbool.h>
#include <stdint.h>

/* Interpreters that are scripts, one behind the other: what Linux allows. */
#define PROGRAM_SCRIPTS_MOST 5

/* Of a script Linux looks for the interpreter in the first 256 bytes. */
#define PROGRAM_PATH_BYTES 256

struct program_look {
	bool elf, script;
	bool sanitized; /* needs a sanitizer's library, which wants to be loaded first */
	unsigned char class, data;
	uint16_t machine, type;
	/*
	 * Of a script. Of ELF the loader, cut in front if it is too long; "" if it is linked
	 * statically.
	 */
	char interpreter[PROGRAM_PATH_BYTES];
};

/* False: it cannot be read, as programs need not be. */
bool program_look(struct program_look *l, const char *path);

/* The same of a path that is relative to the folder @fd, or to the current one. */
#define PROGRAM_HERE (-100) /* AT_FDCWD */
bool program_look_in(struct program_look *l, int fd, const char *path);

/* The same of an open file, also of one that is open with O_PATH. */
bool program_look_at(struct program_look *l, int fd);

/*
 * If it is a script, look at its interpreter, or at the interpreter of that, instead. False: one of
 * them cannot be read.
 */
bool program_look_on(struct program_look *l);

/* For which programs a module is. */
struct program_world {
	unsigned char class, data;
	uint16_t machine;
	const char *loader; /* its path; "" if it is not known */
};

/* Whether the loader puts a module into a program, and if not, why. */
enum program_fit {
	PROGRAM_FITS,
	PROGRAM_IS_STATIC, /* it has no loader */
	PROGRAM_OF_OTHER_CLASS,
	PROGRAM_OF_OTHER_CPU,
	PROGRAM_OF_OTHER_LIBC, /* its loader is another file */
	PROGRAM_IS_SANITIZED,  /* AddressSanitizer wants to come first */
};

/* @l: of an ELF file. @chain: LD_PRELOAD, or NULL. */
enum program_fit program_fits(const struct program_look *l, const struct program_world *own,
			      const char *chain);

#endif
