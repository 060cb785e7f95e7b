/* SPDX-License-Identifier: MIT */
/* Text of bounded length, for people. */
#ifndef IW_WATCH_TEXT_H
#define IW_WATCH_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct iw_text {
	char *bytes;
	size_t room;   /* with the terminating zero */
	size_t length; /* without it; goes on where there is no more room */
};

/* As printf(). */
__attribute__((format(printf, 2, 3))) void iw_text_add(struct iw_text *t,
						       const char *format, ...);

/* A time, such as "25.4 us" or "1.3 s", in a field of @width or more. */
void iw_text_add_time(struct iw_text *t, int width, uint64_t ns);

/* Write what there is to stderr. */
void iw_text_print(const struct iw_text *t);

#endif
