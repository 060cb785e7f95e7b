/* SPDX-License-Identifier: MIT */
/*
 * A process forks while threads of it wait. The child has copies of the objects that they wait for,
 * and of nobody who waits: in the copies all works as if nobody did. (Forks while threads are
 * anywhere in the library: fork_test.c.)
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define PARENTS 3

/* In the child everything has an end. */
#define PATIENCE_NS INT64_C(100000000000)

/* Made by their initializers, as most private objects are. */
static struct ipcwait_mutex mutex = { .flags = IPCWAIT_PRIVATE };
static struct ipcwait_cond cond = { .flags = IPCWAIT_PRIVATE };
static struct ipcwait_sem sem = { .flags = IPCWAIT_PRIVATE };
static struct ipcwait_event event = { .flags = IPCWAIT_PRIVATE | IPCWAIT_AUTO_RESET };
static struct ipcwait_eventcount count = { .flags = IPCWAIT_PRIVATE };
static struct ipcwait_rwlock rwlock = { .flags = IPCWAIT_PRIVATE };
static struct ipcwait_barrier barrier;
static struct ipcwait_latch latch;
static struct ipcwait_queue *queue;
static struct ipcwait_channel *channel;
static struct ipcwait_spsc *spsc;

static int64_t soon(void)
{
	return ipcwait_deadline_in_ns(PATIENCE_NS);
}

struct sleepers {
	enum ipcwait_kind kind;
	uint64_t most; /* so many have slept */
};

static uint64_t slept(enum ipcwait_kind kind)
{
	struct ipcwait_stats st;

	CHECK(ipcwait_stats_get(&st, sizeof(st)) > 0);
	return st.kind[kind].slept;
}

static bool all_sleep(void *arg)
{
	const struct sleepers *s = arg;

	return slept(s->kind) >= s->most;
}

static void *run(void *arg)
{
	(*(void (**)(void))arg)();
	return NULL;
}

/* @n threads, which all sleep when it returns. */
static void begin(pthread_t *thread, unsigned n, enum ipcwait_kind kind,
		  void (**wait)(void))
{
	struct sleepers s = { kind, slept(kind) };

	for (unsigned i = 0; i < n; i++) {
		CHECK_EQ(pthread_create(&thread[i], NULL, run, (void *)wait), 0);
		s.most++;
		CHECK(check_eventually(all_sleep, &s));
	}
}

/* What the parent's threads wait in, and what a child does with its copy. */
struct scene {
	enum ipcwait_kind kind;
	void (*wait)(void);
	void (*tell)(void); /* one of those who wait */
	void (*end)(void);  /* when nobody does */
};

static struct scene now;
static unsigned depth;

/* One waits, and is told, of whom its own child has a copy too. */
static void use_a_copy(void)
{
	pthread_t thread;

	check_watchdog(60);
	begin(&thread, 1, now.kind, &now.wait);
	if (depth++ == 0)
		CHECK_EQ(check_in_child(use_a_copy), 0);
	now.tell();
	CHECK_EQ(pthread_join(thread, NULL), 0);
	if (now.end)
		now.end();
}

