/* SPDX-License-Identifier: MIT */
/* What the loader gives to a library that was opened with RTLD_DEEPBIND. */
#include "names_case.h"

extern struct names names;

struct names names = {
	"deep",
	pthread_mutex_lock,
	pthread_mutex_unlock,
	pthread_cond_timedwait,
	pthread_cond_signal,
	sem_wait,
	sem_post,
};
