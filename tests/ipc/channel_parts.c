/* SPDX-License-Identifier: MIT */
/* The channel in its file, and the tracer's parts in it. */
#include <sys/mman.h>
#include <unistd.h>

#include "channel_scene.h"
#include "common/check.h"
#include "common/eventcount_word.h"
#include "queue/shared_head.h"

static int fd;
static struct iw_shared_head *file;
static struct ipcwait_channel *parts[CHANNEL_PARTS];
static uint64_t next_number, last_seen;

/* A call for the thread that makes them. */
static struct {
	enum channel_part part;
	struct element element;
	unsigned capacity;
	int result;
} order;

struct ipcwait_channel *channel_mine;

struct element channel_element(uint64_t number)
{
	return (struct element){ number, 2 * number, ~number };
}

void channel_note(struct region *r, const struct element *e)
{
	CHECK(e->number < REGION_NUMBERS);
	CHECK(e->twice == 2 * e->number && e->inverse == ~e->number);
	CHECK_EQ(__atomic_fetch_add(&r->seen[e->number], 1, __ATOMIC_RELAXED), 0);
}

int channel_attach_mine(void)
{
	return ipcwait_channel_attach(fd, &channel_mine);
}

void channel_attach_before(struct region *r)
{
	(void)r;
	CHECK_EQ(channel_attach_mine(), 0);
}

static void create(struct stage *st)
{
	struct ipcwait_channel_params params = { .elem_size = sizeof(struct element),
						 .capacity = order.capacity };

	(void)st;
	order.result = ipcwait_channel_create_shared(fd, &params, &parts[CHANNEL_BEFORE]);
}

static void attach(struct stage *st)
{
	(void)st;
	order.result = ipcwait_channel_attach(fd, &parts[order.part]);
}

static void detach(struct stage *st)
{
	(void)st;
	ipcwait_channel_destroy(parts[order.part]);
	order.result = 0;
}

static void send_one(struct stage *st)
{
	(void)st;
	order.result = ipcwait_channel_trysend(parts[order.part], &order.element);
}

static void receive_one(struct stage *st)
{
	(void)st;
	order.result = ipcwait_channel_tryrecv(parts[order.part], &order.element);
}

static void close_it(struct stage *st)
{
	(void)st;
	order.result = ipcwait_channel_close(parts[order.part]);
}

static int carry_out(struct stage *st, void (*call)(struct stage *st),
		     enum channel_part part)
{
	order.part = part;
	stage_call(st, call);
	return order.result;
}

static size_t slot_bytes(void)
{
	return sizeof(uint64_t) + sizeof(struct element);
}

static size_t file_bytes(unsigned capacity)
{
	return sizeof(*file) + capacity * slot_bytes();
}

