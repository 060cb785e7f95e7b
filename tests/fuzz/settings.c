/* SPDX-License-Identifier: MIT */
/*
 * What a program sets and asks besides waiting: policies, presets, names; explanations,
 * statistics, calibrations. Any bytes as structs and texts, any sizes, NULL and misaligned
 * pointers. What is refused changes nothing, what is filled in fits, and is what was set. Every
 * buffer is of exactly the size that the library is told.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <ipcwait/calibration.h>
#include <ipcwait/explain.h>
#include <ipcwait/ipcwait.h>

#include "common/calibration.h"
#include "common/fake_os.h"
#include "common/fuzz.h"
#include "fuzz/kernel.h"
#include "fuzz/sem_calls.h"

#define CALLS_MOST 8
#define SEMS       2

/* Room for what a variable of the environment may hold, and more. */
#define VALUE_BYTES 1100

#define VARIABLE "IPCWAIT_CALIBRATION="
#define CACHE    "/cache"

/* So that explanations, names, counts find them again. */
static struct ipcwait_sem sems[SEMS];

/* What was set last. */
static struct {
	char name[SEMS][IPCWAIT_NAME_BYTES + 1];
	enum ipcwait_preset preset;
} model;

static char variable[sizeof(VARIABLE) + VALUE_BYTES] = VARIABLE "none";
static char *const value = variable + sizeof(VARIABLE) - 1;

static void *allocate(size_t size)
{
	void *bytes = malloc(size);

	FUZZ_CHECK(bytes);
	memset(bytes, 0x5a, size);
	return bytes;
}

static bool untouched(const void *bytes, size_t size)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < size; i++)
		if (b[i] != 0x5a)
			return false;
	return true;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Mostly some bytes around @full. */
static size_t take_size(struct input *in, size_t full)
{
	uint8_t how = take_8(in);

	if (how & 1)
		return take_16(in) % (full + 64);
	return how & 2 ? how >> 2 : full + 31 - (how >> 2) % 64;
}

/* A text of up to @most bytes, with an end. */
static size_t take_text(struct input *in, char *text, size_t most)
{
	size_t length = take_8(in);

	length = length < 200 ? length % 40 : length * 8;
	length = smaller(smaller(length, most), in->left);
	take_bytes(in, text, length);
	text[length] = '\0';
	return strlen(text);
}

/* B by preset, from what the kernel has taught. */
static uint64_t block_ns(enum ipcwait_preset preset)
{
	if (preset == IPCWAIT_LATENCY)
		return 4 * KERNEL_LATENCY_NS + KERNEL_WAKER_NS;
	if (preset == IPCWAIT_POWER)
		return KERNEL_LATENCY_NS / 4 + KERNEL_WAKER_NS;
	return KERNEL_LATENCY_NS + KERNEL_WAKER_NS;
}

static void check_stats(struct input *in)
{
	const size_t header = offsetof(struct ipcwait_stats, kind);
	size_t size = take_size(in, sizeof(struct ipcwait_stats));
	struct ipcwait_stats *st = allocate(size);
	size_t filled = smaller(size, sizeof(*st));
	int r = ipcwait_stats_get(st, size);

	FUZZ_CHECK(r == (size < header ? -EINVAL : (int)filled));
	if (size < header)
		FUZZ_CHECK(untouched(st, size));
	else
		FUZZ_CHECK(st->size == filled && st->usable_cpus == fake.allowed.count &&
			   st->block_cost_ns == block_ns(model.preset));
	FUZZ_CHECK(ipcwait_stats_get(NULL, size) == -EINVAL);
	free(st);
}

static void check_policy(struct input *in)
{
	uint8_t how = take_8(in);
	struct ipcwait_policy p = { .preset = (enum ipcwait_preset)(how % 8) };
	uint32_t any;
	int r;

	if (how & 8)
		p.max_spin_us = take_32(in) % 120000;
	if (how & 16)
		((uint32_t *)&p)[take_8(in) % (sizeof(p) / 4)] = take_32(in);
	any = p.reserved[0] | p.reserved[1] | p.reserved[2];
	r = ipcwait_policy_set_default(how & 32 ? NULL : &p);
	FUZZ_CHECK((r == 0) == (!(how & 32) && (unsigned)p.preset <= IPCWAIT_TICKS &&
				p.max_spin_us <= 100000 && p.place <= 1 && !any));
	FUZZ_CHECK(r == 0 || r == -EINVAL);
	if (r == 0)
		model.preset = p.preset;
}

