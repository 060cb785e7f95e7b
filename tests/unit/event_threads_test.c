/* SPDX-License-Identifier: MIT */
/* Events and event counts with threads: who is let through, hand-over, fini, signals. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/event_word.h"
#include "common/eventcount_word.h"

#define THREADS 6
#define ROUNDS  2000

static unsigned flags;

static int shared(void **state)
{
	(void)state;
	flags = 0;
	check_watchdog(60);
	return 0;
}

static int private(void **state)
{
	(void)state;
	flags = IPCWAIT_PRIVATE;
	check_watchdog(60);
	return 0;
}

static struct ipcwait_event event;
static struct ipcwait_eventcount ec;
static unsigned through; /* waits that have returned */
static pthread_t threads[THREADS];

static void start(void *(*body)(void *), unsigned n)
{
	__atomic_store_n(&through, 0, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, body, NULL), 0);
}

static void join(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static bool asleep(void *n)
{
	return event_sleepers(event_word(&event)) == *(unsigned *)n;
}

static void await_sleepers(unsigned n)
{
	assert_true(check_eventually(asleep, &n));
}

static bool are_through(void *n)
{
	return __atomic_load_n(&through, __ATOMIC_ACQUIRE) >= *(unsigned *)n;
}

static void await_through(unsigned n)
{
	assert_true(check_eventually(are_through, &n));
}

static void *wait_once(void *arg)
{
	(void)arg;
	CHECK_EQ(ipcwait_event_wait(&event), 0);
	__atomic_fetch_add(&through, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void test_manual_wakes_all(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(ipcwait_event_init(&event, flags), 0);
		start(wait_once, THREADS);
		await_sleepers(THREADS);
		assert_int_equal(ipcwait_event_fini(&event), -EBUSY);
		assert_int_equal(ipcwait_event_set(&event), 0);
		if (i % 2)
			assert_int_equal(ipcwait_event_reset(&event), 0);
		join(THREADS);
		assert_int_equal(ipcwait_event_fini(&event), 0);
	}
}

static bool is_left(void *left)
{
	return event_state(event_word(&event)) == *(uint64_t *)left;
}

static void test_auto_wakes_one(void **state)
{
	uint64_t left;

	(void)state;
	assert_int_equal(ipcwait_event_init(&event, flags | IPCWAIT_AUTO_RESET), 0);
	start(wait_once, THREADS);
	await_sleepers(THREADS);
	for (unsigned i = 1; i <= THREADS; i++) {
		assert_int_equal(ipcwait_event_set(&event), 0);
		await_through(i);
		/* One that was woken in vain spins before it sleeps again. */
		left = EVENT_SLEEPERS(THREADS - i);
		assert_true(check_eventually(is_left, &left));
	}
	join(THREADS);
	assert_int_equal(ipcwait_event_fini(&event), 0);
}

/* A mutex made of an event: what it guards is plain. */
static uint64_t guarded;

static void *lock_and_count(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		CHECK_EQ(ipcwait_event_wait(&event), 0);
		guarded++;
		CHECK_EQ(ipcwait_event_set(&event), 0);
	}
	return NULL;
}

static void test_auto_hands_over(void **state)
{
	(void)state;
	assert_int_equal(ipcwait_event_init(&event, flags | IPCWAIT_AUTO_RESET), 0);
	guarded = 0;
	assert_int_equal(ipcwait_event_set(&event), 0);
	start(lock_and_count, THREADS);
	join(THREADS);
	assert_int_equal(guarded, THREADS * ROUNDS);
	assert_int_equal(event_state(event_word(&event)), EVENT_SET);
}

/* "Change, set" beside "reset, look, wait": none is missed. */
static uint32_t changes;

static void *change(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		__atomic_fetch_add(&changes, 1, __ATOMIC_RELAXED);
		CHECK_EQ(ipcwait_event_set(&event), 0);
	}
	return NULL;
}

static void test_no_change_is_missed(void **state)
{
	(void)state;
	assert_int_equal(ipcwait_event_init(&event, flags), 0);
	changes = 0;
	start(change, 2);
	for (;;) {
		assert_int_equal(ipcwait_event_reset(&event), 0);
		if (__atomic_load_n(&changes, __ATOMIC_RELAXED) == 2 * ROUNDS)
			break;
		assert_int_equal(ipcwait_event_wait(&event), 0);
	}
	join(2);
}

static void on_signal(int signal)
{
	(void)signal;
	CHECK_EQ(ipcwait_event_set(&event), 0);
}

