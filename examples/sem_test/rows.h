/* SPDX-License-Identifier: MIT */
/*
 * The rows of the table: the semaphores that are compared.
 *
 * To add one: write a sem_NAME.c with its operations and name it in rows.c.
 */
#ifndef SEM_TEST_ROWS_H
#define SEM_TEST_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Room for any of the semaphores, away from everything else. */
struct sem_room {
	_Alignas(128) unsigned char bytes[128];
};

struct ipcwait_window;

/* Results are 0 or a negative errno value. A wait goes on when a signal interrupts it. */
struct sem_ops {
	int (*init)(void *sem, unsigned value, bool shared);
	int (*wait)(void *sem);
	int (*post)(void *sem);
	int (*value)(void *sem);
	void (*fini)(void *sem);
	/* @n times a post and a wait, as an application writes them: no calls in between. */
	int (*pairs)(void *sem, uint64_t n);
	/* What the library knows it by; NULL: it is not the library's. */
	const struct ipcwait_window *(*window)(const void *sem);
};

extern const struct sem_ops sem_glibc;
extern const struct sem_ops sem_ipcwait;
extern const struct sem_ops sem_spin;
extern const struct sem_ops sem_block;
extern const struct sem_ops sem_haltpoll;
extern const struct sem_ops sem_ticks;

enum {
	ROW_GLIBC,
	ROW_IPCWAIT,
	ROW_SPIN,
	ROW_BLOCK,
	ROW_HALTPOLL,
	ROW_TICKS,
	ROW_HOG,
	ROW_AWAKE,
	ROW_COUNT,
};

/* What keeps CPUs from halting beside the row. */
enum company {
	COMPANY_NONE,
	COMPANY_HOGS,  /* a low-priority busy thread on every CPU */
	COMPANY_AWAKE, /* `ipcwait awake` */
};

struct row {
	const char *name;
	const char *what;
	const struct sem_ops *ops;
	enum company company;
	bool counted; /* the library counts its futex calls */
};

extern const struct row rows[ROW_COUNT];

/*
 * Bits of the rows in a comma-separated list of names. Return: 0, or -EINVAL for an empty
 * or unknown name, which is then @bad, @bad_length long.
 */
int rows_parse(const char *list, unsigned *set, const char **bad, int *bad_length);

#endif
