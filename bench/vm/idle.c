/* SPDX-License-Identifier: MIT */
#include "idle.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* More than Linux has on a CPU. */
#define STATES_MOST 16

static bool read_text(const struct idle_state *s, const char *file, char *text, int size)
{
	char path[96];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/%s",
		 s->cpu, s->state, file);
	f = fopen(path, "re");
	ok = f && fgets(text, size, f);
	if (ok)
		text[strcspn(text, "\n")] = 0;
	if (f)
		fclose(f);
	return ok;
}

static uint64_t read_number(const struct idle_state *s, const char *file)
{
	char text[32];
	uint64_t n = 0;

	if (read_text(s, file, text, sizeof(text)))
		sscanf(text, "%" SCNu64, &n);
	return n;
}

static bool read_state(struct idle_state *s, unsigned cpu, unsigned state)
{
	*s = (struct idle_state){ .cpu = cpu, .state = state };
	if (!read_text(s, "name", s->name, sizeof(s->name)))
		return false;
	s->usage = read_number(s, "usage");
	s->time_us = read_number(s, "time");
	s->above = read_number(s, "above");
	s->below = read_number(s, "below");
	return true;
}

void idle_read(struct idle_states *s)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct idle_state found;

	s->n = 0;
	s->cut = false;
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		for (unsigned state = 0; state < STATES_MOST; state++) {
			if (!read_state(&found, cpu, state))
				break;
			s->cut = s->n == IDLE_STATES_MOST;
			if (s->cut)
				return;
			s->state[s->n++] = found;
		}
}

static void write_since(struct json *j, const struct idle_state *now,
			const struct idle_state *before)
{
	json_open(j, NULL, '{');
	json_whole(j, "cpu", now->cpu);
	json_whole(j, "state", now->state);
	json_text(j, "name", now->name);
	json_whole(j, "usage", now->usage - before->usage);
	json_whole(j, "time_us", now->time_us - before->time_us);
	json_whole(j, "above", now->above - before->above);
	json_whole(j, "below", now->below - before->below);
	json_close(j, '}');
}

void idle_write_since(struct json *j, const struct idle_states *before)
{
	static struct idle_states now;
	char why[64];

	idle_read(&now);
	/* A driver that came or went meanwhile leaves nothing to subtract. */
	if (!now.n || now.n != before->n) {
		json_number(j, "idle_states", __builtin_nan(""));
		return;
	}
	json_open(j, "idle_states", '[');
	for (unsigned i = 0; i < now.n; i++)
		write_since(j, &now.state[i], &before->state[i]);
	json_close(j, ']');
	if (!now.cut)
		return;
	snprintf(why, sizeof(why), "only the first %d states were read", IDLE_STATES_MOST);
	json_text(j, "idle_states_cut", why);
}