/* The handler runs in the thread that waits, and lets it through. */
static void test_a_handler_sets(void **state)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	(void)state;
	if (CHECK_DEFERS_SIGNALS)
		skip();
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(ipcwait_event_init(
					 &event, flags | (i % 2 ? IPCWAIT_AUTO_RESET : 0)),
				 0);
		start(wait_once, 1);
		if (i % 3)
			await_sleepers(1);
		assert_int_equal(pthread_kill(threads[0], SIGUSR1), 0);
		join(1);
	}
}

/* Items that are counted elsewhere. */
static uint32_t items, taken, over;

static bool take_item(void)
{
	uint32_t n = __atomic_load_n(&items, __ATOMIC_RELAXED);

	while (n)
		if (__atomic_compare_exchange_n(&items, &n, n - 1, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

static bool next_item(int64_t patience_ns)
{
	int r;

	for (;;) {
		uint64_t key = ipcwait_eventcount_prepare(&ec);

		if (take_item() || __atomic_load_n(&over, __ATOMIC_RELAXED)) {
			ipcwait_eventcount_cancel(&ec);
			return !__atomic_load_n(&over, __ATOMIC_RELAXED);
		}
		r = ipcwait_eventcount_commit(&ec, key,
					      patience_ns
						      ? ipcwait_deadline_in_ns(patience_ns)
						      : IPCWAIT_FOREVER);
		CHECK(r == 0 || (patience_ns && r == -ETIMEDOUT));
	}
}

static uint64_t consumers_seed;

static void *consume(void *arg)
{
	uint64_t seed = __atomic_add_fetch(&consumers_seed, 7919, __ATOMIC_RELAXED);
	bool patient = arg == NULL;

	while (next_item(patient ? 0 : (int64_t)(check_random(&seed) % 100000)))
		__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
	return NULL;
}

static bool all_taken(void *n)
{
	return __atomic_load_n(&taken, __ATOMIC_RELAXED) == *(uint32_t *)n;
}

static void produce(uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++) {
		__atomic_fetch_add(&items, 1, __ATOMIC_RELAXED);
		assert_int_equal(ipcwait_eventcount_notify(&ec, 1), 0);
		/* At times all wait. */
		if (i % 64 == 0)
			assert_true(check_eventually(all_taken, &i));
	}
	assert_true(check_eventually(all_taken, &n));
}

static void test_no_item_is_forgotten(void **state)
{
	(void)state;
	assert_int_equal(ipcwait_eventcount_init(&ec, flags), 0);
	items = taken = over = 0;
	consumers_seed = check_seed();
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, consume, i % 3 ? NULL : &items),
			0);
	produce(8000);
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	assert_int_equal(ipcwait_eventcount_notify_all(&ec), 0);
	join(THREADS);
	assert_int_equal(ipcwait_eventcount_fini(&ec), 0);
}

static void *commit_once(void *arg)
{
	(void)arg;
	CHECK_EQ(ipcwait_eventcount_commit(&ec, ipcwait_eventcount_prepare(&ec),
					   IPCWAIT_FOREVER),
		 0);
	__atomic_fetch_add(&through, 1, __ATOMIC_RELEASE);
	return NULL;
}

static bool in_line(void *n)
{
	return ec_line(ec_word(&ec)) == *(unsigned *)n;
}

/* At least: one that was in line, and not asleep yet, may have returned out of turn. */
static void test_as_many_as_notified(void **state)
{
	unsigned n = THREADS;

	(void)state;
	assert_int_equal(ipcwait_eventcount_init(&ec, flags), 0);
	start(commit_once, THREADS);
	assert_true(check_eventually(in_line, &n));
	assert_int_equal(ipcwait_eventcount_fini(&ec), -EBUSY);
	for (n = 2; n <= THREADS; n += 2) {
		assert_int_equal(ipcwait_eventcount_notify(&ec, 2), 0);
		await_through(n);
		assert_true(ec_line(ec_word(&ec)) <= THREADS - n + ec_gone(ec_word(&ec)));
	}
	join(THREADS);
	assert_int_equal(ipcwait_eventcount_fini(&ec), 0);
}

#define TEST(f)                                           \
	cmocka_unit_test_setup_teardown(f, shared, NULL), \
		cmocka_unit_test_setup_teardown(f, private, NULL)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_manual_wakes_all),    TEST(test_auto_wakes_one),
		TEST(test_auto_hands_over),     TEST(test_no_change_is_missed),
		TEST(test_a_handler_sets),      TEST(test_no_item_is_forgotten),
		TEST(test_as_many_as_notified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
