/* SPDX-License-Identifier: MIT */
/* What this machine offers to `ipcwait awake`. */
#include "awake.h"
#include "awake_found.h"
#include "../tools/common/cpu_list.h"
#include "../tools/common/place.h"
#include "info.h"

#include <ipcwait/calibration.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CPUS    "/sys/devices/system/cpu/"
#define CPUIDLE CPUS "cpuidle/"
#define STATE0  CPUS "cpu%u/cpuidle/state0/"

static void read_cpus(struct awake_machine *m, const struct info *info)
{
	unsigned usable[AWAKE_CPUS_MOST], n = 0;
	char text[INFO_TEXT_BYTES];

	m->usable = place_cpus(usable, AWAKE_CPUS_MOST);
	if (!info_line(info, text, sizeof(text), CPUS "online"))
		text[0] = '\0';
	m->online = cpu_list_count(text, NULL);
	if (!m->online)
		m->online = m->usable;
	for (unsigned cpu = 0; m->watched < AWAKE_CPUS_MOST && m->watched < m->online &&
			       cpu < AWAKE_CPUS_MOST * AWAKE_CPUS_MOST;
	     cpu++) {
		bool mine = n < AWAKE_CPUS_MOST && n < m->usable && usable[n] == cpu;

		if (mine || cpu_list_has(text, cpu)) {
			m->usable_mask |= (uint64_t)mine << m->watched;
			m->cpu[m->watched++] = cpu;
		}
		n += mine;
	}
}

/* One number, as a word of the kernel's command line has it. */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = text; (at = strstr(at, word)) != NULL; at += length)
		if ((at == text || at[-1] == ' ') &&
		    (!at[length] || at[length] == ' ' || at[length] == '\n'))
			return true;
	return false;
}

static void read_idle(struct awake_machine *m, const struct info *info)
{
	char text[INFO_TEXT_BYTES], command_line[4096];

	m->idle_poll =
		info_read(info, command_line, sizeof(command_line), "/proc/cmdline") &&
		has_word(command_line, "idle=poll");
	if (info_line(info, text, sizeof(text), CPUIDLE "current_driver") &&
	    strcmp(text, "none") != 0)
		info_append(m->driver, sizeof(m->driver), text);
	m->counters = info_line(info, text, sizeof(text), STATE0 "usage", m->cpu[0]);
	m->poll = info_line(info, text, sizeof(text), STATE0 "name", m->cpu[0]) &&
		  !strcmp(text, "POLL");
	if (info_line(info, text, sizeof(text), STATE0 "disable", m->cpu[0]) &&
	    strcmp(text, "0") != 0)
		m->poll = false;
}

/* To open it makes no request before something is written. */
static void read_device(struct awake_machine *m)
{
	int fd = open(AWAKE_DEVICE, O_RDWR | O_CLOEXEC);
	int32_t us;

	m->requested_us = -1;
	if (fd < 0 && errno == EACCES)
		fd = open(AWAKE_DEVICE, O_WRONLY | O_CLOEXEC);
	m->device_error = fd < 0 ? errno : 0;
	if (fd < 0)
		return;
	if (read(fd, &us, sizeof(us)) == sizeof(us))
		m->requested_us = us;
	close(fd);
}

static void read_quota(struct awake_machine *m, struct info *info)
{
	const struct info_fact *fact;

	info_read_quota(info);
	fact = info_find(info, "quota_cpus");
	m->quota_cpus = fact && fact->kind == INFO_NUMBER ? fact->number : 0;
}

/* The program's first CPU, and its last. Both are the same if it has one. */
static void read_two_cpus(struct awake_machine *m)
{
	m->second = 63 - (unsigned)__builtin_clzll(m->usable_mask | 1);
	m->first = (unsigned)__builtin_ctzll(m->usable_mask | UINT64_C(1) << 63);
	if (m->first > m->second)
		m->first = m->second;
}

/* The kernel can be asked to poll on all CPUs. */
static bool may_hold(const struct awake_machine *m)
{
	return m->poll && !m->device_error && m->online <= AWAKE_CPUS_MOST;
}

/* Where another process holds a request no CPU halts, and its wake cannot be measured. */
static bool can_try(const struct awake_machine *m)
{
	return m->second > m->first && m->requested_us != 0;
}

void awake_machine_ask(struct awake_machine *m)
{
	struct awake_wakes known = { .ns = { 0 } };
	struct ipcwait_calibration c;

	read_device(m);
	if (ipcwait_calibration_get(&c))
		c = (struct ipcwait_calibration){ .block_ns = 0 };
	m->table_ns = c.block_ns;
	m->known_from = "an earlier trial";
	if (!awake_found_load(&known, m->cpu[m->first], m->cpu[m->second]) &&
	    c.samples_used) {
		known.ns[AWAKE_HALTS] = c.latency_ns;
		m->known_from = "calibration";
	}
	awake_trial_begin(&m->trial,
			  1u << AWAKE_SPINS | (unsigned)may_hold(m) << AWAKE_POLLS, &known);
}

/* The wake of a halted CPU has to be assumed, if nothing else is known. */
static void conclude(struct awake_machine *m)
{
	enum awake_source source = awake_trial_wakes(&m->trial, &m->wakes);

	m->wake_from = source == AWAKE_ROUNDS ? "measured just now" : m->known_from;
	if (source == AWAKE_ROUNDS)
		awake_found_save(&m->wakes, m->cpu[m->first], m->cpu[m->second]);
	if (m->wakes.ns[AWAKE_HALTS])
		return;
	m->wakes.ns[AWAKE_HALTS] = m->trial.known.ns[AWAKE_HALTS];
	if (m->wakes.ns[AWAKE_HALTS])
		return;
	m->wakes.ns[AWAKE_HALTS] = m->table_ns;
	m->wake_from = "from a table";
}

uint64_t awake_machine_round(struct awake_machine *m)
{
	bool turned = m->trial.rounds & 1;
	struct awake_wakes round;
	uint64_t pause_ns = 0;

	if (can_try(m)) {
		/* Of two CPUs one may have something to do for all of the trial. */
		awake_probe_round(m, turned ? m->second : m->first,
				  turned ? m->first : m->second, &round);
		pause_ns = awake_trial_add(&m->trial, &round);
	}
	conclude(m);
	return pause_ns;
}

static void nap(uint64_t ns)
{
	const struct timespec span = { .tv_nsec = (long)ns };

	(void)nanosleep(&span, NULL);
}

uint64_t awake_machine_read(struct awake_machine *m, int64_t most_ns)
{
	static struct info info = { .root = "", .section = "" };
	int64_t begin = ipcwait_now_ns();
	uint64_t pause_ns;

	memset(m, 0, sizeof(*m));
	info.facts = 0;
	read_cpus(m, &info);
	read_idle(m, &info);
	read_quota(m, &info);
	read_two_cpus(m);
	awake_machine_ask(m);
	while ((pause_ns = awake_machine_round(m)) && ipcwait_now_ns() - begin < most_ns)
		nap(pause_ns);
	return pause_ns;
}
