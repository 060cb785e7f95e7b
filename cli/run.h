/* SPDX-License-Identifier: MIT */
/* `ipcwait run`: another program under the preload module. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "counters.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Those of env(1), nohup(1) and timeout(1); all others are the program's. */
enum run_status {
	RUN_FAILED = 125, /* of ipcwait itself; nothing was run, or nothing reported */
	RUN_NOT_EXECUTABLE = 126, /* found */
	RUN_NOT_FOUND = 127,
	RUN_SIGNAL = 128, /* and the number of the signal that ended the program */
};

/* What execvp(3) would run. */
struct run_program {
	char **argv;
	char path[PATH_MAX];
	const char *plain; /* why the module cannot be in it; NULL: it can */
	bool shell; /* neither ELF nor with an interpreter: for the shell, if nobody else */
};

/* What this process does besides, while the program runs. */
struct run_watch {
	/* Return: how long until the next call, in ns; the first is at once. */
	int64_t (*tick)(void *arg);
	/* This process is about to be stopped. */
	void (*rest)(void *arg);
	void *arg;
};

/* How it went. */
struct run_end {
	int wait_status;
	double seconds, user_seconds, system_seconds; /* with all that it has waited for */
};

struct run_counts {
	uint64_t programs; /* started with the module */
	uint64_t forks;    /* children of fork in them */
	uint64_t sharing;  /* of both, without counters of their own */
	uint64_t left_out; /* programs that they started without it */
	/* Programs that said that they are not counted. Others may not have said it. */
	uint64_t uncounted;
	struct counters counters;
};

struct run_report {
	const struct run_program *program;
	const char *module;
	struct run_end end;
	struct run_counts counts;
};

/* The subcommand. Returns an exit status. */
int run_main(int argc, char **argv);

/* The same with --stats, or --json; @output may be NULL. */
int run_counted(char **argv, bool json, const char *output);

/* What `ipcwait record` wants; NULL is nothing. */
struct run_recording {
	const char *path; /* for IPCWAIT_RECORD */
	const char *policy, *module;
	bool fd;
};

/* Whether it can be run with that module. 0, or an exit status after one line on stderr. */
int run_check(char **argv, const char *module);

/* The same with a record. It returns when the program has ended. */
int run_recorded(char **argv, const struct run_recording *r);

/* The policy of that name, to *@policy. Return: 0, or -EINVAL after one line on stderr. */
int run_policy(const char **policy, const char *text);

/*
 * What runs for @argv, by PATH, and whether it can have the module; NULL: it shall not.
 * 0 or a negative errno.
 */
int run_find(struct run_program *p, char **argv, const char *module);

/* A shared library in ELF, for a machine of 64 bits. */
bool run_is_module(const char *path);

/*
 * The absolute path of the module: @wanted, or the one that belongs to this command if NULL.
 * Return: 0, or -EINVAL after one line on stderr.
 */
int run_module_find(char path[PATH_MAX], const char *wanted);

/* In front of what is in LD_PRELOAD. Return: 0, or -EINVAL after one line on stderr. */
int run_module_chain(const char *module);

/*
 * In the environment: which calls of the module's own a filter of system calls allows, if there is
 * one. Return: 0, or -EINVAL after one line on stderr.
 */
int run_calls_hand_down(void);

/* In the place of this process. Returns an exit status after one line on stderr. */
int run_exec(const struct run_program *p);

/*
 * As a child, which gets the signals that are meant for it. @watch may be NULL. Return: 0, or
 * -EINVAL after one line on stderr. Afterwards all signals are blocked: nothing shall end the
 * report.
 */
int run_child(const struct run_program *p, const struct run_watch *watch,
	      struct run_end *end);

/* Without a program: the signals that would end or stop this process wait from now on. */
void run_block_ends(sigset_t *set);

/*
 * Wait for so long, or until one of @set ends this process, which is true. It stops and goes on
 * with SIGTSTP.
 */
bool run_pause(const sigset_t *set, int64_t span_ns);

/* Until one of @set ends this process. It stops and goes on with SIGTSTP. Return: the signal. */
int run_until_signal(const sigset_t *set, const struct run_watch *watch);

/* What children count in, and where those tell that cannot. */
struct run_tally {
	int fd, socket;
};

/* An empty tally, in the environment of children. Return: 0, or a negative errno. */
int run_tally_make(struct run_tally *t);

/* 0, or -EINVAL: what is in it is of another version. */
int run_tally_read(const struct run_tally *t, struct run_counts *c);

void run_print(FILE *f, const struct run_report *r);
void run_write_json(FILE *f, const struct run_report *r);

/* What is passed on to who has started this command. */
int run_status_of(int wait_status);

/*
 * Before exit(3) with @status, after all output: if that is what run_status_of() said of a program
 * that a signal ended, this process ends by the same signal.
 */
void run_end_by_signal(int status);

#endif
