/* SPDX-License-Identifier: MIT */
/* What the module puts in front of the original: visible, while all else in it is hidden. */
#ifndef IW_PRELOAD_MODULE_H
#define IW_PRELOAD_MODULE_H

#define IW_INTERPOSED __attribute__((visibility("default")))

#endif