void channel_make(struct stage *st, unsigned capacity)
{
	fd = memfd_create("iw-step-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(fd >= 0);
	order.capacity = capacity;
	CHECK_EQ(carry_out(st, create, CHANNEL_BEFORE), 0);
	file = mmap(NULL, file_bytes(capacity), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(file != MAP_FAILED);
	CHECK(file->stride == slot_bytes() && file->bytes == file_bytes(capacity));
	next_number = last_seen = 0;
}

void channel_unmake(struct stage *st)
{
	for (enum channel_part part = CHANNEL_BEFORE; part < CHANNEL_PARTS; part++)
		channel_leave(st, part);
	CHECK(munmap(file, file_bytes(order.capacity)) == 0);
	CHECK(close(fd) == 0);
}

void channel_join(struct stage *st, enum channel_part part)
{
	CHECK(!parts[part]);
	CHECK_EQ(carry_out(st, attach, part), 0);
}

void channel_leave(struct stage *st, enum channel_part part)
{
	CHECK_EQ(carry_out(st, detach, part), 0);
	parts[part] = NULL;
}

int channel_send(struct stage *st, enum channel_part part)
{
	CHECK(next_number < CHANNEL_VICTIMS);
	order.element = channel_element(next_number);
	if (carry_out(st, send_one, part) == 0)
		st->r->sent[next_number++] = 1;
	return order.result;
}

/* What one sender has sent comes in its order. */
int channel_receive(struct stage *st, enum channel_part part)
{
	if (carry_out(st, receive_one, part) == 0) {
		uint64_t number = order.element.number;

		channel_note(st->r, &order.element);
		CHECK(number >= CHANNEL_VICTIMS || number >= last_seen);
		if (number < CHANNEL_VICTIMS)
			last_seen = number;
	}
	return order.result;
}

int channel_close(struct stage *st, enum channel_part part)
{
	return carry_out(st, close_it, part);
}

struct ipcwait_channel_shared_stats channel_stats(void)
{
	struct ipcwait_channel_shared_stats stats;

	CHECK_EQ(ipcwait_channel_shared_stats_get(parts[CHANNEL_BEFORE], &stats,
						  sizeof(stats)),
		 sizeof(stats));
	return stats;
}

static uint64_t *slot(uint64_t index)
{
	return (uint64_t *)(void *)((char *)file + sizeof(*file) + index * slot_bytes());
}

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static unsigned state(uint64_t control)
{
	return (control >> IW_SHARED_OWNER_BITS) % IW_SHARED_STATES;
}

struct channel_left channel_left(void)
{
	struct channel_left left = { .closed = load(&file->closed.v) };

	for (unsigned i = 0; i < order.capacity; i++) {
		unsigned is = state(load(slot(i)));

		left.full += is == IW_SHARED_FULL;
		left.writing += is == IW_SHARED_WRITING;
		left.reading += is == IW_SHARED_READING;
	}
	left.asleep = ec_line(ec_word(&file->elements)) + ec_line(ec_word(&file->room));
	return left;
}

int channel_surplus(const struct stage *st)
{
	int surplus = (int)channel_left().full;

	for (unsigned i = 0; i < REGION_NUMBERS; i++)
		surplus += (int)st->r->seen[i] - (int)st->r->sent[i];
	return surplus;
}

void channel_set_preset(enum ipcwait_preset preset)
{
	CHECK_EQ(ipcwait_window_set_preset(&file->elements.window, preset), 0);
	CHECK_EQ(ipcwait_window_set_preset(&file->room.window, preset), 0);
}

/* A position has its lap above so many bits. */
static unsigned index_bits(void)
{
	unsigned n = 0;

	while (1u << n < order.capacity)
		n++;
	return n;
}

static uint64_t *slot_at(const struct ipcwait_word64 *hint)
{
	return slot(load(&hint->v) & ((1u << index_bits()) - 1));
}

/* The slot at that position is in that state, of the position's lap. */
static bool is_in(const struct ipcwait_word64 *hint, uint64_t of_lap)
{
	uint64_t lap = load(&hint->v) >> index_bits();

	return load(slot_at(hint)) >> IW_SHARED_OWNER_BITS ==
	       IW_SHARED_STATES * lap + of_lap;
}

bool channel_sender_is_in_the_way(void)
{
	return is_in(&file->head, IW_SHARED_WRITING);
}

/* Who takes out is a lap behind. */
bool channel_receiver_is_in_the_way(void)
{
	return is_in(&file->tail, (uint64_t)IW_SHARED_READING - IW_SHARED_STATES);
}

void channel_fabricate(enum channel_dead dead, unsigned owner)
{
	bool sender = dead == CHANNEL_DEAD_SENDER;
	uint64_t *word = slot_at(sender ? &file->tail : &file->head);
	uint64_t control = load(word);

	CHECK_EQ(state(control), sender ? IW_SHARED_FREE : IW_SHARED_FULL);
	control += UINT64_C(1) << IW_SHARED_OWNER_BITS;
	__atomic_store_n(word, control | owner, __ATOMIC_RELEASE);
}