/* A window, or a pointer that is none; @i is SEMS for that. */
static struct ipcwait_window *take_window(struct input *in, unsigned *i)
{
	uint8_t how = take_8(in);
	uintptr_t window = (uintptr_t)&sems[how & 1].window;

	*i = how & 2 ? SEMS : how & 1;
	if (*i < SEMS)
		return (struct ipcwait_window *)window;
	return how & 4 ? (struct ipcwait_window *)(window + 1 + (how >> 3) % 7) : NULL;
}

static void check_preset(struct input *in)
{
	unsigned i, preset = take_8(in) % 16;
	struct ipcwait_window *w = take_window(in, &i);
	int r = ipcwait_window_set_preset(w, (enum ipcwait_preset)preset);

	FUZZ_CHECK(r == (i < SEMS && preset <= IPCWAIT_TICKS ? 0 : -EINVAL));
}

static bool printable(const char *text, bool lines)
{
	for (; *text; text++)
		if (!(lines && *text == '\n') &&
		    ((unsigned char)*text < ' ' || *text == 127))
			return false;
	return true;
}

static void check_name(struct input *in)
{
	char bytes[64], *name;
	size_t length = take_text(in, bytes, sizeof(bytes) - 1);
	unsigned i;
	struct ipcwait_window *w = take_window(in, &i);
	int r;

	name = allocate(length + 1);
	memcpy(name, bytes, length + 1);
	r = ipcwait_object_set_name(w, name);
	FUZZ_CHECK(r == (i < SEMS && length <= IPCWAIT_NAME_BYTES && printable(name, false)
				 ? 0
				 : -EINVAL));
	FUZZ_CHECK(ipcwait_object_set_name(w, NULL) == -EINVAL);
	if (r == 0)
		memcpy(model.name[i], name, length + 1);
	free(name);
}

/* Cut where the room ends, and the length of all of it told. */
static void check_cut(const struct ipcwait_window *w, const char *whole, size_t size)
{
	char *text = size ? allocate(size) : NULL;
	size_t n = strlen(whole), fits = size ? smaller(n, size - 1) : 0;

	FUZZ_CHECK(ipcwait_explain(w, text, size) == (int)n);
	if (size)
		FUZZ_CHECK(memcmp(text, whole, fits) == 0 && text[fits] == '\0');
	free(text);
}

static void check_explanation(struct input *in)
{
	char whole[IPCWAIT_EXPLAIN_BYTES], quoted[IPCWAIT_NAME_BYTES + 4] = "";
	unsigned i;
	const struct ipcwait_window *w = take_window(in, &i);
	int r = ipcwait_explain(w, whole, sizeof(whole));

	FUZZ_CHECK(ipcwait_explain(w, NULL, sizeof(whole)) == -EINVAL);
	if (i == SEMS) {
		FUZZ_CHECK(r == -EINVAL);
		return;
	}
	FUZZ_CHECK(r > 0 && (size_t)r < sizeof(whole) && strlen(whole) == (size_t)r);
	FUZZ_CHECK(printable(whole, true) && whole[r - 1] == '\n');
	if (model.name[i][0])
		(void)snprintf(quoted, sizeof(quoted), " \"%s\"", model.name[i]);
	FUZZ_CHECK(strstr(whole, quoted));
	check_cut(w, whole, take_size(in, (size_t)r));
}

/* A wait on one of the objects, to have something to explain. */
static void check_wait(struct input *in)
{
	struct ipcwait_sem *s = &sems[take_8(in) & 1];
	struct sem_call c = { .kind = WAIT_UNTIL,
			      .deadline_ns = take_deadline(in, fake.now_ns) };

	if (take_8(in) & 1)
		take_bytes(in, &s->window, sizeof(s->window));
	sem_call_make(&c, s);
	FUZZ_CHECK(c.result != 0 && c.result != -EINVAL);
}

/* The fake machine has one CPU to calibrate on, so nothing comes of it. */
static void check_calibrate(struct input *in)
{
	struct ipcwait_calibrate_params p;
	size_t size = take_size(in, sizeof(struct ipcwait_calibration));
	size_t given = take_size(in, sizeof(p)), known = smaller(given, sizeof(p));
	uint8_t *params = allocate(given);
	void *out = allocate(size);
	bool bad = size < sizeof(uint64_t);
	int r;

	memset(params, 0, given);
	take_bytes(in, params, smaller(given, take_8(in)));
	for (size_t i = sizeof(p); i < given; i++)
		bad = bad || params[i];
	memset(&p, 0, sizeof(p));
	memcpy(&p, params, known);
	r = ipcwait_impl_calibrate((void *)params, given, out, size);
	bad = bad || p.reserved || p.cpu_a != p.cpu_b;
	FUZZ_CHECK(r == (bad ? -EINVAL : -EOPNOTSUPP));
	FUZZ_CHECK(untouched(out, size));
	free(out);
	free(params);
}

