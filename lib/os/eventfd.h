/* SPDX-License-Identifier: MIT */
/* eventfd(2), of which only matters whether it is readable. errno is preserved. */
#ifndef IW_OS_EVENTFD_H
#define IW_OS_EVENTFD_H

/* One that is readable, and closed by execve(2); or a negative errno. */
int iw_eventfd_make(void);

void iw_eventfd_set(int fd);   /* it is readable now */
void iw_eventfd_clear(int fd); /* and now it is not */
void iw_eventfd_close(int fd);

#endif
