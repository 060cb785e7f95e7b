/* SPDX-License-Identifier: MIT */
/*
 * The command line, by a table of options: "--name VALUE" or "--name=VALUE", for some "-n VALUE",
 * in any order, and between them whatever else the program takes.
 */
#ifndef TOOLS_ARGUMENTS_H
#define TOOLS_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

/* Each program, or each of its subcommands, has its own. */
struct options;

enum argument_kind {
	ARGUMENT_FLAG,  /* no value; the bool at .at becomes true */
	ARGUMENT_PATH,  /* of a file; to the const char * at .at */
	ARGUMENT_VALUE, /* .set(o, the value) */
	ARGUMENT_MAYBE, /* the same; NULL if an option or nothing comes next */
	ARGUMENT_DO,    /* no value; .set(o, NULL) */
	ARGUMENT_PRINT, /* no value; .print() is the answer: --help, --version */
};

struct argument {
	const char *name; /* with its two dashes */
	enum argument_kind kind;
	size_t at; /* offsetof(struct options, ...) */
	/* Returns 0, or -EINVAL after one line on stderr. */
	int (*set)(struct options *o, const char *text);
	void (*print)(void);
	char letter; /* 'p': "-p VALUE" says the same; 0: nothing does, but for --help "-h" */
};

struct arguments {
	const struct argument *known;
	unsigned n;
	/* What begins without two dashes, the @i-th of them, from 0; NULL: there may be none. */
	int (*other)(struct options *o, const char *text, unsigned i);
};

/*
 * Return: 0 to go on; 1 if an answer was printed; -EINVAL after one line
 * on stderr.
 */
int arguments_parse(struct options *o, const struct arguments *a, int argc, char **argv);

/*
 * Only those in front of what another program takes: they end at the first that does not begin with
 * a dash, or behind "--".
 *
 * Return: the index of what comes then, argc if nothing does; 0 if an answer was printed; -EINVAL
 * after one line on stderr.
 */
int arguments_parse_front(struct options *o, const struct arguments *a, int argc,
			  char **argv);

/* For .set: a whole number from @least to @most. Return: 0, or -EINVAL after one line on stderr. */
int argument_number(const char *what, const char *text, uint64_t least, uint64_t most,
		    uint64_t *n);

#endif
