/* SPDX-License-Identifier: MIT */
#include "os/seam.h"
#include "policy/cost.h"

/*
 * B is made of the medians of the last batches' lower quartiles. A mean would not do: one
 * 4 ms slice of another thread among a hundred samples moves a 20 us mean by 40 us. The
 * median of a batch would not do either: where waits mostly end in the spin, the few that
 * sleep are those that something else on the machine delayed, and more than half of their
 * wake-ups queue for a CPU. The quartile stayed at 30 us where the median went to 205 us
 * beside a compiler run.
 */
#define BATCH   32
#define BATCHES 5

/* So many of the first batch tell B already: a process may not live for a whole one. */
#define FIRST_SAMPLES 4

/*
 * A sleeper that ran later than this after its wake had to queue for a CPU. That is no
 * property of waking, and spinning would not have avoided it. Ten times the latency of the
 * slowest idle wake-up measured on the project's guest is 0.5 ms.
 */
#define QUEUED_NS 500000

/*
 * Table values in ns, until the first samples are there and where nothing was calibrated. Together
 * 10 us on metal and 30 us under a hypervisor: a futex wake-up costs 7 us on 2013 hardware
 * (folly, WaitOptions.h) and 24 to 31 us on the project's guest.
 */
#define METAL_LATENCY_NS 7000
#define METAL_WAKER_NS   3000
#define GUEST_LATENCY_NS 20000
#define GUEST_WAKER_NS   10000

/*
 * How late a timer is, in ns, as measured on the project's guest: 85 to 98 us, of which 50 are
 * the slack that Linux gives the timers of ordinary threads (prctl(2), PR_SET_TIMERSLACK).
 */
#define TIMER_LATE_NS   98000
#define TIMER_SPREAD_NS 8000

/* CPU time of a thread for one sleep, in ns; `ipcwait calibrate` measured 3.2 us there. */
#define SLEEPER_CPU_NS 3200

/*
 * Where all waits end while spinning, one sleeps after this time, in ns, to see what a sleep
 * costs now; sooner once the samples stray from what is believed. That is 0.15 % of the time of
 * a hand-off on the project's guest, where a sleep costs 30 us.
 */
#define PROBE_NS         20000000
#define PROBE_SOON_NS    1000000
#define STRAYS_SUSPECTED 3

/* What is measured. */
enum series { LATENCIES, WAKERS, TIMERS, SERIES };

/* What is estimated; the first two are the parts of B. */
enum part { LATENCY, WAKER, LATENCY_LATE, TIMER_USUAL, TIMER_LATE, PARTS };

static const struct {
	enum series of;
	unsigned eighths; /* the share of a batch below what counts */
} parts[PARTS] = {
	[LATENCY] = { LATENCIES, 2 }, [LATENCY_LATE] = { LATENCIES, 7 },
	[WAKER] = { WAKERS, 2 },      [TIMER_USUAL] = { TIMERS, 4 },
	[TIMER_LATE] = { TIMERS, 7 },
};

/*
 * What every wait reads, in ns, on a line that is seldom written to: the estimates, 0 until the
 * first samples are there, and what a calibration in this process has measured, 0 if there was
 * none.
 */
static struct {
	struct ipcwait_word32 result[PARTS];
	struct ipcwait_word32 calibrated[WAKER + 1];
} believed __attribute__((aligned(IW_ARCH_LINE_BYTES)));

/* Filled by all threads of the process. Every number in them is a plausible sample, always. */
static struct samples {
	struct ipcwait_word64 count;
	struct ipcwait_word32 batch[BATCH];
} __attribute__((aligned(IW_ARCH_LINE_BYTES))) samples[SERIES];
static struct ipcwait_word32 quantiles[PARTS][BATCHES]
	__attribute__((aligned(IW_ARCH_LINE_BYTES)));

