/* SPDX-License-Identifier: MIT */
/*
 * What threads do with magazines and shelves, and what must hold whatever they do: the table of
 * lib/queue/magazine.h in every state; a magazine belongs to one thread, who finds in it what its
 * last owner wrote; none is lost.
 */
#include <stdlib.h>
#include <string.h>

#include "interleave/model.h"
#include "os/pages.h"

/* Zeros are written by who allocates. */
void *iw_pages_get(size_t bytes, size_t align)
{
	(void)align;
	return memset(model_alloc(bytes), 0, bytes);
}

void iw_pages_put(void *pages, size_t bytes)
{
	(void)bytes;
	model_free(pages);
}

#include "queue/magazine.c"

#define MAGAZINES_MAX 8
#define STEPS_MAX     4
#define ROUNDS        2

/* Who has a magazine, if no thread does. */
#define THE_TEST MODEL_THREADS_MAX
#define NOBODY   (MODEL_THREADS_MAX + 1)

/* What a thread does. */
enum step {
	NOTHING,
	MAKES,       /* one that is new */
	PUTS,        /* what it has had for longest, if it has any */
	TAKES,       /* one, if any is there */
	PUTS_BESIDE, /* the same with the other shelf */
	TAKES_BESIDE,
};

struct script {
	enum step step[MODEL_THREADS_MAX][STEPS_MAX];
	bool has[MODEL_THREADS_MAX]; /* a magazine to begin with */
	unsigned on_shelf, beside;   /* so many lie there to begin with */
	uint32_t tag;                /* of the first shelf */
	uint32_t made;               /* others, which nobody uses */
	unsigned found;              /* takes that find one, if that is certain */
};

/* What a thread has, in the order in which it got it. */
struct hand {
	struct iw_magazine *magazine[STEPS_MAX + 1];
	unsigned got, gone;
};

static struct iw_shelf *shelf, *beside;
static struct iw_magazines *all;

/* Notes of the test's own. */
static volatile unsigned owner[MAGAZINES_MAX], written[MAGAZINES_MAX], writes, found;
static struct iw_magazine *volatile first[MODEL_THREADS_MAX];
static volatile uint64_t last;

static const struct script *script(void)
{
	return model_script();
}

static unsigned place(const struct iw_magazine *m)
{
	unsigned n = m->number - script()->made - 1;

	model_assert(n < MAGAZINES_MAX);
	return n;
}

static void fill(struct iw_magazine *m)
{
	unsigned n = ++writes;

	m->count = n;
	for (unsigned i = 0; i < ROUNDS; i++)
		m->object[i] = (void *)(uintptr_t)n;
	written[place(m)] = n;
}

static struct iw_magazine *make(void)
{
	struct iw_magazine *m = iw_magazine_make(all);

	owner[place(m)] = model_thread();
	fill(m);
	return m;
}

static void put(struct iw_shelf *s, struct iw_magazine *m)
{
	fill(m);
	owner[place(m)] = NOBODY;
	iw_shelf_put(s, m);
}

static struct iw_magazine *take(struct iw_shelf *s)
{
	struct iw_magazine *m = iw_shelf_take(s, all);
	unsigned n;

	if (!m)
		return NULL;
	n = place(m);
	model_assert(owner[n] == NOBODY);
	owner[n] = model_thread();
	model_assert(m->count == written[n]);
	for (unsigned i = 0; i < ROUNDS; i++)
		model_assert((uintptr_t)m->object[i] == written[n]);
	fill(m);
	return m;
}

static void begin(void)
{
	const struct script *s = script();

	shelf = model_alloc(2 * sizeof(*shelf));
	beside = shelf + 1;
	all = model_alloc(sizeof(*all));
	model_name(&shelf->top, "shelf.top");
	model_name(&shelf->count, "shelf.count");
	writes = found = 0;
	all->rounds = ROUNDS;
	all->made = s->made;
	shelf->top.v = s->tag * TAG_ONE;
	for (unsigned i = 0; i < s->on_shelf; i++)
		put(shelf, make());
	for (unsigned i = 0; i < s->beside; i++)
		put(beside, make());
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		first[i] = s->has[i] ? make() : NULL;
		if (first[i])
			owner[place(first[i])] = i;
	}
	last = shelf->top.v;
}

static void get(struct hand *h, struct iw_magazine *m)
{
	if (m)
		h->magazine[h->got++] = m;
}

static void give(struct hand *h, struct iw_shelf *s)
{
	if (h->gone != h->got)
		put(s, h->magazine[h->gone++]);
}

static void act(struct hand *h, enum step step)
{
	unsigned had = h->got;

	switch (step) {
	case MAKES:
		get(h, make());
		break;
	case PUTS:
	case PUTS_BESIDE:
		give(h, step == PUTS ? shelf : beside);
		break;
	case TAKES:
	case TAKES_BESIDE:
		get(h, take(step == TAKES ? shelf : beside));
		found += h->got - had;
		break;
	default:
		break;
	}
}

static void thread(unsigned i)
{
	struct hand h = { .got = 0 };

	get(&h, first[i]);
	for (unsigned k = 0; k < STEPS_MAX; k++)
		act(&h, script()->step[i][k]);
}

