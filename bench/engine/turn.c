/* SPDX-License-Identifier: MIT */
#include "turn.h"

#include <stddef.h>

const char *const object_names[OBJECTS] = {
	[OBJECT_SEM] = "sem",
	[OBJECT_COND] = "cond",
	[OBJECT_CHANNEL] = "chan.",
};

static const struct turn sems[2][MAKERS] = {
	{ [MAKER_GLIBC] = { &sem_glibc, NULL }, [MAKER_IPCWAIT] = { &sem_adaptive, NULL } },
	{ [MAKER_GLIBC] = { &sem_glibc_shared, NULL },
	  [MAKER_IPCWAIT] = { &sem_adaptive_shared, NULL } },
};

static const struct turn conds[2][MAKERS] = {
	{ [MAKER_GLIBC] = { &sem_glibc_cond, NULL },
	  [MAKER_IPCWAIT] = { &sem_ipcwait_cond, NULL } },
	{ [MAKER_GLIBC] = { &sem_glibc_cond_shared, NULL },
	  [MAKER_IPCWAIT] = { &sem_ipcwait_cond_shared, NULL } },
};

static const struct turn *const channels[2][MAKERS] = {
	{ [MAKER_GLIBC] = &turn_channel_glibc, [MAKER_IPCWAIT] = &turn_channel_ipcwait },
	{ [MAKER_GLIBC] = &turn_channel_glibc_shared,
	  [MAKER_IPCWAIT] = &turn_channel_ipcwait_shared },
};

const struct turn *turn_by(enum object object, enum maker maker, bool processes)
{
	switch (object) {
	case OBJECT_COND:
		return &conds[processes][maker];
	case OBJECT_CHANNEL:
		return channels[processes][maker];
	default:
		return &sems[processes][maker];
	}
}
