/* SPDX-License-Identifier: MIT */
/* Part of a program that was compiled with the headers of a later layout. */
#ifndef TESTS_IPC_LAYOUT_OTHER_H
#define TESTS_IPC_LAYOUT_OTHER_H

struct ipcwait_region;

#define OTHER_LAYOUT 1

/* ipcwait_region_attach(), as it is there. */
int other_attach(struct ipcwait_region *r);

#endif
