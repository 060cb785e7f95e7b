/* SPDX-License-Identifier: MIT */
/* What this machine offers, and what follows for `ipcwait awake`. */
#include "awake.h"
#include "../tools/common/cpu_list.h"
#include "../tools/common/place.h"
#include "info.h"

#include <ipcwait/calibration.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define CPUS    "/sys/devices/system/cpu/"
#define CPUIDLE CPUS "cpuidle/"
#define STATE0  CPUS "cpu%u/cpuidle/state0/"

/*
 * A wake of a polling CPU takes 2 to 3 us on the guests that were looked at, and one on metal whose
 * CPUs do not go deep hardly more. Below this there is little to gain.
 */
#define CHEAP_NS (6 * AWAKE_US)

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

/* Two CPUs of the program's: the first, and the last. */
static uint64_t probe(const struct awake_machine *m)
{
	int last = 63 - __builtin_clzll(m->usable_mask | 1);
	int first = __builtin_ctzll(m->usable_mask | UINT64_C(1) << 63);

	if (last <= first)
		return 0;
	return awake_probe_ns(m->cpu[first], m->cpu[last]);
}

/* Measured before, measured now, or a table's. */
static void read_wake(struct awake_machine *m)
{
	struct ipcwait_calibration c;

	if (ipcwait_calibration_get(&c))
		c = (struct ipcwait_calibration){ .block_ns = 0 };
	m->wake_from = "calibration";
	m->wake_ns = c.samples_used ? c.latency_ns : 0;
	if (m->wake_ns)
		return;
	m->wake_from = "measured just now";
	m->wake_ns = probe(m);
	if (m->wake_ns)
		return;
	m->wake_from = "from a table";
	m->wake_ns = c.block_ns;
}

void awake_machine_read(struct awake_machine *m)
{
	static struct info info = { .root = "", .section = "" };

	memset(m, 0, sizeof(*m));
	info.facts = 0;
	read_cpus(m, &info);
	read_idle(m, &info);
	read_device(m);
	read_quota(m, &info);
	read_wake(m);
}

static const char *why_nothing(struct awake_choice *c, const struct awake_machine *m,
			       const struct awake_options *o)
{
	if (m->usable < 2)
		return "there is one CPU: who waits has to leave it to the other";
	if (m->idle_poll)
		return "idle CPUs poll already: the kernel was started with idle=poll";
	if (m->quota_cpus > 0 && o->backend != AWAKE_BACKEND_QOS) {
		(void)snprintf(c->text, sizeof(c->text),
			       "a control group allows %.2f CPUs: polling would take more",
			       m->quota_cpus);
		return c->text;
	}
	if (m->wake_ns && m->wake_ns < CHEAP_NS && o->backend == AWAKE_BACKEND_AUTO) {
		(void)snprintf(c->text, sizeof(c->text),
			       "wakes are cheap here, %.1f us (%s): nothing to gain",
			       (double)m->wake_ns / AWAKE_US, m->wake_from);
		return c->text;
	}
	return NULL;
}

static const char *why_no_qos(const struct awake_machine *m, const struct awake_options *o)
{
	static char text[128];

	if (o->backend == AWAKE_BACKEND_SPINNER)
		return "--backend says so";
	if (!m->poll)
		return "the kernel has no cpuidle driver with a POLL state that is enabled";
	if (m->online > AWAKE_CPUS_MOST)
		return "it would make more than 64 CPUs poll";
	if (!m->device_error)
		return NULL;
	(void)snprintf(text, sizeof(text), AWAKE_DEVICE ": %s", strerror(m->device_error));
	return text;
}

static const char *why_no_spinner(const struct awake_machine *m,
				  const struct awake_options *o)
{
	if (o->backend == AWAKE_BACKEND_QOS)
		return "--backend says so";
	if (m->quota_cpus > 0)
		return "a control group limits CPU time";
	return NULL;
}

void awake_choose(struct awake_choice *c, const struct awake_machine *m,
		  const struct awake_options *o)
{
	*c = (struct awake_choice){ .qos = false };
	c->nothing = why_nothing(c, m, o);
	c->qos_not = why_no_qos(m, o);
	c->spinner_not = why_no_spinner(m, o);
	if (c->nothing)
		return;
	c->qos = !c->qos_not;
	c->spinner_cpus = c->spinner_not ? 0 : m->usable_mask;
	if (!c->qos && !c->spinner_cpus)
		c->nothing = c->qos_not;
}
