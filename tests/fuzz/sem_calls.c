/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/fake_os.h"
#include "common/fuzz.h"
#include "fuzz/kernel.h"
#include "fuzz/sem_calls.h"

/* Mostly a few, sometimes any number. */
static uint32_t take_number(struct input *in)
{
	uint8_t n = take_8(in);

	if (n < 248)
		return n % 8;
	return n < 252 ? IPCWAIT_SEM_VALUE_MAX - n % 4 : take_32(in);
}

void sem_call_take(struct sem_call *c, struct input *in, int64_t now_ns)
{
	*c = (struct sem_call){ .kind = take_8(in) % SEM_CALL_KINDS,
				.deadline_ns = IPCWAIT_FOREVER };
	switch (c->kind) {
	case WAIT_UNTIL:
		c->deadline_ns = take_deadline(in, now_ns);
		break;
	case POST_N:
	case SET_PRESET:
		c->n = take_number(in);
		break;
	case INIT:
		c->n = take_number(in);
		c->flags = take_number(in);
		break;
	case FUTEX_WAIT:
		c->deadline_ns = take_deadline(in, now_ns);
		c->with_window = take_8(in) % 4;
		c->flags = take_number(in) % 4;
		break;
	case FUTEX_WAKE:
		c->n = take_number(in);
		c->flags = take_number(in) % 4;
		break;
	default:
		break;
	}
}

static int explain(const struct ipcwait_sem *s)
{
	char text[IPCWAIT_EXPLAIN_BYTES];
	int r = ipcwait_explain(&s->window, text, sizeof(text));

	FUZZ_CHECK(r > 0 && (size_t)r == strlen(text));
	return r;
}

static int futex_wait(const struct sem_call *c, struct ipcwait_sem *s)
{
	uint32_t *word = (uint32_t *)&s->word;

	return ipcwait_futex_wait(word, __atomic_load_n(word, __ATOMIC_RELAXED) + c->n,
				  c->deadline_ns, c->with_window ? &s->window : NULL,
				  c->flags);
}

static int make(const struct sem_call *c, struct ipcwait_sem *s)
{
	switch (c->kind) {
	case TRYWAIT:
		return ipcwait_sem_trywait(s);
	case WAIT:
		return ipcwait_sem_wait(s);
	case WAIT_UNTIL:
		return ipcwait_sem_wait_until(s, c->deadline_ns);
	case POST:
		return ipcwait_sem_post(s);
	case POST_N:
		return ipcwait_sem_post_n(s, c->n);
	case VALUE:
		return ipcwait_sem_value(s);
	case INIT:
		return ipcwait_sem_init(s, c->n, c->flags);
	case FINI:
		return ipcwait_sem_fini(s);
	case SET_PRESET:
		return ipcwait_window_set_preset(&s->window, (enum ipcwait_preset)c->n);
	case STAMP:
		ipcwait_window_stamp(&s->window);
		return 0;
	case EXPLAIN:
		return explain(s);
	case FUTEX_WAIT:
		return futex_wait(c, s);
	case FUTEX_WAKE:
		return ipcwait_futex_wake((uint32_t *)&s->word, c->n, c->flags);
	default:
		__builtin_trap();
	}
}

/* As the headers have it. What the kernel says is checked by kernel_leave(). */
static bool documented(const struct sem_call *c)
{
	int r = c->result;

	switch (c->kind) {
	case TRYWAIT:
		return r == 0 || r == -EAGAIN;
	case WAIT:
		return r == 0 || r == -EINTR || r == -EINVAL || r == -EFAULT ||
		       r == -ENOSYS;
	case WAIT_UNTIL:
		return r == 0 || r == -ETIMEDOUT || r == -EINTR || r == -EINVAL ||
		       r == -EFAULT || r == -ENOSYS;
	case POST:
	case POST_N:
		return r == 0 || r == -EOVERFLOW || r == -EINVAL;
	case VALUE:
		return r >= 0;
	case INIT:
	case SET_PRESET:
		return r == 0 || r == -EINVAL;
	case FINI:
		return r == 0 || r == -EBUSY || r == -EINVAL;
	case FUTEX_WAIT:
		return r == 0 || r == -EAGAIN || r == -ETIMEDOUT || r == -EINTR ||
		       r == -EINVAL || r == -EFAULT || r == -ENOSYS;
	case FUTEX_WAKE:
		return r >= 0 || r == -EINVAL || r == -EFAULT;
	case EXPLAIN:
		return r > 0 && r < IPCWAIT_EXPLAIN_BYTES;
	default:
		return r == 0;
	}
}

static uint32_t flags_of(const struct sem_call *c, const struct ipcwait_sem *s)
{
	uint32_t flags;

	memcpy(&flags, (const char *)s + offsetof(struct ipcwait_sem, flags),
	       sizeof(flags));
	return c->kind == FUTEX_WAIT ? c->flags : flags;
}

void sem_call_make(struct sem_call *c, struct ipcwait_sem *s)
{
	struct kernel_call call;

	kernel_enter(&call, c->deadline_ns);
	call.long_spins = kernel.long_spins || kernel_long_spins(&s->window);
	call.interruptible = flags_of(c, s) & IPCWAIT_INTERRUPTIBLE;
	c->result = make(c, s);
	kernel_leave(&call, c->result);
	FUZZ_CHECK(documented(c));
}
