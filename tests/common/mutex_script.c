/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/check.h"
#include "common/mutex_script.h"

#define READINGS_NS 20000

struct ipcwait_mutex script_mutex;
struct slept script_slept[SCRIPT_SLEEPS];
unsigned script_sleeps;

static const struct scripted_sleep *script;
static unsigned script_length;

static int sleep_as_told(const struct fake_call *call)
{
	const struct scripted_sleep *s;

	CHECK(script_sleeps < script_length && script_sleeps < SCRIPT_SLEEPS);
	/* It has told the truth about the word that it sleeps on. */
	CHECK_EQ(*call->word, call->value);
	s = &script[script_sleeps];
	script_slept[script_sleeps++] = (struct slept){
		.call = *call,
		.word = mutex_word(&script_mutex),
		.began_ns = fake.now_ns,
	};
	fake.now_ns += s->sleep_ns;
	if (s->meanwhile)
		s->meanwhile();
	if (s->result == -ETIMEDOUT && fake.now_ns < call->deadline_ns)
		fake.now_ns = call->deadline_ns;
	return s->result;
}

void script_world(unsigned flags, uint64_t word, enum ipcwait_preset preset)
{
	fake_reset();
	fake.on_wait = sleep_as_told;
	script_sleeps = script_length = 0;
	CHECK_EQ(ipcwait_mutex_init(&script_mutex, flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&script_mutex.window, preset), 0);
	mutex_fabricate(&script_mutex, mutex_word(&script_mutex) | word);
	errno = 4711;
}

void script_set(const struct scripted_sleep *sleeps, unsigned n)
{
	script = sleeps;
	script_length = n;
	script_sleeps = 0;
}

bool script_about(int64_t is_ns, int64_t want_ns)
{
	return is_ns > want_ns - READINGS_NS && is_ns < want_ns + READINGS_NS;
}

int64_t script_alarm_ns(unsigned i)
{
	return script_slept[i].call.deadline_ns - script_slept[i].began_ns;
}

uint64_t script_slept_for(enum ipcwait_reason reason)
{
	struct ipcwait_stats st;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	return st.reasons[reason];
}
