/* SPDX-License-Identifier: MIT */
/*
 * The saved calibration as text. The first byte says into what pieces to cut the rest, and
 * whether to put the right checksum first: a search would not find one by itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/fuzz.h"
#include "env/calibration_text.h"

#define MEND 0x40
#define STEP 0x3f

static const struct iw_calibration_key key = {
	.part = { "5b1c9e20", "6.1.0", "AMD a10f11", "haltpoll", "2 a8cffdc6" },
};

/* In pieces of @step bytes, 0: all at once. */
static enum iw_calibration_verdict parse(const char *text, size_t length, size_t step,
					 struct ipcwait_calibration *c)
{
	struct iw_calibration_parser p;

	step = step ? step : length + 1;
	iw_calibration_parse_begin(&p, &key, c);
	for (size_t at = 0; at < length; at += step)
		iw_calibration_parse(&p, text + at,
				     step < length - at ? step : length - at);
	return iw_calibration_parse_end(&p);
}

/* Replace what follows the last "end " by the right sum. Returns the new length. */
static size_t mend(char *text, size_t length)
{
	for (size_t body = length; body-- > 0;)
		if (strncmp(text + body, "\nend ", 5) == 0)
			return body + 1 +
			       (size_t)sprintf(text + body + 1, "end %08" PRIx32 "\n",
					       iw_fnv(IW_FNV_BEGIN, text, body + 1));
	return length;
}

/* What is believed can be written, and is then the same. */
static void check_good(const struct ipcwait_calibration *c)
{
	char text[IW_CALIBRATION_TEXT_BYTES];
	struct ipcwait_calibration again, concluded = *c;
	int n = iw_calibration_format(text, &key, c);

	FUZZ_CHECK(iw_calibration_legal(c));
	FUZZ_CHECK(n > 0);
	FUZZ_CHECK(parse(text, (size_t)n, 0, &again) == IW_CALIBRATION_GOOD);
	FUZZ_CHECK(memcmp(&again, c, sizeof(again)) == 0);
	if (!iw_calibration_conclude(&concluded))
		return;
	FUZZ_CHECK(concluded.latency_ns >= 1 && concluded.latency_ns <= 1000000000);
	FUZZ_CHECK(concluded.waker_ns >= 1 && concluded.waker_ns <= 1000000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Room for the checksum. */
	char text[2 * IW_CALIBRATION_TEXT_BYTES + 32];
	struct ipcwait_calibration whole, pieces;
	enum iw_calibration_verdict verdict;
	size_t length = size - 1;

	if (size < 1 || length > 2 * IW_CALIBRATION_TEXT_BYTES)
		return 0;
	memcpy(text, data + 1, length);
	text[length] = '\0';
	if (data[0] & MEND)
		length = mend(text, length);
	verdict = parse(text, length, 0, &whole);
	FUZZ_CHECK(parse(text, length, data[0] & STEP, &pieces) == verdict);
	if (verdict == IW_CALIBRATION_GOOD) {
		FUZZ_CHECK(memcmp(&whole, &pieces, sizeof(whole)) == 0);
		check_good(&whole);
	}
	return 0;
}