/* What @eighth eighths of the non-zero values among @n words are below; 0: there are none. */
static uint32_t quantile(const struct ipcwait_word32 *words, unsigned n, unsigned eighth)
{
	uint32_t sorted[BATCH];
	unsigned used = 0;

	for (unsigned i = 0; i < n; i++) {
		/* ORD cost.X1: relaxed, statistic: a value of the next batch does as well. */
		uint32_t v = ipcwait_impl_load32_relaxed(&words[i]);
		unsigned at = used;

		if (!v)
			continue;
		for (; at > 0 && sorted[at - 1] > v; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = v;
		used++;
	}
	return used ? sorted[used * eighth / 8] : 0;
}

static uint32_t of_batch(enum part part)
{
	return quantile(samples[parts[part].of].batch, BATCH, parts[part].eighths);
}

static void believe(enum part part, uint32_t ns)
{
	/* ORD cost.X15: relaxed, statistic: a late one stands until the next batch is full. */
	ipcwait_impl_store32_relaxed(&believed.result[part], ns);
}

static void end_batch(enum part part, uint64_t batch)
{
	/* ORD cost.X4: relaxed, statistic: two batches that end together may swap results. */
	ipcwait_impl_store32_relaxed(&quantiles[part][batch % BATCHES], of_batch(part));
	believe(part, quantile(quantiles[part], BATCHES, 4));
}

static void add_sample(enum series series, uint64_t ns)
{
	struct samples *s = &samples[series];
	/* ORD cost.X2: relaxed, statistic: threads take different places in the batch. */
	uint64_t n = ipcwait_impl_add64_relaxed(&s->count, 1);
	bool first = n == FIRST_SAMPLES - 1 && series != TIMERS;

	/* ORD cost.X3: relaxed, statistic. */
	ipcwait_impl_store32_relaxed(&s->batch[n % BATCH], ns ? (uint32_t)ns : 1);
	if (!first && n % BATCH != BATCH - 1)
		return;
	for (enum part part = 0; part < PARTS; part++) {
		if (parts[part].of != series)
			continue;
		if (first)
			believe(part, of_batch(part));
		else
			end_batch(part, n / BATCH);
	}
}

static uint64_t learned(enum part part, uint64_t table_ns)
{
	/* ORD cost.X5: relaxed, statistic. */
	uint32_t ns = ipcwait_impl_load32_relaxed(&believed.result[part]);

	return ns ? ns : table_ns;
}

/* Since the last probe was due: sleeps that told their latency, and strays in a row. */
static struct ipcwait_word32 fresh_samples __attribute__((aligned(IW_ARCH_LINE_BYTES)));
static struct ipcwait_word32 strays;
static struct ipcwait_word64 probe_at; /* ticks */

/* A sample outside [1/2, 2] of what is believed is a stray; some in a row mean a change. */
static void note_stray(uint64_t ns)
{
	uint64_t usual_ns = learned(LATENCY, 0);
	bool stray = usual_ns && (ns < usual_ns / 2 || ns > usual_ns * 2);

	/* ORD cost.X9: relaxed, statistic: a stray that is lost to another thread comes again. */
	uint32_t row = ipcwait_impl_load32_relaxed(&strays);

	/* ORD cost.X13: relaxed, statistic as cost.X9. */
	ipcwait_impl_store32_relaxed(&strays, !stray ? 0 : row < UINT8_MAX ? row + 1 : row);
	ipcwait_impl_store32_relaxed(&fresh_samples, 1);
}

void iw_cost_note_latency(uint64_t ns)
{
	if (ns >= QUEUED_NS)
		return;
	note_stray(ns);
	add_sample(LATENCIES, ns);
}

void iw_cost_note_timer(uint64_t ns)
{
	if (ns >= QUEUED_NS)
		return;
	add_sample(TIMERS, ns);
}

bool iw_cost_probe_due(const struct iw_facts *facts, uint64_t now)
{
	/* ORD cost.X10: relaxed, re-checked by the CAS: one of several waiters is the probe. */
	uint64_t due = ipcwait_impl_load64_relaxed(&probe_at);
	uint64_t longest = iw_tick_from_ns(&facts->rate, PROBE_NS), next = longest;
	bool sampled;

	/*
	 * Another thread may have read the time a little after @now. A time as far ahead again
	 * comes from a counter that jumped back.
	 */
	if (IPCWAIT_LIKELY(due - now <= 2 * longest))
		return false;
	/* ORD cost.X11: relaxed, statistic as cost.X9. */
	if (ipcwait_impl_load32_relaxed(&strays) >= STRAYS_SUSPECTED)
		next = iw_tick_from_ns(&facts->rate, PROBE_SOON_NS);
	if (!ipcwait_impl_cas64_relaxed(&probe_at, &due, now + next))
		return false;
	/* ORD cost.X12: relaxed, statistic as cost.X9. */
	sampled = ipcwait_impl_load32_relaxed(&fresh_samples);
	ipcwait_impl_store32_relaxed(&fresh_samples, 0);
	return due && !sampled;
}

void iw_cost_note_waker(uint64_t ns)
{
	if (ns < QUEUED_NS)
		add_sample(WAKERS, ns);
}

/* The first that is known: calibrated here, saved, from the table. */
static uint64_t first_of(enum part part, const struct iw_facts *facts, uint64_t saved_ns,
			 uint64_t table_ns)
{
	/* ORD cost.X7: relaxed, statistic: latency and waker's share may be of two runs. */
	uint32_t ns = ipcwait_impl_load32_relaxed(&believed.calibrated[part]);

	return ns ? ns : facts->calibrated ? saved_ns : table_ns;
}

static uint64_t initial_latency_ns(const struct iw_facts *facts)
{
	return first_of(LATENCY, facts, facts->calibration.latency_ns,
			facts->virtual_machine ? GUEST_LATENCY_NS : METAL_LATENCY_NS);
}

static uint64_t initial_waker_ns(const struct iw_facts *facts)
{
	return first_of(WAKER, facts, facts->calibration.waker_ns,
			facts->virtual_machine ? GUEST_WAKER_NS : METAL_WAKER_NS);
}

void iw_cost_initial(const struct iw_facts *facts, uint64_t *latency_ns, uint64_t *waker_ns)
{
	*latency_ns = initial_latency_ns(facts);
	*waker_ns = initial_waker_ns(facts);
}

static uint32_t in_32_bits(uint64_t ns)
{
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

void iw_cost_calibrated(uint64_t latency_ns, uint64_t waker_ns)
{
	/* ORD cost.X8: relaxed, statistic as cost.X7. */
	ipcwait_impl_store32_relaxed(&believed.calibrated[LATENCY], in_32_bits(latency_ns));
	ipcwait_impl_store32_relaxed(&believed.calibrated[WAKER], in_32_bits(waker_ns));
}

uint64_t iw_cost_waker_ns(const struct iw_facts *facts)
{
	return learned(WAKER, initial_waker_ns(facts));
}

/*
 * The latency counts for at most this many times what the waker paid. A wake that interrupts
 * no idle CPU is cheap (1 to 2 us on the project's guest, 7 to 14 us for an idle CPU), and a
 * sleeper that is late all the same had to queue for a CPU: that time was not lost to the
 * machine, and spinning would not have saved it. For idle CPUs the quotient is 2 to 4.
 */
#define LATENCY_PER_WAKER 4

static uint64_t bounded_ns(uint64_t latency_ns, uint64_t paid_ns)
{
	uint64_t bound = LATENCY_PER_WAKER * paid_ns;

	return latency_ns < bound ? latency_ns : bound;
}

uint64_t iw_cost_latency_ns(const struct iw_facts *facts)
{
	return bounded_ns(learned(LATENCY, initial_latency_ns(facts)),
			  iw_cost_waker_ns(facts));
}

uint64_t iw_cost_lateness_ns(const struct iw_facts *facts)
{
	uint64_t usual_ns = learned(LATENCY, initial_latency_ns(facts));

	return bounded_ns(learned(LATENCY_LATE, usual_ns), iw_cost_waker_ns(facts));
}

uint64_t iw_cost_combine_ns(uint64_t latency_ns, uint64_t paid_ns,
			    enum ipcwait_preset preset)
{
	uint64_t late = bounded_ns(latency_ns, paid_ns);

	if (preset == IPCWAIT_LATENCY)
		late *= 4;
	else if (preset == IPCWAIT_POWER)
		late /= 4;
	return late + paid_ns;
}

uint64_t iw_cost_block_ns(const struct iw_facts *facts, enum ipcwait_preset preset)
{
	return iw_cost_combine_ns(learned(LATENCY, initial_latency_ns(facts)),
				  iw_cost_waker_ns(facts), preset);
}

struct iw_timer_cost iw_cost_timer(const struct iw_facts *facts)
{
	const struct ipcwait_calibration *saved = &facts->calibration;
	uint64_t late = facts->calibrated ? saved->timer_p90_ns : TIMER_LATE_NS;
	uint64_t usual = facts->calibrated ? saved->timer_ns : late - TIMER_SPREAD_NS;

	late = learned(TIMER_LATE, late);
	usual = learned(TIMER_USUAL, usual);
	return (struct iw_timer_cost){
		.late_ns = late,
		.spread_ns = late > usual ? late - usual : 0,
		.cpu_ns = facts->calibrated ? saved->sleeper_cpu_ns : SLEEPER_CPU_NS,
	};
}

enum iw_cost_source iw_cost_source(const struct iw_facts *facts)
{
	bool late = learned(LATENCY, 0), paid = learned(WAKER, 0);

	if (late || paid)
		return late && paid ? IW_COST_LEARNED : IW_COST_PARTLY_LEARNED;
	/* ORD cost.X14: relaxed, statistic as cost.X7. */
	return facts->calibrated ||
			       ipcwait_impl_load32_relaxed(&believed.calibrated[LATENCY])
		       ? IW_COST_CALIBRATED
		       : IW_COST_TABLE;
}

uint64_t iw_cost_samples(void)
{
	/* ORD cost.X6: relaxed, statistic. */
	return ipcwait_impl_load64_relaxed(&samples[LATENCIES].count);
}
