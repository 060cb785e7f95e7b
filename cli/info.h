/* SPDX-License-Identifier: MIT */
/*
 * `ipcwait info`: what a person must know to judge a figure.
 *
 * Files named after a subject (info_cpu.c, ...) put facts into a list; info_print.c and
 * info_json.c show the list. A fact that cannot be had is in the list too, with the reason.
 */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The list of vulnerabilities, some 20 names of 25 letters, is the longest text. */
#define INFO_TEXT_BYTES 640

/* Some more than there are. */
#define INFO_FACTS_MOST 96

/* CPUIDLE_STATE_MAX of Linux. */
#define INFO_STATES_MOST 10

/* What shows up in a value that does not fit. */
#define INFO_CUT "..."

enum info_kind {
	INFO_MISSING, /* not available; text is the reason */
	INFO_NONE,    /* there is none: "no limit"; text says so */
	INFO_TEXT,
	INFO_NUMBER,
	INFO_BOOLEAN, /* number is 0 or 1 */
	INFO_LIST,    /* text is its members, each with a newline behind it */
	INFO_STATES,  /* the idle states in struct info */
};

/* The key's end is the unit: _bytes, _ns, _us, _s, _share of 1. */
struct info_fact {
	const char *section, *key;
	enum info_kind kind;
	double number;
	char text[INFO_TEXT_BYTES];
};

/* An idle state of struct info's cpu. Negative: not known. */
struct info_state {
	char name[32];
	double exit_us, residency_us, usage, time_us;
	bool disabled;
};

struct info {
	const char *root;    /* "": this machine; else the folder of a saved tree */
	const char *section; /* of the facts that come next */
	unsigned cpu;        /* where several CPUs may differ, this one is looked at */
	unsigned facts, states;
	struct info_fact fact[INFO_FACTS_MOST + 1]; /* the last is never shown */
	struct info_state state[INFO_STATES_MOST];
};

/* The subcommand. Returns an exit status. */
int info_main(int argc, char **argv);

/* All that can be had. */
void info_read_all(struct info *info);

/* A folder. Return: 0, or -EINVAL after one line on stderr. */
int info_check_root(const char *path);

/*
 * The waits that are tried out must not end up in a recording of the user's: the process that
 * tries them has not been told of it when it began, and only shows that it is asked for. @argv
 * begins with the name of the program.
 */
void info_hide_recording(char **argv);

/* The subjects. info_read_cpu() goes first: it chooses the CPU. */
void info_read_cpu(struct info *info);
void info_read_cache(struct info *info);
void info_read_quota(struct info *info);
void info_read_load(struct info *info);
void info_read_virtual(struct info *info);
void info_read_idle(struct info *info);
void info_read_kernel(struct info *info);
void info_read_mitigations(struct info *info);
void info_read_library(struct info *info);
void info_read_policy(struct info *info);

/* The two forms of output. */
void info_print(FILE *f, const struct info *info);
void info_write_json(FILE *f, const struct info *info);

/* Facts about a process, which a saved tree does not have, are put as missing. */
bool info_is_saved_tree(const struct info *info);

/* Put a fact at the end of the list. @key and the section live as long as the list. */
void info_put_text(struct info *info, const char *key, const char *text);
void info_put_number(struct info *info, const char *key, double number);
void info_put_boolean(struct info *info, const char *key, bool value);
void info_put_list(struct info *info, const char *key, const char *members);
void info_put_none(struct info *info, const char *key, const char *text);
void info_put_missing(struct info *info, const char *key, const char *why);
void info_put_states(struct info *info, const char *key);

/* NULL if there is no such fact. */
const struct info_fact *info_find(const struct info *info, const char *key);

/* A file of /proc, /sys or /etc; NULL and errno if it cannot be read. */
FILE *info_open(const struct info *info, const char *path);

/* Its whole text, as far as it fits. False: @text says why not. */
__attribute__((format(printf, 4, 5))) bool info_read(const struct info *info, char *text,
						     size_t size, const char *path, ...);

/* Its first line, printable; the same. */
__attribute__((format(printf, 4, 5))) bool info_line(const struct info *info, char *text,
						     size_t size, const char *path, ...);

/* That line as a fact. */
__attribute__((format(printf, 3, 4))) void info_put_file(struct info *info, const char *key,
							 const char *path, ...);

/* That line as a number, which must be all that stands in it. */
__attribute__((format(printf, 3, 4))) void info_put_file_number(struct info *info,
								const char *key,
								const char *path, ...);

/* In text with lines like "MemTotal:  123 kB": what stands behind the colon, printable. False,
 * and "", if there is no such line or nothing in it. */
bool info_field(const char *text, const char *name, char *value, size_t size);

/* A whole number of @text, all of it but for a newline. */
bool info_to_number(const char *text, double *number);

/* Put text behind what is there; what does not fit is cut and marked. */
void info_append(char *to, size_t size, const char *text);

/* Everything outside printable ASCII becomes '?': it may come from another machine. */
void info_make_printable(char *text);

#endif
