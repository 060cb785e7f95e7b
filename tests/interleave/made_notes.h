/* SPDX-License-Identifier: MIT */
/*
 * What has become of everything that was put into the objects of made_roles.h, and what therefore
 * has to be an error. Objects are letters.
 */
#ifndef TESTS_INTERLEAVE_MADE_NOTES_H
#define TESTS_INTERLEAVE_MADE_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "interleave/made_objects.h"

void notes_begin(void);

/* All elements that were put in were taken out, but for @lost, and nothing else was. */
void notes_end(unsigned lost);

/* A new value in @elem, which is to be put in; then what came of it. */
unsigned notes_new(char name, struct made_elem *elem);
void notes_put(char name, unsigned value, int r);

/* @was_ended: notes_ended() before the call that has returned @r. */
void notes_got(char name, bool was_ended, const struct made_elem *elem, int r);

/* Somebody was told that nothing comes any more. */
bool notes_ended(char name);

/*
 * A pusher of a queue may have to begin again, whose element was there. True in weak memory too,
 * which may not show the others.
 */
bool notes_under_way(char name);

void notes_closing(char name);
void notes_closed(char name);
bool notes_is_closed(char name);

/* Tokens and signals. */
void notes_posted(char name);
void notes_taken(char name);
unsigned notes_left(char name);

#endif