static void check_calibration_get(struct input *in)
{
	size_t size = take_size(in, sizeof(struct ipcwait_calibration));
	struct ipcwait_calibration *out = allocate(size);
	size_t filled = smaller(size, sizeof(*out));
	int r = ipcwait_impl_calibration_get(out, size);

	FUZZ_CHECK(r == (size < sizeof(out->size) ? -EINVAL : 0));
	if (r)
		FUZZ_CHECK(untouched(out, size));
	else
		FUZZ_CHECK(out->size == filled);
	FUZZ_CHECK(ipcwait_impl_calibration_get(NULL, sizeof(*out)) == -EINVAL);
	free(out);
}

/* As the header of this file's place has it: what the variable says, or the cache. */
static const char *expected_path(void)
{
	if (strcmp(value, "none") == 0)
		return NULL;
	if (*value == '/' && strlen(value) < 1024 && printable(value, false))
		return value;
	return CACHE "/ipcwait/calibration";
}

static void check_path(struct input *in)
{
	const char *want = expected_path();
	size_t size = take_size(in, 64);
	char *path = allocate(size);
	int r = ipcwait_calibration_path(path, size);

	if (!want)
		FUZZ_CHECK(r == -ENOENT);
	else if (size <= strlen(want))
		FUZZ_CHECK(r == -ENAMETOOLONG);
	else
		FUZZ_CHECK(r == (int)strlen(want) && strcmp(path, want) == 0);
	FUZZ_CHECK(r >= 0 || untouched(path, size));
	FUZZ_CHECK(ipcwait_calibration_path(NULL, size) == -EINVAL);
	free(path);
}

/* A calibration that is right but for some words, and as long as it says. */
static void check_save(struct input *in)
{
	struct ipcwait_calibration c = calibration_example(take_8(in) % 6), known;
	size_t size;
	void *copy;
	int r;

	for (unsigned n = take_8(in) % 4; n; n--)
		((uint64_t *)&c)[take_16(in) % (sizeof(c) / 8)] = take_64(in);
	size = c.size < sizeof(c.size) ? sizeof(c.size) : smaller(c.size, sizeof(c));
	copy = allocate(size);
	memcpy(copy, &c, size);
	r = ipcwait_calibration_save(copy);
	memset(&known, 0, sizeof(known));
	memcpy(&known, &c, smaller(c.size, sizeof(c)));
	FUZZ_CHECK(r == (!expected_path()               ? -ENOENT
			 : iw_calibration_legal(&known) ? -EROFS
							: -EINVAL));
	FUZZ_CHECK(ipcwait_calibration_save(NULL) == -EINVAL);
	free(copy);
}

static void make_call(struct input *in)
{
	static void (*const calls[])(struct input *) = {
		check_stats,     check_policy,          check_preset, check_name,
		check_wait,      check_explanation,     check_path,   check_save,
		check_calibrate, check_calibration_get,
	};
	uint8_t which = take_8(in) % (sizeof(calls) / sizeof(calls[0]) + 1);

	errno = 4711;
	if (which < sizeof(calls) / sizeof(calls[0]))
		calls[which](in);
	else
		(void)take_text(in, value, VALUE_BYTES - 1);
	FUZZ_CHECK(errno == 4711);
}

static void begin(struct input *in)
{
	static const struct ipcwait_policy none;

	strcpy(value, "none");
	FUZZ_CHECK(putenv(variable) == 0);
	FUZZ_CHECK(setenv("XDG_CACHE_HOME", CACHE, 1) == 0);
	kernel_begin(in);
	memset(sems, 0, sizeof(sems));
	memset(&model, 0, sizeof(model));
	FUZZ_CHECK(ipcwait_policy_set_default(&none) == 0);
	for (unsigned i = 0; i < SEMS; i++)
		FUZZ_CHECK(ipcwait_object_set_name(&sems[i].window, "") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	begin(&in);
	for (unsigned i = 0; i < CALLS_MOST && in.left; i++)
		make_call(&in);
	return 0;
}