/* A put or a take, as in the table. */
static void look(void)
{
	uint64_t w = model_peek(&shelf->top);
	uint32_t taken = (uint32_t)((w - (last & ~TOP_MASK)) >> 32);

	if (w != last)
		model_assert(taken ? taken == 1 && last & TOP_MASK : w & TOP_MASK);
	last = w;
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

/* What the dead have not put may be counted, and what they have taken. */
static void clear(struct iw_shelf *s)
{
	uint32_t count = iw_shelf_count(s), n = 0;

	while (take(s))
		n++;
	model_assert(count >= n && count <= n + deaths());
	model_assert(iw_shelf_count(s) == count - n);
}

static void end(void)
{
	unsigned lost = 0;

	model_assert(!script()->found || found == script()->found);
	clear(shelf);
	clear(beside);
	for (unsigned i = 0; i < all->made - script()->made; i++)
		lost += owner[i] == NOBODY || model_dead(owner[i]);
	model_assert(lost <= deaths());
	iw_magazines_free(all);
	model_free(all);
	model_free(shelf);
}

#define COMMON .begin = begin, .thread = thread, .end = end
#define SCRIPT .script = &(const struct script)

const struct model_scenario model_scenarios[] = {
	{ .name = "shelf: two exchange",
	  .threads = 2,
	  COMMON,
	  .always = look,
	  .about = "each puts one and takes one, twice; the tag wraps",
	  SCRIPT{ .step = { { PUTS, TAKES, PUTS, TAKES }, { PUTS, TAKES, PUTS, TAKES } },
		  .has = { true, true },
		  .tag = UINT32_MAX,
		  .found = 4 },
	  .search = { .bound = 4,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 4,
		      .pct_runs = 20000 } },
	{ .name = "shelf: one comes back",
	  .threads = 3,
	  COMMON,
	  .about = "two are taken and the first is put back, beside two takers",
	  SCRIPT{ .step = { { TAKES }, { TAKES, TAKES, PUTS }, { TAKES } }, .on_shelf = 3 },
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 20000 } },
	{ .name = "shelf: another comes below",
	  .threads = 3,
	  COMMON,
	  .about = "the same beside a putter: what lies below has changed",
	  SCRIPT{ .step = { { TAKES, TAKES }, { TAKES, TAKES, PUTS }, { PUTS } },
		  .has = { false, false, true },
		  .on_shelf = 2 },
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 4,
		      .pct_runs = 20000 } },
	{ .name = "shelf: a new chunk",
	  .threads = 3,
	  COMMON,
	  .about = "who takes the first of a chunk finds the chunk",
	  SCRIPT{ .step = { { MAKES, PUTS, MAKES, PUTS },
			    { TAKES, TAKES },
			    { TAKES, PUTS } },
		  .on_shelf = 1,
		  .made = FIRST_CHUNK - 1 },
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 4,
		      .pct_runs = 10000 } },
	{ .name = "shelf: one for two",
	  .threads = 2,
	  COMMON,
	  .always = look,
	  .about = "one of them gets it; no shelf has more than lies there",
	  SCRIPT{ .step = { { TAKES_BESIDE, TAKES, TAKES }, { TAKES, TAKES } },
		  .on_shelf = 1,
		  .found = 1 },
	  .search = { .bound = 4,
		      .weak_bound = 3,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 1000 } },
	{ .name = "shelf: full and empty",
	  .threads = 3,
	  COMMON,
	  .about = "magazines go from one shelf to the other, and back",
	  SCRIPT{ .step = { { TAKES, PUTS_BESIDE, TAKES_BESIDE, PUTS },
			    { TAKES_BESIDE, PUTS, TAKES, PUTS_BESIDE },
			    { TAKES, PUTS_BESIDE } },
		  .on_shelf = 2,
		  .beside = 1 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 5,
		      .pct_runs = 20000 } },
	{ .name = "shelf: everybody",
	  .threads = 5,
	  COMMON,
	  .about = "makers, takers, putters; more than can be tried exhaustively",
	  SCRIPT{ .step = { { MAKES, PUTS, TAKES, PUTS },
			    { TAKES, TAKES, PUTS, PUTS },
			    { TAKES, PUTS_BESIDE, TAKES, PUTS },
			    { TAKES_BESIDE, PUTS, TAKES_BESIDE, PUTS },
			    { PUTS, TAKES, PUTS_BESIDE, TAKES } },
		  .has = { false, false, false, false, true },
		  .on_shelf = 2,
		  .beside = 2 },
	  .search = { .stale = 2, .pct_depth = 5, .pct_runs = 50000 } },
	{ .name = "shelf: killed",
	  .threads = 3,
	  COMMON,
	  .always = look,
	  .process = { 0, 1, 1 },
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .about = "at any moment; the others go on, and miss one at most",
	  SCRIPT{ .step = { { PUTS, TAKES }, { TAKES, PUTS }, { TAKES, PUTS } },
		  .has = { true },
		  .on_shelf = 2 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 20000 } },
	{ 0 },
};
