/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "env/calibration_text.h"

const char *const iw_calibration_key_names[IW_KEY_PARTS] = {
	[IW_KEY_BOOT] = "boot", [IW_KEY_KERNEL] = "kernel",     [IW_KEY_CPU] = "cpu",
	[IW_KEY_IDLE] = "idle", [IW_KEY_AFFINITY] = "affinity",
};

struct writer {
	char *text;
	size_t length;
	bool full;
};

uint32_t iw_fnv(uint32_t sum, const void *bytes, size_t n)
{
	const unsigned char *b = bytes;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ b[i]) * UINT32_C(16777619);
	return sum;
}

static char *end_of(const struct writer *w)
{
	return w->text + w->length;
}

static size_t room(const struct writer *w)
{
	return IW_CALIBRATION_TEXT_BYTES - w->length;
}

/* Count what snprintf() has written at the end. */
static void wrote(struct writer *w, int n)
{
	w->full = w->full || n < 0 || (size_t)n >= room(w);
	w->length += w->full ? 0 : (size_t)n;
}

static void write_age(struct writer *w, const struct ipcwait_wake_latency *l)
{
	wrote(w, snprintf(end_of(w), room(w),
			  "age %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			  " %" PRIu32 " %" PRIu32 "\n",
			  l->idle_ns, l->p10_ns, l->median_ns, l->p90_ns, l->waker_ns,
			  l->used, l->discarded));
}

static void write_pair(struct writer *w, const struct ipcwait_calibration_pair *pair)
{
	wrote(w, snprintf(end_of(w), room(w),
			  "pair %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
			  pair->distance, pair->cpu_a, pair->cpu_b, pair->line_ns));
	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++)
		write_age(w, &pair->latency[i]);
}

int iw_calibration_format(char text[IW_CALIBRATION_TEXT_BYTES],
			  const struct iw_calibration_key *key,
			  const struct ipcwait_calibration *c)
{
	struct writer w = { .text = text };

	if (!iw_calibration_legal(c))
		return -EINVAL;
	wrote(&w, snprintf(end_of(&w), room(&w),
			   IW_CALIBRATION_MAGIC IW_CALIBRATION_VERSION "\n"));
	for (unsigned i = 0; i < IW_KEY_PARTS; i++)
		wrote(&w, snprintf(end_of(&w), room(&w), "%s %s\n",
				   iw_calibration_key_names[i], key->part[i]));
	for (unsigned i = 0; i < IW_FIGURES; i++)
		wrote(&w, snprintf(end_of(&w), room(&w), "%s %" PRId64 "\n",
				   iw_figures[i].name, iw_figure_get(&iw_figures[i], c)));
	for (unsigned i = 0; i < c->pair_count; i++)
		write_pair(&w, &c->pair[i]);
	wrote(&w, snprintf(end_of(&w), room(&w), "end %08" PRIx32 "\n",
			   iw_fnv(IW_FNV_BEGIN, text, w.length)));
	return w.full ? -EINVAL : (int)w.length;
}
