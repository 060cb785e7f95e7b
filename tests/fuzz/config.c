/* SPDX-License-Identifier: MIT */
/* The values of all environment variables. */
#include <stdlib.h>
#include <string.h>

#include "common/fuzz.h"
#include "env/config.h"

static void check_haltpoll(const struct iw_haltpoll *p)
{
	FUZZ_CHECK(p->guest_halt_poll_ns >= 1 && p->guest_halt_poll_ns <= 100000000);
	FUZZ_CHECK(p->guest_halt_poll_grow >= 1 && p->guest_halt_poll_grow <= 1000);
	FUZZ_CHECK(p->guest_halt_poll_grow_start <= 100000000);
	FUZZ_CHECK(p->guest_halt_poll_shrink <= 1000);
}

static void check_legal(const struct iw_config *c)
{
	size_t length = strnlen(c->record_path, sizeof(c->record_path));

	FUZZ_CHECK(c->preset >= IPCWAIT_INHERIT && c->preset <= IPCWAIT_TICKS);
	FUZZ_CHECK(c->max_spin_us <= IW_MAX_SPIN_US_LIMIT);
	FUZZ_CHECK(c->spin_budget_percent >= -1 && c->spin_budget_percent <= 100);
	check_haltpoll(&c->haltpoll);
	FUZZ_CHECK(length < sizeof(c->record_path));
	FUZZ_CHECK(length == 0 || c->record_path[0] == '/');
	for (size_t i = 0; i < length; i++)
		FUZZ_CHECK((unsigned char)c->record_path[i] >= ' ');
}

/* Taken and legal, or not taken and unchanged. */
static void check_setting(const struct iw_setting *s, const char *text)
{
	struct iw_config c, before;

	memset(&c, 0, sizeof(c));
	c.spin_budget_percent = -1;
	c.haltpoll = (struct iw_haltpoll){ 1, 1, 0, 0 };
	before = c;
	if (s->take(&c, text))
		check_legal(&c);
	else
		FUZZ_CHECK(memcmp(&c, &before, sizeof(c)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of exactly this size, so that reading beyond its end is noticed. */
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	for (unsigned i = 0; i < IW_SETTINGS; i++)
		check_setting(&iw_settings[i], text);
	free(text);
	return 0;
}
