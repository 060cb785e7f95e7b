/* SPDX-License-Identifier: MIT */
#include "table.h"
#include "bars.h"

#include <stdio.h>
#include <string.h>

static const char legend[] =
	"suite mean: for each member the sum of costs / the sum of the best costs; the\n"
	"mean of these over all members but the adversarial ones. worst: the largest of a\n"
	"stationary member. loss: cost - best cost of a single wait; its maximum counts\n"
	"adversarial members too. spun: time spun / time waited. hindsight: for each\n"
	"member the one threshold that turns out to be best.";

static double us(uint64_t ns)
{
	return (double)ns / 1000;
}

/* A number in seven columns, with as many digits as help. */
static const char *seven(double x)
{
	static char text[24];

	snprintf(text, sizeof(text), x < 100 ? "%7.2f" : x < 99999 ? "%7.0f" : "%7.0e", x);
	return text;
}

static void print_heading(const struct series *s, const struct options *o)
{
	printf("B = %llu us: cost / offline optimum over %zu members, seed %llu\n\n",
	       (unsigned long long)s->block_ns / 1000, s->suite.n,
	       (unsigned long long)o->seed);
	printf("%-11s %7s %7s  %-28s %23s %23s %6s %6s\n", "", "suite", "worst", "",
	       "loss, us", "loss, B", "spun", "slept");
	printf("%-11s %7s %7s  %-28s %7s %7s %7s %7s %7s %7s %6s %6s\n", "policy", "mean",
	       "station", "where", "p50", "p99", "max", "p50", "p99", "max", "time %",
	       "waits %");
}

static void print_losses(const struct verdict *v, uint64_t block_ns)
{
	const uint64_t losses_ns[] = { v->loss_p50_ns, v->loss_p99_ns, v->loss_max_ns };

	for (int i = 0; i < 3; i++)
		printf(" %s", seven(us(losses_ns[i])));
	for (int i = 0; i < 3; i++)
		printf(" %s", seven((double)losses_ns[i] / (double)block_ns));
}

static void print_verdict(const struct series *s, const struct verdict *v)
{
	printf("%-11s %s", v->name, seven(v->mean));
	printf(" %s  %-28.28s", seven(v->worst),
	       v->worst > 0 ? s->suite.members[v->worst_member].name : "-");
	if (v == &s->hindsight)
		printf(" %7s %7s %7s %7s %7s %7s", "-", "-", "-", "-", "-", "-");
	else
		print_losses(v, s->block_ns);
	printf(" %6.1f %6.1f\n", 100 * v->spun, 100 * v->slept);
}

static void print_bars(const struct series *s)
{
	struct bar bars[BARS];

	if (!bars_get(s, bars))
		return;
	for (int i = 0; i < BARS; i++)
		printf("%-11s %-34s %6.3f, bar %s %.3f%s%s\n",
		       bars[i].reached ? "reached" : "NOT reached", bars[i].text,
		       bars[i].value, bars[i].strict ? "<" : "<=", bars[i].limit,
		       bars[i].who ? ": " : "", bars[i].who ? bars[i].who : "");
	putchar('\n');
}

/* Of the column of a policy: seven digits, or its name. */
static int width(const struct verdict *v)
{
	size_t length = strlen(v->name);

	return length > 7 ? (int)length : 7;
}

static void print_member(const struct series *s, size_t i)
{
	printf("%-32s %-11s", s->suite.members[i].name,
	       kind_names[s->suite.members[i].kind]);
	if (s->suite.members[i].kind == ADVERSARIAL)
		printf("%8s", "-");
	else
		printf(" %s", seven(s->hindsight.scores[i].ratio));
	for (size_t k = 0; k < s->n; k++)
		printf(" %*s", width(&s->verdicts[k]),
		       seven(s->verdicts[k].scores[i].ratio));
	putchar('\n');
}

static void print_members(const struct series *s)
{
	printf("%-32s %-11s %7s", "member", "", "hindsgt");
	for (size_t k = 0; k < s->n; k++)
		printf(" %*s", width(&s->verdicts[k]), s->verdicts[k].name);
	putchar('\n');
	for (size_t i = 0; i < s->suite.n; i++)
		print_member(s, i);
	putchar('\n');
}

void table_print(const struct results *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct series *s = &r->series[i];

		print_heading(s, r->options);
		for (size_t k = 0; k < s->n; k++)
			print_verdict(s, &s->verdicts[k]);
		print_verdict(s, &s->hindsight);
		putchar('\n');
		print_bars(s);
		if (r->options->members)
			print_members(s);
	}
	puts(legend);
}
