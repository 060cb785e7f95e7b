/* SPDX-License-Identifier: MIT */
/* Calls on descriptors are cancellation points, and what is cancelled takes nothing. */
#include <stdio.h>
#include <unistd.h>

#include "fd_ways.h"
#include "say.h"

static struct line line;
static int begun, cleaned, returned;

static void clean_up(void *unused)
{
	(void)unused;
	add(&cleaned, 1);
}

static void *wait_once(void *disabled)
{
	int old;

	if (disabled)
		NEEDS(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
	pthread_cleanup_push(clean_up, NULL);
	set(&begun, 1);
	if (line_take(&line) == 0)
		add(&returned, 1);
	pthread_cleanup_pop(0);
	return NULL;
}

/* What it returned, or PTHREAD_CANCELED. */
static void *cancel_after(long us, bool disabled, bool then_give)
{
	pthread_t t;

	set(&begun, 0);
	set(&cleaned, 0);
	set(&returned, 0);
	t = begin_thread(wait_once, disabled ? &line : NULL);
	NEEDS(becomes(&begun, 1));
	if (us)
		pass_us(us);
	NEEDS(pthread_cancel(t) == 0);
	if (then_give) {
		pass_ms(5);
		line_give(&line);
	}
	return end_thread(t);
}

static const char *named(const char *what, enum way way)
{
	static char text[96];

	(void)snprintf(text, sizeof(text), "%s: %s", way_names[way], what);
	return text;
}

static void cancelled(enum way way)
{
	int ended = 0, clean = 0, took = 0;

	for (long us = 0; us < 120; us += 6) {
		ended += cancel_after(us, false, false) == PTHREAD_CANCELED;
		clean += get(&cleaned);
		took += get(&returned);
	}
	ended += cancel_after(10000, false, false) == PTHREAD_CANCELED;
	expect_number(named("cancelled", way), ended, 21);
	expect_number(named("cleaned up", way), clean, 20);
	expect_number(named("returned all the same", way), took, 0);
	/* What comes then is the next one's. */
	line_give(&line);
	expect(named("what comes after it", way), line_take(&line), 0);
	expect_true(named("disabled", way),
		    cancel_after(2000, true, true) == NULL && get(&returned) == 1);
}

/* Pending when the call begins, with something there: the call is a point all the same. */
static void *with_pending(void *unused)
{
	(void)unused;
	pthread_cleanup_push(clean_up, NULL);
	NEEDS(pthread_cancel(pthread_self()) == 0);
	(void)line_wait(&line, -1);
	add(&returned, 1);
	pthread_cleanup_pop(0);
	return NULL;
}

static void pending(enum way way)
{
	set(&cleaned, 0);
	set(&returned, 0);
	line_give(&line);
	expect_true(named("pending", way),
		    end_thread(begin_thread(with_pending, NULL)) == PTHREAD_CANCELED);
	expect_number(named("pending, cleaned up", way), get(&cleaned), 1);
	expect(named("what was there", way), line_take(&line), 0);
}

#define FIRST_ROUNDS 60

/*
 * Asked for at any moment of the wait, and before what it waits for comes: it acts. A line for each
 * round, because the C library may have read what came.
 */
static void cancelled_first(enum way way)
{
	int acted = 0;

	for (int i = 0; i < FIRST_ROUNDS; i++) {
		pthread_t t;

		line_open(&line, way);
		set(&begun, 0);
		t = begin_thread(wait_once, NULL);
		while (!get(&begun))
			continue;
		spend_us(i % 30);
		NEEDS(pthread_cancel(t) == 0);
		line_give(&line);
		acted += end_thread(t) == PTHREAD_CANCELED;
		line_close(&line);
	}
	expect_number(named("cancelled first", way), acted, FIRST_ROUNDS);
}

int main(void)
{
	say_begin();
	for (enum way way = READ_PIPE; way < WAYS; way++) {
		line_open(&line, way);
		cancelled(way);
		line_train(&line);
		cancelled(way);
		pending(way);
		line_close(&line);
		cancelled_first(way);
	}
	return say_end();
}
