/* SPDX-License-Identifier: MIT */
#include "fuzz/channel_wrong.h"

#include <errno.h>

#include <ipcwait/channel_shared.h>

#include "common/fuzz.h"

static void bad_params(const struct ipcwait_channel_params *is, struct input *in)
{
	struct ipcwait_channel_params bad = *is;

	switch (take_8(in) % 5) {
	case 0:
		bad.elem_size = 0;
		break;
	case 1:
		bad.elem_size = IPCWAIT_CHANNEL_ELEM_MAX + 1 + take_64(in) / 2;
		break;
	case 2:
		bad.capacity = IPCWAIT_CHANNEL_CAPACITY_MAX + 1 + take_64(in) / 2;
		break;
	case 3:
		bad.flags = 1u << take_8(in) % 32;
		break;
	default:
		bad.reserved[take_8(in) % 3] = 1u << take_8(in) % 32;
	}
	FUZZ_CHECK(ipcwait_channel_params_check(&bad) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_create(&bad) == NULL);
}

/* @ch or @elem is NULL. */
static void without(struct ipcwait_channel *ch, void *elem, struct input *in)
{
	size_t n = take_8(in) % 3;

	FUZZ_CHECK(ipcwait_channel_send(ch, elem) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_trysend(ch, elem) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_send_until(ch, elem, 0) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_send_n(ch, elem, n, 0) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_recv(ch, elem) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_tryrecv(ch, elem) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_recv_until(ch, elem, 0) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_recv_n(ch, elem, n, 0) == -EINVAL);
}

/* One case is wrong, and no other is done. */
static void bad_select(struct ipcwait_channel *ch, struct input *in)
{
	struct ipcwait_channel_case cases[3];
	unsigned char elem[1024 + 1];
	unsigned which = take_8(in) % 3;

	memset(elem, 0xa5, sizeof(elem));
	for (unsigned i = 0; i < 3; i++)
		cases[i] = (struct ipcwait_channel_case){
			.channel = ch, .op = take_8(in) & 1, .elem = elem, .result = 4711
		};
	FUZZ_CHECK(ipcwait_channel_select(NULL, 1, 0) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_select(cases, 0, 0) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_select(cases, IPCWAIT_WAIT_ANY_MAX + 1, 0) == -EINVAL);
	if (take_8(in) & 1)
		cases[which].elem = NULL;
	else
		cases[which].op = 2 + (int)(take_32(in) / 4);
	FUZZ_CHECK(ipcwait_channel_select(cases, 3, 0) == -EINVAL);
	for (unsigned i = 0; i < 3; i++)
		FUZZ_CHECK(cases[i].result == 4711);
	FUZZ_CHECK(memcmp(elem, elem + 1, sizeof(elem) - 1) == 0);
}

static void null_channel(struct ipcwait_channel *ch)
{
	struct ipcwait_channel_shared_stats st;
	uint64_t n = 4711;

	FUZZ_CHECK(ipcwait_channel_params_check(NULL) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_create(NULL) == NULL);
	ipcwait_channel_destroy(NULL);
	FUZZ_CHECK(ipcwait_channel_close(NULL) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_eventfd(NULL) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_length(NULL, &n, &n) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_length(ch, NULL, &n) == -EINVAL);
	FUZZ_CHECK(ipcwait_channel_length(ch, &n, NULL) == -EINVAL && n == 4711);
	FUZZ_CHECK(ipcwait_channel_shared_stats_get(ch, &st, sizeof(st)) == -ENOTSUP);
}

void channel_wrong(struct ipcwait_channel *ch, const struct ipcwait_channel_params *is,
		   struct input *in)
{
	char elem = 0;

	switch (take_8(in) % 5) {
	case 0:
		null_channel(ch);
		break;
	case 1:
		without(NULL, &elem, in);
		break;
	case 2:
		without(ch, NULL, in);
		break;
	case 3:
		bad_select(ch, in);
		break;
	default:
		bad_params(is, in);
	}
}
