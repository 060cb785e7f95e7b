/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "env/calibration_text.h"

/* Longest number: 18 digits fit into an int64_t whatever they are. */
#define DIGITS_MOST 18

/* Most numbers in a line. */
#define NUMBERS 7

/* Digits, after a `-` if that is allowed: strtoll() would take blanks and a `+`. */
static bool take_number(const char **at, bool sign, int64_t *v)
{
	const char *p = *at;
	bool minus = sign && *p == '-';
	unsigned digits = 0;

	*v = 0;
	for (p += minus; *p >= '0' && *p <= '9'; p++) {
		if (++digits > DIGITS_MOST)
			return false;
		*v = *v * 10 + (*p - '0');
	}
	*v = minus ? -*v : *v;
	*at = p;
	return digits > 0;
}

/* "name number number ..." with single blanks, and nothing after the last. */
static bool take_line(const char *line, const char *name, bool sign, int64_t *v, unsigned n)
{
	size_t length = strlen(name);

	if (strncmp(line, name, length) != 0)
		return false;
	line += length;
	while (n--)
		if (*line++ != ' ' || !take_number(&line, sign, v++))
			return false;
	return *line == '\0';
}

static bool fit_32_bits(const int64_t *v, unsigned n)
{
	while (n--)
		if (v[n] > UINT32_MAX)
			return false;
	return true;
}

static bool take_magic(struct iw_calibration_parser *p)
{
	const size_t length = strlen(IW_CALIBRATION_MAGIC);
	const char *version = p->line + length;
	int64_t number;

	if (strncmp(p->line, IW_CALIBRATION_MAGIC, length) != 0)
		return false;
	p->other = strcmp(version, IW_CALIBRATION_VERSION) != 0;
	return take_number(&version, false, &number) && *version == '\0';
}

static bool take_key(struct iw_calibration_parser *p, unsigned part)
{
	const char *name = iw_calibration_key_names[part];
	size_t length = strlen(name);

	if (strncmp(p->line, name, length) != 0 || p->line[length] != ' ')
		return false;
	if (strcmp(p->line + length + 1, p->key->part[part]) != 0 ||
	    (part == IW_KEY_BOOT && strcmp(p->key->part[part], IW_KEY_UNKNOWN) == 0))
		p->other = true;
	return true;
}

static bool take_figure(struct iw_calibration_parser *p, const struct iw_figure *f)
{
	int64_t v;

	if (!take_line(p->line, f->name, f->min < 0, &v, 1) || v < f->min || v > f->max)
		return false;
	iw_figure_set(f, p->c, v);
	return true;
}

static bool take_pair(struct iw_calibration_parser *p)
{
	struct ipcwait_calibration_pair *pair = &p->c->pair[p->c->pair_count];
	int64_t v[NUMBERS];

	if (p->c->pair_count == IPCWAIT_CALIBRATION_PAIRS ||
	    !take_line(p->line, "pair", false, v, 4) || !fit_32_bits(v, 3))
		return false;
	pair->distance = (uint32_t)v[0];
	pair->cpu_a = (uint32_t)v[1];
	pair->cpu_b = (uint32_t)v[2];
	pair->line_ns = (uint64_t)v[3];
	p->c->pair_count++;
	return true;
}

static bool take_age(struct iw_calibration_parser *p, unsigned age)
{
	struct ipcwait_wake_latency *l = &p->c->pair[p->c->pair_count - 1].latency[age];
	int64_t v[NUMBERS];

	if (!take_line(p->line, "age", false, v, 7) || !fit_32_bits(v + 5, 2))
		return false;
	l->idle_ns = (uint64_t)v[0];
	l->p10_ns = (uint64_t)v[1];
	l->median_ns = (uint64_t)v[2];
	l->p90_ns = (uint64_t)v[3];
	l->waker_ns = (uint64_t)v[4];
	l->used = (uint32_t)v[5];
	l->discarded = (uint32_t)v[6];
	return true;
}

/* Pairs, each with its ages, and then the end. */
static bool take_pair_or_end(struct iw_calibration_parser *p)
{
	unsigned at = (p->lines - IW_LINE_PAIRS) % IW_LINES_PER_PAIR;
	char end[16];

	if (at > 0)
		return take_age(p, at - 1);
	(void)snprintf(end, sizeof(end), "end %08" PRIx32, p->sum);
	p->ended = strcmp(p->line, end) == 0;
	return p->ended || take_pair(p);
}

static bool take(struct iw_calibration_parser *p)
{
	if (p->ended)
		return false;
	if (p->lines < IW_LINE_KEY)
		return take_magic(p);
	if (p->lines < IW_LINE_FIGURES)
		return take_key(p, p->lines - IW_LINE_KEY);
	if (p->lines < IW_LINE_PAIRS)
		return take_figure(p, &iw_figures[p->lines - IW_LINE_FIGURES]);
	return take_pair_or_end(p);
}

static bool complete_line(struct iw_calibration_parser *p)
{
	p->line[p->length] = '\0';
	if (!take(p))
		return false;
	p->line[p->length] = '\n';
	p->sum = iw_fnv(p->sum, p->line, p->length + 1);
	p->length = 0;
	p->lines++;
	return true;
}

static bool take_byte(struct iw_calibration_parser *p, char byte)
{
	if (byte == '\n')
		return complete_line(p);
	if (byte < ' ' || byte > '~' || p->length == IW_CALIBRATION_LINE_BYTES)
		return false;
	p->line[p->length++] = byte;
	return true;
}

void iw_calibration_parse_begin(struct iw_calibration_parser *p,
				const struct iw_calibration_key *key,
				struct ipcwait_calibration *c)
{
	memset(c, 0, sizeof(*c));
	*p = (struct iw_calibration_parser){ .key = key, .c = c, .sum = IW_FNV_BEGIN };
}

/* Another version's first line is the last that can be judged. */
void iw_calibration_parse(struct iw_calibration_parser *p, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n && !p->damaged; i++) {
		if (p->other && p->lines == IW_LINE_KEY)
			return;
		p->damaged = !take_byte(p, bytes[i]);
	}
}

enum iw_calibration_verdict iw_calibration_parse_end(const struct iw_calibration_parser *p)
{
	if (p->damaged)
		return IW_CALIBRATION_DAMAGED;
	if (p->other && p->lines == IW_LINE_KEY)
		return IW_CALIBRATION_OTHER;
	if (!p->ended || p->length || !iw_calibration_legal(p->c))
		return IW_CALIBRATION_DAMAGED;
	return p->other ? IW_CALIBRATION_OTHER : IW_CALIBRATION_GOOD;
}
