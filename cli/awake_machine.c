/* SPDX-License-Identifier: MIT */
/* What this machine offers, and what follows for `ipcwait awake`. */
#include "awake.h"
#include "../tools/common/cpu_list.h"
#include "../tools/common/place.h"
#include "info.h"

#include <ipcwait/calibration.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

/*
 * What seems to gain nothing is tried again, and the least counts: of 119 trials beside starting
 * servers, on a guest where polling makes a wake of 22 us one of 2, two said 20 and 21.
 */
#define TRIALS 3

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

/* Two CPUs of the program's, as places in the list: the first, and the last. False: it has one. */
static bool two_cpus(const struct awake_machine *m, unsigned *first, unsigned *last)
{
	*last = 63 - (unsigned)__builtin_clzll(m->usable_mask | 1);
	*first = (unsigned)__builtin_ctzll(m->usable_mask | UINT64_C(1) << 63);
	return *last > *first;
}

/* Measured now, before, or a table's. */
static void read_wake(struct awake_machine *m, unsigned a, unsigned b)
{
	struct ipcwait_calibration c;

	m->wake_from = "measured just now";
	/* Where somebody holds a request no CPU halts, and its wake cannot be measured. */
	m->wake_ns = a == b || m->requested_us == 0 ? 0 : awake_probe_ns(a, b);
	if (m->wake_ns)
		return;
	if (ipcwait_calibration_get(&c))
		c = (struct ipcwait_calibration){ .block_ns = 0 };
	m->wake_from = c.samples_used ? "calibration" : "from a table";
	m->wake_ns = c.samples_used ? c.latency_ns : c.block_ns;
}

/* Beside a request. What stops a process waits: one that is stopped keeps no CPU awake. */
static uint64_t polled_ns(unsigned a, unsigned b)
{
	sigset_t stops, mask;
	uint64_t ns = 0;
	int fd = -1;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTSTP);
	sigaddset(&stops, SIGTTIN);
	sigaddset(&stops, SIGTTOU);
	(void)pthread_sigmask(SIG_BLOCK, &stops, &mask);
	if (!awake_hold_begin(&fd)) {
		ns = awake_probe_ns(a, b);
		awake_hold_end(&fd);
	}
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return ns;
}

/* A wake of @ns, if it is known, is worth no effort. */
static bool is_hardly_better(const struct awake_machine *m, uint64_t ns)
{
	return ns * 4 > m->wake_ns * 3;
}

static void read_gain_of_polling(struct awake_machine *m, unsigned a, unsigned b)
{
	m->polled_ns = polled_ns(a, b);
	for (int i = 1; i < TRIALS && is_hardly_better(m, m->polled_ns); i++) {
		uint64_t ns = polled_ns(a, b);

		if (ns && ns < m->polled_ns)
			m->polled_ns = ns;
	}
}

/* The same wakes beside what could be done about them. */
static void read_gains(struct awake_machine *m, unsigned first, unsigned last)
{
	uint64_t mask = UINT64_C(1) << last;
	struct awake_spinners *spinners = awake_spinners_make(m, &mask);

	if (spinners) {
		awake_spinners_set(spinners, mask);
		m->spinner_ns = awake_probe_ns(m->cpu[first], m->cpu[last]);
		awake_spinners_end(spinners);
	}
	if (m->poll)
		read_gain_of_polling(m, m->cpu[first], m->cpu[last]);
}

void awake_machine_read(struct awake_machine *m)
{
	static struct info info = { .root = "", .section = "" };
	unsigned first, last;
	bool two;

	memset(m, 0, sizeof(*m));
	info.facts = 0;
	read_cpus(m, &info);
	read_idle(m, &info);
	read_device(m);
	read_quota(m, &info);
	two = two_cpus(m, &first, &last);
	read_wake(m, m->cpu[first], m->cpu[two ? last : first]);
	if (two)
		read_gains(m, first, last);
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

/* False unless a wake of @ns is known to be hardly better than one of a halted CPU. */
static bool gains_nothing(const struct awake_machine *m, const struct awake_options *o,
			  uint64_t ns)
{
	return o->backend == AWAKE_BACKEND_AUTO && is_hardly_better(m, ns);
}

static const char *no_gain(char *text, size_t size, const struct awake_machine *m,
			   uint64_t ns, const char *of)
{
	(void)snprintf(text, size,
		       "a wake takes %.1f us of a CPU %s, %.1f us of a halted one",
		       (double)ns / AWAKE_US, of, (double)m->wake_ns / AWAKE_US);
	return text;
}

static const char *why_no_qos(struct awake_choice *c, const struct awake_machine *m,
			      const struct awake_options *o)
{
	if (o->backend == AWAKE_BACKEND_SPINNER)
		return "--backend says so";
	if (!m->poll)
		return "the kernel has no cpuidle driver with a POLL state that is enabled";
	if (m->online > AWAKE_CPUS_MOST)
		return "it would make more than 64 CPUs poll";
	if (m->device_error) {
		(void)snprintf(c->qos_text, sizeof(c->qos_text), AWAKE_DEVICE ": %s",
			       strerror(m->device_error));
		return c->qos_text;
	}
	return gains_nothing(m, o, m->polled_ns) ? no_gain(c->qos_text, sizeof(c->qos_text),
							   m, m->polled_ns, "that polls")
						 : NULL;
}

static const char *why_no_spinner(struct awake_choice *c, const struct awake_machine *m,
				  const struct awake_options *o)
{
	if (o->backend == AWAKE_BACKEND_QOS)
		return "--backend says so";
	if (m->quota_cpus > 0)
		return "a control group limits CPU time";
	return gains_nothing(m, o, m->spinner_ns)
		       ? no_gain(c->spinner_text, sizeof(c->spinner_text), m, m->spinner_ns,
				 "with a spinner")
		       : NULL;
}

void awake_choose(struct awake_choice *c, const struct awake_machine *m,
		  const struct awake_options *o)
{
	*c = (struct awake_choice){ .qos = false };
	c->nothing = why_nothing(c, m, o);
	c->qos_not = why_no_qos(c, m, o);
	c->spinner_not = why_no_spinner(c, m, o);
	if (c->nothing)
		return;
	c->qos = !c->qos_not;
	c->spinner_cpus = c->spinner_not ? 0 : m->usable_mask;
	if (c->qos || c->spinner_cpus)
		return;
	(void)snprintf(c->text, sizeof(c->text), "qos: %s; spinner: %s", c->qos_not,
		       c->spinner_not);
	c->nothing = c->text;
}
