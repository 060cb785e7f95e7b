/* SPDX-License-Identifier: MIT */
/* An overlayfs, as the root of a container is one, in the process's own mount namespace. */
#ifndef TESTS_IPC_OVERLAY_H
#define TESTS_IPC_OVERLAY_H

#include <stdbool.h>

/*
 * From now on there is one at @place, a directory, in this process and its children. False: the
 * kernel does not let it.
 */
bool overlay_mount(const char *place);

#endif
