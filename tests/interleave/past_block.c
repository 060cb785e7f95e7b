/* SPDX-License-Identifier: MIT */
#include "interleave/past.h"

/*
 * crossbeam 1187. A channel in blocks. The sender of the first message makes the first block: it
 * is published at the end where messages enter, then where they leave. The receiver that
 * disconnects takes the block from there to free it; if the block is not there yet, but a message
 * is, it waits for it - and then only looked where it should have taken.
 */
struct message_block {
	uint32_t messages;
};

struct channel {
	_Atomic uint32_t sent; /* places given to senders */
	struct message_block *_Atomic in;
	struct message_block *_Atomic out;
};

static struct channel *channel;

static void block_begin(void)
{
	channel = model_alloc(sizeof(*channel));
	model_name(&channel->sent, "sent");
	model_name((void *)&channel->in, "in");
	model_name((void *)&channel->out, "out");
}

static void block_send(void)
{
	struct message_block *none = NULL, *fresh;

	if (!atomic_load(&channel->in)) {
		fresh = model_alloc(sizeof(*fresh));
		if (atomic_compare_exchange_strong(&channel->in, &none, fresh))
			atomic_store(&channel->out, fresh);
		else
			model_free(fresh);
	}
	atomic_fetch_add(&channel->sent, 1);
}

static void block_disconnect(void)
{
	bool any = atomic_load(&channel->sent);
	struct message_block *block = atomic_exchange(&channel->out, NULL);

	while (any && !block) {
		model_pause();
		if (repaired())
			block = atomic_exchange(&channel->out, NULL);
		else
			block = atomic_load(&channel->out);
	}
	if (block)
		model_free(block);
}

static void block_thread(unsigned i)
{
	if (i == 2)
		block_disconnect();
	else
		block_send();
}

/* Whoever is the last to leave frees what arrived after the receiver had gone. */
static void block_end(void)
{
	struct message_block *late = atomic_load(&channel->out);

	if (late)
		model_free(late);
	model_free(channel);
}

const struct model_scenario past_block[] = {
	{ .name = "crossbeam 1187",
	  .threads = 3,
	  .about = "the receiver looks where it should take: the block is freed twice",
	  .begin = block_begin,
	  .thread = block_thread,
	  .end = block_end,
	  .search = { .bound = 2, .weak_bound = 2 },
	  .expect = { MODEL_LEAK, MODEL_LEAK, MODEL_LEAK } },
	{ .name = "crossbeam 1187, repaired",
	  .threads = 3,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = block_begin,
	  .thread = block_thread,
	  .end = block_end,
	  .search = { .bound = 2, .weak_bound = 2 } },
	{ 0 },
};
