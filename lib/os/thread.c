/* SPDX-License-Identifier: MIT */
#include "os/thread.h"

_Thread_local struct iw_thread iw_thread IW_TLS_INITIAL_EXEC;