static void play(struct scene s)
{
	pthread_t thread[PARENTS];

	now = s;
	depth = 0;
	begin(thread, PARENTS, now.kind, &now.wait);
	CHECK_EQ(check_in_child(use_a_copy), 0);
	for (unsigned i = 0; i < PARENTS; i++)
		now.tell();
	for (unsigned i = 0; i < PARENTS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

static void wait_on_cond(void)
{
	CHECK_EQ(ipcwait_mutex_lock(&mutex), 0);
	CHECK_EQ(ipcwait_cond_wait_until(&cond, &mutex, soon()), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&mutex), 0);
}

static void signal_cond(void)
{
	CHECK_EQ(ipcwait_cond_signal(&cond), 0);
}

static void end_cond(void)
{
	CHECK_EQ(ipcwait_cond_fini(&cond), 0);
}

static void condition_variable(void)
{
	play((struct scene){ IPCWAIT_KIND_COND, wait_on_cond, signal_cond, end_cond });
}

/* Nobody has waited in the child. */
static void end_of_a_condition_variable(void)
{
	pthread_t thread[PARENTS];

	now.wait = wait_on_cond;
	begin(thread, PARENTS, IPCWAIT_KIND_COND, &now.wait);
	CHECK_EQ(check_in_child(end_cond), 0);
}

static void wait_on_sem(void)
{
	CHECK_EQ(ipcwait_sem_wait_until(&sem, soon()), 0);
}

static void post_sem(void)
{
	CHECK_EQ(ipcwait_sem_post(&sem), 0);
}

static void end_sem(void)
{
	CHECK_EQ(ipcwait_sem_value(&sem), 0);
	CHECK_EQ(ipcwait_sem_fini(&sem), 0);
}

static void semaphore(void)
{
	play((struct scene){ IPCWAIT_KIND_SEM, wait_on_sem, post_sem, end_sem });
}

static void wait_on_event(void)
{
	CHECK_EQ(ipcwait_event_wait_until(&event, soon()), 0);
}

static bool is_taken(void *arg)
{
	const struct ipcwait_event *e = arg;

	return !(__atomic_load_n(&e->word.v, __ATOMIC_RELAXED) & 1);
}

/* Before the next one: two are no more than one while nobody has taken the first. */
static void set_event(void)
{
	CHECK_EQ(ipcwait_event_set(&event), 0);
	CHECK(check_eventually(is_taken, &event));
}

static void end_event(void)
{
	CHECK_EQ(ipcwait_event_fini(&event), 0);
}

static void an_event(void)
{
	play((struct scene){ IPCWAIT_KIND_EVENT, wait_on_event, set_event, end_event });
}

static void wait_on_count(void)
{
	uint64_t key = ipcwait_eventcount_prepare(&count);

	CHECK_EQ(ipcwait_eventcount_commit(&count, key, soon()), 0);
}

static void notify_one(void)
{
	CHECK_EQ(ipcwait_eventcount_notify(&count, 1), 0);
}

static void end_count(void)
{
	CHECK_EQ(ipcwait_eventcount_fini(&count), 0);
}

static void event_count(void)
{
	play((struct scene){ IPCWAIT_KIND_EVENTCOUNT, wait_on_count, notify_one,
			     end_count });
}

static void pop_queue(void)
{
	int n;

	CHECK_EQ(ipcwait_queue_pop_until(queue, &n, soon()), 0);
}

static void push_queue(void)
{
	CHECK_EQ(ipcwait_queue_push(queue, &(int){ 1 }), 0);
}

static void a_queue(void)
{
	queue = ipcwait_queue_create(
		&(struct ipcwait_queue_params){ .elem_size = sizeof(int) });
	if (!queue)
		return;
	play((struct scene){ IPCWAIT_KIND_QUEUE, pop_queue, push_queue, NULL });
}

static void receive(void)
{
	int n;

	CHECK_EQ(ipcwait_channel_recv_until(channel, &n, soon()), 0);
}

static void send(void)
{
	CHECK_EQ(ipcwait_channel_send(channel, &(int){ 1 }), 0);
}

static void a_channel(void)
{
	channel = ipcwait_channel_create(&(struct ipcwait_channel_params){
		.elem_size = sizeof(int), .capacity = 4 });
	CHECK(channel != NULL);
	play((struct scene){ IPCWAIT_KIND_CHANNEL, receive, send, NULL });
}

static void pop_spsc(void)
{
	int n;

	CHECK_EQ(ipcwait_spsc_pop_until(spsc, &n, soon()), 0);
}

static void push_spsc(void)
{
	CHECK_EQ(ipcwait_spsc_push(spsc, &(int){ 1 }), 0);
}

/* There is one consumer. */
static void an_spsc_queue(void)
{
	pthread_t thread;

	spsc = ipcwait_spsc_create(
		&(struct ipcwait_spsc_params){ .elem_size = sizeof(int) });
	CHECK(spsc != NULL);
	now = (struct scene){ IPCWAIT_KIND_QUEUE, pop_spsc, push_spsc, NULL };
	begin(&thread, 1, now.kind, &now.wait);
	CHECK_EQ(check_in_child(use_a_copy), 0);
}

static void read_rwlock(void)
{
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&rwlock, soon()), 0);
	CHECK_EQ(ipcwait_rwlock_rdunlock(&rwlock), 0);
}

static void write_rwlock(void)
{
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&rwlock, soon()), 0);
	CHECK_EQ(ipcwait_rwlock_wrunlock(&rwlock), 0);
}

static void lock_copies_of_rwlock(void)
{
	CHECK_EQ(ipcwait_rwlock_trywrlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_wrunlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_rdunlock(&rwlock), 0);
	read_rwlock();
	write_rwlock();
	CHECK_EQ(ipcwait_rwlock_fini(&rwlock), 0);
}

static void unlock_written(void)
{
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&rwlock), -EBUSY);
	CHECK_EQ(ipcwait_rwlock_wrunlock(&rwlock), 0);
	lock_copies_of_rwlock();
}

static void unlock_read(void)
{
	CHECK_EQ(ipcwait_rwlock_rdunlock(&rwlock), 0);
	lock_copies_of_rwlock();
}

static void unlock_read_and_wait(void)
{
	CHECK_EQ(ipcwait_rwlock_rdunlock(&rwlock), 0);
	read_rwlock();
	CHECK_EQ(ipcwait_rwlock_fini(&rwlock), 0);
}

static void unlock_written_and_wait(void)
{
	CHECK_EQ(ipcwait_rwlock_wrunlock(&rwlock), 0);
	write_rwlock();
	CHECK_EQ(ipcwait_rwlock_fini(&rwlock), 0);
}

