/* SPDX-License-Identifier: MIT */
/* What the files of bench/descriptors/pairs share. */
#ifndef DESCRIPTORS_PAIRS_H
#define DESCRIPTORS_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#define PAIRS_MOST  64
#define SAMPLES     16384 /* latencies kept of a pair: the last ones */
#define CACHE_LINES 128

enum kind { KIND_PIPE, KIND_UNIX, KIND_TCP, KIND_EVENTFD, KINDS };
enum way { WAY_PLAIN, WAY_FIXED, WAY_LIBRARY, WAYS };

/* START: both ends on one CPU until the first turn, and anywhere from then on. */
enum place { PLACE_FREE, PLACE_APART, PLACE_TOGETHER, PLACE_START, PLACES };

/* A process on each CPU, or one where the scheduler puts it. */
enum beside { BESIDE_NONE, BESIDE_HOG, BESIDE_COMPUTE, BESIDE_ONE, BESIDES };

struct options {
	unsigned kind;   /* enum kind */
	unsigned way;    /* enum way */
	unsigned place;  /* enum place */
	unsigned beside; /* enum beside */
	uint64_t pairs, work_us, pause_us, window_us;
	uint64_t long_us; /* work of a turn in the middle third; 0: as in the others */
	uint64_t nice;    /* of the pairs */
	double seconds;
};

extern const char *const kind_names[KINDS];
extern const char *const way_names[WAYS];
extern const char *const place_names[PLACES];

/* Return: 0; above 0 when it has answered; -EINVAL after one line on stderr. */
int options_parse(struct options *o, int argc, char **argv);

/* Of a process: where it reads, where it writes, and what it waits with. */
struct end {
	int in, out;
	int epoll; /* -1: none */
	enum kind kind;
	enum way way;
	int64_t window_ns;
};

/* Of a pair, in memory that all processes share; each field has one writer. */
struct tally {
	_Alignas(CACHE_LINES) volatile uint64_t turns;   /* round trips */
	_Alignas(CACHE_LINES) volatile uint64_t samples; /* latencies taken */
	volatile uint64_t latency_ns[SAMPLES];           /* the i-th at i % SAMPLES */
};

/* In memory that all processes share. */
struct stage {
	volatile uint64_t steps; /* of clock_work() in each turn, for now */
	uint32_t ready;          /* processes that could begin */
	uint32_t go;             /* they may */
};

/* Both ends of a pair. Return: 0 or -errno. */
int ends_open(struct end ends[2], const struct options *o);

/* In a process that has @ends by a fork: close what belongs to the other, make ready to wait. */
int ends_keep(struct end ends[2], unsigned mine);

void ends_close(struct end ends[2]);

/* Wait for 8 bytes, and read them. Return: 0 or -errno; -EPIPE at the end. */
int end_wait(const struct end *e, uint64_t *word);

int end_write(const struct end *e, uint64_t word);

/* A process of a pair: the one that begins, and that which answers. Return: -errno. */
int play_first(const struct end *e, const struct options *o, const struct stage *s,
	       struct tally *t);
int play_second(const struct end *e, const struct options *o, const struct stage *s,
		struct tally *t);

#endif
