/* SPDX-License-Identifier: MIT */
#include "os/pages.h"
#include "queue/magazine.h"

#define TOP_MASK UINT64_C(0xffffffff)
#define TAG_ONE  (UINT64_C(1) << 32)

/* Room in the first chunk. */
#define FIRST_CHUNK 16

static size_t magazine_bytes(const struct iw_magazines *all)
{
	return sizeof(struct iw_magazine) + all->rounds * sizeof(void *);
}

/* Numbers begin with 1. Chunk c has those from FIRST_CHUNK * (2^c - 1) + 1 on. */
static unsigned chunk_of(uint32_t number, uint32_t *at)
{
	uint32_t n = (number - 1) / FIRST_CHUNK + 1;
	unsigned c = 31 - (unsigned)__builtin_clz(n);

	*at = number - 1 - FIRST_CHUNK * ((UINT32_C(1) << c) - 1);
	return c;
}

static struct iw_magazine *find(const struct iw_magazines *all, uint32_t number)
{
	uint32_t at;
	unsigned c = chunk_of(number, &at);

	return (void *)(all->chunk[c] + at * magazine_bytes(all));
}

static size_t chunk_bytes(const struct iw_magazines *all, unsigned c)
{
	return ((size_t)FIRST_CHUNK << c) * magazine_bytes(all);
}

/*
 * Pages, not malloc(3): the caller has a lock that fork(3) takes too, and an allocator may have
 * taken its own before.
 */
struct iw_magazine *iw_magazine_make(struct iw_magazines *all)
{
	uint32_t at;
	unsigned c = chunk_of(all->made + 1, &at);
	struct iw_magazine *m;

	if (c >= IW_MAGAZINE_CHUNKS)
		return NULL;
	if (!all->chunk[c])
		all->chunk[c] = iw_pages_get(chunk_bytes(all, c), 0);
	if (!all->chunk[c])
		return NULL;
	m = find(all, ++all->made);
	m->number = all->made;
	return m;
}

void iw_magazines_free(struct iw_magazines *all)
{
	for (unsigned c = 0; c < IW_MAGAZINE_CHUNKS; c++)
		if (all->chunk[c])
			iw_pages_put(all->chunk[c], chunk_bytes(all, c));
}

static void add(struct ipcwait_word32 *count, uint32_t n)
{
	/* ORD magazine.X1: relaxed, statistic. */
	(void)ipcwait_impl_add32_relaxed(count, n);
}

void iw_shelf_put(struct iw_shelf *s, struct iw_magazine *m)
{
	/* ORD magazine.X2: relaxed, re-checked by the CAS. */
	uint64_t w = ipcwait_impl_load64_relaxed(&s->top);

	add(&s->count, 1);
	do {
		/* ORD magazine.X3: relaxed, no order needed: the CAS publishes it. */
		ipcwait_impl_store32_relaxed(&m->next, (uint32_t)w);
		/*
		 * ORD magazine.R1: release: whoever takes it finds its objects, its next and its
		 * place in the table. Pairs with magazine.A1. All changes of the
		 * word are read-modify-writes, so that what was put before stays published.
		 */
	} while (!ipcwait_impl_cas64_release(&s->top, &w, (w & ~TOP_MASK) | m->number));
}

struct iw_magazine *iw_shelf_take(struct iw_shelf *s, const struct iw_magazines *all)
{
	for (;;) {
		/* ORD magazine.A1: acquire: table, next and objects. Pairs with magazine.R1. */
		uint64_t w = ipcwait_impl_load64_acquire(&s->top), below;
		struct iw_magazine *m;

		if (!(w & TOP_MASK))
			return NULL;
		m = find(all, (uint32_t)w);
		/* ORD magazine.X4: relaxed, re-checked: if it was taken, the tag has changed. */
		below = ipcwait_impl_load32_relaxed(&m->next);
		below |= ((w & ~TOP_MASK) + TAG_ONE);
		/*
		 * ORD magazine.X5: relaxed, no order needed: with the same tag it replaces the very
		 * store that magazine.A1 has acquired, objects included.
		 */
		if (ipcwait_impl_cas64_relaxed(&s->top, &w, below)) {
			add(&s->count, (uint32_t)-1);
			return m;
		}
	}
}

void iw_shelf_recount(struct iw_shelf *s, const struct iw_magazines *all)
{
	/* ORD magazine.X7: relaxed, protected by the caller: nobody else is there. */
	uint32_t number = (uint32_t)ipcwait_impl_load64_relaxed(&s->top), n = 0;

	for (; number; n++) {
		/* ORD magazine.X8: relaxed, protected by the caller, as magazine.X7. */
		number = ipcwait_impl_load32_relaxed(&find(all, number)->next);
	}
	/* ORD magazine.X9: relaxed, protected by the caller, as magazine.X7. */
	ipcwait_impl_store32_relaxed(&s->count, n);
}

uint32_t iw_shelf_count(const struct iw_shelf *s)
{
	/* ORD magazine.X6: relaxed, statistic. */
	return ipcwait_impl_load32_relaxed(&s->count);
}
