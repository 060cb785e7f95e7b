/* SPDX-License-Identifier: MIT */
#include "interleave/made_notes.h"

#include <errno.h>

#include "interleave/model.h"

#define VALUES_MOST 32
#define NAMES       128

/* Volatile: in the middle of a function other coroutines change them. */
enum fate { UNUSED, UNDER_WAY, PUT, REFUSED };
static volatile uint8_t fate[VALUES_MOST], taken[VALUES_MOST], place[VALUES_MOST];
static volatile unsigned values, posted[NAMES], got[NAMES];
static volatile bool closing[NAMES], closed[NAMES], ended[NAMES];

void notes_begin(void)
{
	values = 0;
	for (unsigned i = 0; i < VALUES_MOST; i++)
		fate[i] = taken[i] = 0;
	for (unsigned i = 0; i < NAMES; i++) {
		posted[i] = got[i] = 0;
		closing[i] = closed[i] = ended[i] = false;
	}
}

void notes_end(unsigned lost)
{
	unsigned missing = 0;

	for (unsigned i = 0; i < values; i++) {
		missing += fate[i] == PUT && !taken[i];
		/* Whoever has died while it put one in may have. */
		model_assert(fate[i] == PUT || !taken[i] || (fate[i] == UNDER_WAY && lost));
	}
	model_assert(missing <= lost);
}

unsigned notes_new(char name, struct made_elem *elem)
{
	unsigned value = values++;

	model_assert(value < VALUES_MOST);
	fate[value] = UNDER_WAY;
	place[value] = (uint8_t)name;
	*elem = (struct made_elem){ { value, ~(uint64_t)value } };
	return value;
}

void notes_put(char name, unsigned value, int r)
{
	model_assert(r == 0 || r == -ETIMEDOUT || (r == -EPIPE && closing[(unsigned)name]));
	fate[value] = r ? REFUSED : PUT;
}

/* An end is told of only after a close, and for good. */
void notes_got(char name, bool was_ended, const struct made_elem *elem, int r)
{
	uint64_t value = elem->word[0];

	model_assert(r == 0 || r == -EAGAIN || r == -ETIMEDOUT || r == -EPIPE);
	model_assert(r != -EPIPE || closing[(unsigned)name]);
	model_assert(r || !was_ended);
	if (r == -EPIPE)
		ended[(unsigned)name] = true;
	if (r)
		return;
	model_assert(value < VALUES_MOST && elem->word[1] == ~value);
	model_assert(place[value] == (uint8_t)name && !taken[value]);
	model_assert(fate[value] == UNDER_WAY || fate[value] == PUT);
	taken[value] = 1;
}

bool notes_ended(char name)
{
	return ended[(unsigned)name];
}

bool notes_under_way(char name)
{
	bool any = model_memory() == MODEL_WEAK;

	for (unsigned i = 0; i < values; i++)
		any |= place[i] == (uint8_t)name && fate[i] == UNDER_WAY;
	return any;
}

void notes_closing(char name)
{
	closing[(unsigned)name] = true;
}

void notes_closed(char name)
{
	closed[(unsigned)name] = true;
}

bool notes_is_closed(char name)
{
	return closed[(unsigned)name];
}

void notes_posted(char name)
{
	posted[(unsigned)name]++;
}

void notes_taken(char name)
{
	got[(unsigned)name]++;
	model_assert(got[(unsigned)name] <= posted[(unsigned)name]);
}

unsigned notes_left(char name)
{
	return posted[(unsigned)name] - got[(unsigned)name];
}
