/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "interleave/location.h"
#include "interleave/sched.h"

/* Between the keys of two messages, so that others find a place there. */
#define KEY_STEP 8

static struct location locations[LOCATIONS_MAX];
static unsigned locations_used;
static unsigned stale; /* choices of old values, and of old places, in this execution */

void location_reset(void)
{
	locations_used = 0;
	stale = 0;
}

uint64_t peek(const volatile void *p, unsigned size)
{
	switch (size) {
	case 1:
		return *(const volatile uint8_t *)p;
	case 2:
		return *(const volatile uint16_t *)p;
	case 4:
		return *(const volatile uint32_t *)p;
	default:
		return *(const volatile uint64_t *)p;
	}
}

void poke(volatile void *p, unsigned size, uint64_t value)
{
	switch (size) {
	case 1:
		*(volatile uint8_t *)p = (uint8_t)value;
		break;
	case 2:
		*(volatile uint16_t *)p = (uint16_t)value;
		break;
	case 4:
		*(volatile uint32_t *)p = (uint32_t)value;
		break;
	default:
		*(volatile uint64_t *)p = value;
	}
}

static struct location *begin_location(const volatile void *p, unsigned size)
{
	struct location *l = &locations[locations_used++];

	l->p = (volatile void *)(uintptr_t)p;
	l->size = size;
	l->messages = 1;
	l->sc_seen = l->kernel_seen = 0;
	l->m[0].value = peek(p, size);
	l->m[0].key = KEY_STEP;
	l->m[0].attached = false;
	memset(&l->m[0].view, 0, sizeof(struct view));
	return l;
}

struct location *location_of(struct cell *c, const volatile void *p, unsigned size)
{
	struct location *l;

	if (!c->location) {
		if (locations_used == LOCATIONS_MAX)
			model_fail(MODEL_ASSERTION, "LOCATIONS_MAX is too small");
		l = begin_location(p, size);
		c->location = (uint8_t)locations_used;
		return l;
	}
	l = &locations[c->location - 1];
	if (l->size != size || l->p != p)
		model_fail(MODEL_ASSERTION, "atomic accesses of different sizes");
	return l;
}

struct location *location_around(const uint32_t *word)
{
	for (unsigned i = locations_used; i-- > 0;)
		if ((uintptr_t)word - (uintptr_t)locations[i].p < locations[i].size)
			return &locations[i];
	return NULL;
}

unsigned location_index(const struct location *l)
{
	return (unsigned)(l - locations);
}

struct message *location_newest(struct location *l)
{
	return &l->m[l->messages - 1];
}

/* 0 .. @most, at the cost of one of the choices that the scenario allows. */
static unsigned choose_old(unsigned most, const char *what)
{
	unsigned chosen = 0;

	if (most && stale < sched_stale_most())
		chosen = model_choose_rarely(most + 1, what);
	stale += chosen > 0;
	return chosen;
}

struct message *location_choose(struct location *l, const struct view *view)
{
	unsigned old = 0, last = l->messages - 1;

	while (old < last && l->m[last - old - 1].key >= view->seen[location_index(l)])
		old++;
	return &l->m[last - choose_old(old, "reads an older value, by so many")];
}

/* How many messages it may be put before: unseen ones, and not into a read-modify-write. */
static unsigned choose_place(struct location *l, const struct view *view)
{
	unsigned back = 0, last = l->messages - 1;

	while (back < last && l->m[last - back].key > view->seen[location_index(l)] &&
	       !l->m[last - back].attached &&
	       l->m[last - back].key > l->m[last - back - 1].key + 1)
		back++;
	return l->messages - choose_old(back, "is stored before others, so many");
}

/* Room for one more at @place. */
static struct message *insert(struct location *l, unsigned place)
{
	if (l->messages == HISTORY) {
		memmove(&l->m[0], &l->m[1], (--l->messages) * sizeof(l->m[0]));
		place -= place > 0;
	}
	memmove(&l->m[place + 1], &l->m[place], (l->messages - place) * sizeof(l->m[0]));
	l->messages++;
	return &l->m[place];
}

uint16_t location_add(struct location *l, uint64_t value, bool attached,
		      const struct view *writer, const struct view *sent)
{
	unsigned place = attached ? l->messages : choose_place(l, writer);
	struct message *m = &l->m[0];
	uint16_t key = 0;

	if (sched_memory() == MODEL_WEAK) {
		key = place == l->messages
			      ? (uint16_t)(location_newest(l)->key + KEY_STEP)
			      : (uint16_t)((l->m[place - 1].key + l->m[place].key) / 2);
		m = insert(l, place);
	}
	m->value = value;
	m->key = key;
	m->attached = attached;
	m->view = *sent;
	m->view.seen[location_index(l)] = key;
	poke(l->p, l->size, location_newest(l)->value);
	sched_changed();
	return key;
}
