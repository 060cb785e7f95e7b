/* SPDX-License-Identifier: MIT */
/*
 * How often and how long CPUs idle: the counters of cpuidle, whose files stay open; without them,
 * the context switches and idle times of /proc/stat. Nothing is allocated once it is open.
 */
#include "awake.h"
#include "../tools/common/complain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define STATES_MOST 10

#define FILE_FORMAT "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/%s"

/* With the counts of all interrupts, on a large machine. */
#define STAT_BYTES 65536

/* /proc/stat counts in these; and samples of it that are to mean anything. */
#define TICK_NS       (10 * AWAKE_MS)
#define STAT_LEAST_NS (100 * AWAKE_MS)

/* Without cpuidle: a CPU that idles less or more of the time has no part in the hand-offs. */
#define PART_LEAST 5
#define PART_MOST  95

struct state {
	int usage_fd, time_fd;
	uint64_t usage, time_us;
};

struct cpu {
	unsigned number, states;
	struct state state[STATES_MOST];
	uint64_t stat_idle; /* in ticks */
};

struct awake_sampler {
	bool cpuidle;
	int stat_fd;
	int64_t read_at, stat_at;
	uint64_t switches;
	unsigned cpus;
	struct cpu cpu[AWAKE_CPUS_MOST];
	char text[STAT_BYTES];
};

static uint64_t number_in(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

static int open_file(unsigned cpu, unsigned state, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), FILE_FORMAT, cpu, state, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void awake_idles_read(const struct awake_machine *m, unsigned cpu, struct awake_idles *n)
{
	*n = (struct awake_idles){ 0 };
	for (unsigned i = 0; m->counters && i < STATES_MOST; i++) {
		int fd = open_file(cpu, i, "usage");
		uint64_t usage;

		if (fd < 0)
			return;
		usage = number_in(fd);
		close(fd);
		n->all += usage;
		n->polls += i ? 0 : usage;
	}
}

static bool open_state(struct cpu *c)
{
	struct state *s = &c->state[c->states];

	s->usage_fd = open_file(c->number, c->states, "usage");
	if (s->usage_fd < 0)
		return false;
	s->time_fd = open_file(c->number, c->states, "time");
	if (s->time_fd < 0) {
		close(s->usage_fd);
		return false;
	}
	s->usage = number_in(s->usage_fd);
	s->time_us = number_in(s->time_fd);
	c->states++;
	return true;
}

/* All or none: a CPU that is left out would look busy. */
static bool open_cpus(struct awake_sampler *s)
{
	for (unsigned i = 0; i < s->cpus; i++) {
		struct cpu *c = &s->cpu[i];

		while (c->states < STATES_MOST && open_state(c))
			;
		if (!c->states)
			return false;
	}
	return true;
}

/*
 * Two files for each state: more than the usual limit of 1024 on a large machine. It is there again
 * afterwards, for the program.
 */
static bool open_all(struct awake_sampler *s)
{
	struct rlimit before, more;
	bool known = !getrlimit(RLIMIT_NOFILE, &before), opened;

	more = before;
	more.rlim_cur = before.rlim_max;
	if (known)
		(void)setrlimit(RLIMIT_NOFILE, &more);
	opened = open_cpus(s);
	if (known)
		(void)setrlimit(RLIMIT_NOFILE, &before);
	return opened;
}

static void close_cpus(struct awake_sampler *s)
{
	for (unsigned i = 0; i < s->cpus; i++) {
		struct cpu *c = &s->cpu[i];

		for (; c->states; c->states--) {
			close(c->state[c->states - 1].usage_fd);
			close(c->state[c->states - 1].time_fd);
		}
	}
}

/* "cpu1 user nice system idle iowait ...", ticks. A CPU that waits for a disk idles, too. */
static void take_cpu_line(struct awake_sampler *s, const char *line, uint64_t idle[])
{
	char *at;
	unsigned long number = strtoul(line, &at, 10);

	for (int i = 0; i < 3; i++)
		(void)strtoull(at, &at, 10);
	for (unsigned i = 0; i < s->cpus; i++)
		if (s->cpu[i].number == number) {
			idle[i] = strtoull(at, &at, 10);
			idle[i] += strtoull(at, &at, 10);
		}
}

/* Return: context switches since the system began; @idle of CPUs that are not there stays. */
static uint64_t read_stat(struct awake_sampler *s, uint64_t idle[])
{
	ssize_t n = pread(s->stat_fd, s->text, sizeof(s->text) - 1, 0);
	uint64_t switches = 0;

	s->text[n > 0 ? n : 0] = '\0';
	for (const char *line = s->text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, "cpu", 3) && line[3] >= '0' && line[3] <= '9')
			take_cpu_line(s, line + 3, idle);
		else if (!strncmp(line, "ctxt ", 5))
			switches = strtoull(line + 5, NULL, 10);
	}
	return switches;
}

static void begin_stat(struct awake_sampler *s)
{
	uint64_t idle[AWAKE_CPUS_MOST] = { 0 };

	s->switches = read_stat(s, idle);
	for (unsigned i = 0; i < s->cpus; i++)
		s->cpu[i].stat_idle = idle[i];
}

struct awake_sampler *awake_sampler_open(const struct awake_machine *m)
{
	struct awake_sampler *s = calloc(1, sizeof(*s));

