/* SPDX-License-Identifier: MIT */
/* What a calibration may hold, and what follows from what. */
#ifndef IW_ENV_CALIBRATION_RULES_H
#define IW_ENV_CALIBRATION_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ipcwait/calibration.h>

/* The idle ages in ns, ascending. */
extern const uint64_t iw_idle_ages[IPCWAIT_IDLE_AGES];

/* A single figure that is measured, not derived: a member of 4 or 8 bytes. */
struct iw_figure {
	const char *name;
	size_t offset, bytes;
	int64_t min, max;
};

#define IW_FIGURES 10u
extern const struct iw_figure iw_figures[IW_FIGURES];

int64_t iw_figure_get(const struct iw_figure *f, const struct ipcwait_calibration *c);
void iw_figure_set(const struct iw_figure *f, struct ipcwait_calibration *c, int64_t v);

/* True if a measurement can have given this. Looks at the measured members only. */
bool iw_calibration_legal(const struct ipcwait_calibration *c);

/* Fill in the members that follow from pair[0]; false if too little was measured there. */
bool iw_calibration_conclude(struct ipcwait_calibration *c);

#endif