/* The thread that forks holds it, in the child too. */
static void reader_writer_lock(void)
{
	void (*reader)(void) = read_rwlock, (*writer)(void) = write_rwlock;
	pthread_t thread[PARENTS];

	CHECK_EQ(ipcwait_rwlock_wrlock(&rwlock), 0);
	begin(thread, 2, IPCWAIT_KIND_RWLOCK, &reader);
	begin(thread + 2, 1, IPCWAIT_KIND_RWLOCK, &writer);
	CHECK_EQ(check_in_child(unlock_written), 0);
	CHECK_EQ(check_in_child(unlock_written_and_wait), 0);
	CHECK_EQ(ipcwait_rwlock_wrunlock(&rwlock), 0);
	for (unsigned i = 0; i < PARENTS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(ipcwait_rwlock_rdlock(&rwlock), 0);
	begin(thread, 1, IPCWAIT_KIND_RWLOCK, &writer);
	CHECK_EQ(check_in_child(unlock_read), 0);
	CHECK_EQ(check_in_child(unlock_read_and_wait), 0);
}

static void lock_mutex(void)
{
	CHECK_EQ(ipcwait_mutex_lock_until(&mutex, soon()), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&mutex), 0);
}

static void unlock_mutex(void)
{
	void (*lock)(void) = lock_mutex;
	pthread_t thread[2];

	begin(thread, 2, IPCWAIT_KIND_MUTEX, &lock);
	CHECK_EQ(ipcwait_mutex_unlock(&mutex), 0);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	lock_mutex();
}

/*
 * Its sleepers look again by themselves: nothing is forgotten. A checked build does not let the
 * child unlock what the parent has locked.
 */
static void a_mutex(void)
{
	void (*lock)(void) = lock_mutex;
	pthread_t thread[PARENTS];

#ifdef IPCWAIT_CHECKED
	return;
#endif
	CHECK_EQ(ipcwait_mutex_lock(&mutex), 0);
	begin(thread, PARENTS, IPCWAIT_KIND_MUTEX, &lock);
	/* Until it is kept for those who have waited for longest. */
	(void)usleep(50000);
	CHECK_EQ(check_in_child(unlock_mutex), 0);
}

static void arrive(void)
{
	CHECK(ipcwait_barrier_wait_until(&barrier, soon()) >= 0);
}

/* The parent's parties will never come again: the round begins anew, without them. */
static void arrive_in_a_copy(void)
{
	void (*others)(void) = arrive;
	pthread_t thread[PARENTS];

	CHECK_EQ(ipcwait_barrier_wait_until(&barrier, ipcwait_deadline_in_ns(1000000)),
		 -ETIMEDOUT);
	begin(thread, PARENTS, IPCWAIT_KIND_BARRIER, &others);
	arrive();
	for (unsigned i = 0; i < PARENTS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(ipcwait_barrier_fini(&barrier), 0);
}

static void end_barrier(void)
{
	CHECK_EQ(ipcwait_barrier_fini(&barrier), 0);
}

static void a_barrier(void)
{
	void (*party)(void) = arrive;
	pthread_t thread[PARENTS];

	CHECK_EQ(ipcwait_barrier_init(&barrier, PARENTS + 1, IPCWAIT_PRIVATE), 0);
	begin(thread, PARENTS, IPCWAIT_KIND_BARRIER, &party);
	CHECK_EQ(check_in_child(arrive_in_a_copy), 0);
	CHECK_EQ(check_in_child(end_barrier), 0);
	arrive();
	for (unsigned i = 0; i < PARENTS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

static void wait_on_latch(void)
{
	CHECK_EQ(ipcwait_latch_wait_until(&latch, soon()), 0);
}

static void open_latch(void)
{
	void (*wait)(void) = wait_on_latch;
	pthread_t thread;

	begin(&thread, 1, IPCWAIT_KIND_LATCH, &wait);
	CHECK_EQ(ipcwait_latch_count_down(&latch, 2), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(ipcwait_latch_fini(&latch), 0);
}

static void end_latch(void)
{
	CHECK_EQ(ipcwait_latch_fini(&latch), 0);
}

static void a_latch(void)
{
	void (*wait)(void) = wait_on_latch;
	pthread_t thread[PARENTS];

	CHECK_EQ(ipcwait_latch_init(&latch, 2, IPCWAIT_PRIVATE), 0);
	begin(thread, PARENTS, IPCWAIT_KIND_LATCH, &wait);
	CHECK_EQ(check_in_child(open_latch), 0);
	CHECK_EQ(check_in_child(end_latch), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(condition_variable), CHILD_TEST(end_of_a_condition_variable),
		CHILD_TEST(semaphore),          CHILD_TEST(an_event),
		CHILD_TEST(event_count),        CHILD_TEST(a_queue),
		CHILD_TEST(a_channel),          CHILD_TEST(an_spsc_queue),
		CHILD_TEST(reader_writer_lock), CHILD_TEST(a_mutex),
		CHILD_TEST(a_barrier),          CHILD_TEST(a_latch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