	if (!s) {
		complain("cannot watch the CPUs: %s", strerror(ENOMEM));
		return NULL;
	}
	s->cpus = m->watched;
	for (unsigned i = 0; i < s->cpus; i++)
		s->cpu[i].number = m->cpu[i];
	s->stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	if (s->stat_fd < 0) {
		complain("cannot watch the CPUs: /proc/stat: %s", strerror(errno));
		free(s);
		return NULL;
	}
	s->cpuidle = m->counters && open_all(s);
	if (!s->cpuidle)
		close_cpus(s);
	begin_stat(s);
	return s;
}

void awake_sampler_close(struct awake_sampler *s)
{
	close_cpus(s);
	close(s->stat_fd);
	free(s);
}

uint64_t awake_sampler_least_ns(const struct awake_sampler *s)
{
	return s->cpuidle ? 0 : STAT_LEAST_NS;
}

/* Return: what it spent in the first state, which polls. */
static uint64_t read_cpu(struct cpu *c, struct awake_cpu *out)
{
	uint64_t polled_us = 0;

	for (unsigned i = 0; i < c->states; i++) {
		struct state *s = &c->state[i];
		uint64_t usage = number_in(s->usage_fd);

		/* Nothing: the CPU is offline. Less: it has come back, and counts anew. */
		if (usage && usage != s->usage) {
			uint64_t time_us = number_in(s->time_fd);

			if (usage > s->usage && time_us >= s->time_us) {
				out->idles += usage - s->usage;
				out->idle_ns += (time_us - s->time_us) * AWAKE_US;
				polled_us += i ? 0 : time_us - s->time_us;
			}
			s->usage = usage;
			s->time_us = time_us;
		}
	}
	return polled_us * AWAKE_US;
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

/*
 * A CPU that has not left its idle state is not counted by cpuidle before it does, and looks as if
 * it were busy. What /proc/stat says goes, as a share of the time since that was last read.
 */
static void add_stat(struct awake_sampler *s, int64_t now_ns, struct awake_sample *sample)
{
	uint64_t idle[AWAKE_CPUS_MOST], switches;
	uint64_t span_ns = (uint64_t)(now_ns - s->stat_at);

	for (unsigned i = 0; i < s->cpus; i++)
		idle[i] = s->cpu[i].stat_idle;
	switches = read_stat(s, idle);
	sample->switches =
		(uint64_t)((double)(switches - s->switches) * (double)sample->length_ns /
			   (double)(span_ns ? span_ns : 1));
	s->switches = switches;
	for (unsigned i = 0; i < s->cpus && span_ns; i++) {
		/* Ticks move from idle to iowait: the sum may be less than before. */
		uint64_t ticks =
			idle[i] > s->cpu[i].stat_idle ? idle[i] - s->cpu[i].stat_idle : 0;
		uint64_t idle_ns = ticks * TICK_NS;

		s->cpu[i].stat_idle = idle[i];
		if (!sample->cpu[i].idles)
			sample->cpu[i].idle_ns =
				sample->length_ns / 1000 *
				at_most(idle_ns / (span_ns / 1000 + 1), 1000);
	}
	s->stat_at = now_ns;
}

/* Two switches an idle, on the CPUs that are sometimes idle: at most, as others switch too. */
static void share_out(struct awake_sample *sample)
{
	uint64_t parts = 0;
	bool part[AWAKE_CPUS_MOST];

	for (unsigned i = 0; i < sample->cpus; i++) {
		uint64_t hundredth = sample->length_ns / 100;

		part[i] = sample->cpu[i].idle_ns >= hundredth * PART_LEAST &&
			  sample->cpu[i].idle_ns <= hundredth * PART_MOST;
		parts += part[i];
	}
	for (unsigned i = 0; i < sample->cpus; i++)
		if (part[i])
			sample->cpu[i].idles = sample->switches / 2 / parts;
}

static bool has_silent_cpu(const struct awake_sample *sample)
{
	for (unsigned i = 0; i < sample->cpus; i++)
		if (!sample->cpu[i].idles)
			return true;
	return false;
}

void awake_sampler_read(struct awake_sampler *s, enum awake_mode mode, int64_t now_ns,
			struct awake_sample *sample)
{
	uint64_t polled_ns = 0;

	memset(sample, 0, sizeof(*sample));
	sample->length_ns = s->read_at ? (uint64_t)(now_ns - s->read_at) : 0;
	sample->switches = AWAKE_UNKNOWN;
	sample->cpus = s->cpus;
	for (unsigned i = 0; i < s->cpus; i++) {
		polled_ns += read_cpu(&s->cpu[i], &sample->cpu[i]);
		/* An idle that began before this sample. */
		sample->cpu[i].idle_ns = at_most(sample->cpu[i].idle_ns, sample->length_ns);
	}
	sample->polled_ns = mode == AWAKE_QOS ? polled_ns : 0;
	/* What was counted before a hold is no part of it: read when it is short, too. */
	if (mode != AWAKE_WATCH || !s->cpuidle || has_silent_cpu(sample))
		add_stat(s, now_ns, sample);
	if (!s->cpuidle && mode == AWAKE_WATCH)
		share_out(sample);
	s->read_at = now_ns;
}
