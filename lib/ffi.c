/* SPDX-License-Identifier: MIT */
/* Exported twins of the inline functions, for callers that cannot read C headers. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define IPCWAIT_INLINE __attribute__((visibility("default")))

#include <ipcwait/ipcwait.h>
