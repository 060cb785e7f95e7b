/* SPDX-License-Identifier: MIT */
/* Lists that what is in them can leave by itself: a link knows what points to it. No locks. */
#ifndef IW_QUEUE_LIST_H
#define IW_QUEUE_LIST_H

#include <stddef.h>

/* All zero: in no list. */
struct iw_link {
	struct iw_link *next, **at;
};

/* Goes to the front of the list that begins at *@list. */
static inline void iw_link_in(struct iw_link *l, struct iw_link **list)
{
	l->next = *list;
	l->at = list;
	if (l->next)
		l->next->at = &l->next;
	*list = l;
}

/* Leaves its list, if it is in one. */
static inline void iw_link_out(struct iw_link *l)
{
	if (!l->at)
		return;
	*l->at = l->next;
	if (l->next)
		l->next->at = l->at;
	l->at = NULL;
}

/* What the link @l, its @member, is in. */
#define IW_LINKED(type, member, l) ((type *)(void *)((char *)(l)-offsetof(type, member)))

#endif
