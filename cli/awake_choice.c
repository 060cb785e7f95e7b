/* SPDX-License-Identifier: MIT */
/* What `ipcwait awake` does on a machine, and why not more. */
#include "awake.h"

#include <stdio.h>
#include <string.h>

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
	return NULL;
}

static const char *why_cheap(struct awake_choice *c, const struct awake_machine *m,
			     const struct awake_options *o)
{
	if (!awake_wakes_cheap(&m->wakes) || o->backend != AWAKE_BACKEND_AUTO)
		return NULL;
	(void)snprintf(c->text, sizeof(c->text),
		       "wakes are cheap here, %.1f us (%s): nothing to gain",
		       (double)m->wakes.ns[AWAKE_HALTS] / AWAKE_US, m->wake_from);
	return c->text;
}

static const char *no_gain(char *text, size_t size, const struct awake_machine *m,
			   enum awake_way way, const char *of)
{
	if (!m->wakes.ns[way])
		return "wakes are cheap here";
	(void)snprintf(text, size,
		       "a wake takes %.1f us of a CPU %s, %.1f us of a halted one",
		       (double)m->wakes.ns[way] / AWAKE_US, of,
		       (double)m->wakes.ns[AWAKE_HALTS] / AWAKE_US);
	return text;
}

/* Polling that is not known to help is tried: it makes no wake longer. */
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
	if (o->backend == AWAKE_BACKEND_QOS)
		return NULL;
	c->again = awake_wakes_answer(&m->wakes, AWAKE_POLLS) != AWAKE_YES;
	return awake_wakes_answer(&m->wakes, AWAKE_POLLS) == AWAKE_NO
		       ? no_gain(c->qos_text, sizeof(c->qos_text), m, AWAKE_POLLS,
				 "that polls")
		       : NULL;
}

/* A spinner that is not known to help may do harm: on some guests it makes wakes longer. */
static const char *why_no_spinner(struct awake_choice *c, const struct awake_machine *m,
				  const struct awake_options *o)
{
	enum awake_answer answer = awake_wakes_answer(&m->wakes, AWAKE_SPINS);

	if (o->backend == AWAKE_BACKEND_QOS)
		return "--backend says so";
	if (m->quota_cpus > 0)
		return "a control group limits CPU time";
	if (o->backend == AWAKE_BACKEND_SPINNER || answer == AWAKE_YES)
		return NULL;
	c->again = c->again || c->qos_not != NULL;
	return answer == AWAKE_NO ? no_gain(c->spinner_text, sizeof(c->spinner_text), m,
					    AWAKE_SPINS, "with a spinner")
				  : "its gain could not be measured";
}

void awake_choose(struct awake_choice *c, const struct awake_machine *m,
		  const struct awake_options *o)
{
	*c = (struct awake_choice){ .qos = false };
	c->qos_not = why_no_qos(c, m, o);
	c->spinner_not = why_no_spinner(c, m, o);
	c->nothing = why_nothing(c, m, o);
	if (c->nothing) {
		c->again = false;
		return;
	}
	c->nothing = why_cheap(c, m, o);
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
