/* SPDX-License-Identifier: MIT */
/* What is in a record of waits, <ipcwait/record.h>, and of which process each is. */
#ifndef CLI_WAITS_H
#define CLI_WAITS_H

#include <ipcwait/record.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct waits_mapping {
	uint64_t begin, end, offset;
	char *path;
	unsigned told; /* later ones count more */
};

struct waits_name {
	uint64_t object;
	const char *name; /* within the record: any bytes, and no end */
	unsigned told;
};

struct waits_process {
	uint32_t pid;
	size_t index; /* among the processes of the record */
	uint64_t identity;
	const struct waits_process *parent; /* of whom it was a copy; NULL: of nobody */
	const struct waits_process *first;  /* of those copies: where the program began */
	char program[IPCWAIT_RECORD_NAME_BYTES];
	uint64_t began_ns;
	/* What it knew last; no B: nothing. */
	uint64_t block_ns, samples, waker_ns, sleeper_ns;
	struct waits_mapping *mapping; /* by begin */
	struct waits_name *name;       /* by object */
	unsigned mappings, names;
};

struct waits_wait {
	const struct waits_process *process;
	const struct ipcwait_record_wait *is;
};

/* In the order of the record, which is that of time for each thread. */
struct waits {
	const char *path;
	/* A copy: what is in the file may change, and become shorter, at any time. */
	const struct ipcwait_record_head *head;
	size_t bytes;
	struct waits_process **process;
	struct waits_wait *wait;
	size_t processes, n;
	void *last; /* of tsearch(3): the last process of each number */
	uint64_t lost;
	const char *stopped; /* why the file could not grow any more; NULL: it could */
	double seconds; /* from the beginning of the record to the end of the last wait */
};

/*
 * The file may be anybody's. It has at most RECORD_BYTES_MOST (80 MiB) and PROCESSES_MOST
 * (131,072) processes, which is more than a record can have. Return: 0, or -EINVAL after one line
 * on stderr. @path lives as long as @w.
 */
int waits_open(struct waits *w, const char *path);

void waits_close(struct waits *w);

/* For a command line that ends in the path of a record, its @i-th word that is no option. */
int waits_take_file(const char **file, const char *text, unsigned i);

/* It is a record, of whatever version. */
bool waits_is_record(const char *path);

/* Its name, printable; false if it has none. */
#define WAITS_NAME_BYTES (IPCWAIT_RECORD_NAME_BYTES + 1)
bool waits_name_of(const struct waits_process *p, uint64_t object,
		   char name[WAITS_NAME_BYTES]);

/* "redis-server:dictFind+0x1c", as symbol_in(), printable. */
void waits_place(const struct waits_process *p, uint64_t address, char *text, size_t size);

/* How long it took by what is known: to its true end, or as long as it spun and slept. */
uint64_t waits_length_ns(const struct ipcwait_record_wait *w);

/*
 * Without what its thread caused itself: two that hand work to and fro make their waits long by
 * sleeping. It is what other rules would have met. 0: it had no length.
 */
uint64_t waits_own_ns(const struct ipcwait_record_wait *w);

#endif
