/* SPDX-License-Identifier: MIT */
/*
 * A program that ignores every result. ignored.py compiles it: the compiler must warn of the
 * lines that say so, and of no other. Which is which follows from the rule in <ipcwait/base.h>.
 */
#include <ipcwait/ipcwait.h>

void plain(struct ipcwait_mutex *m, struct ipcwait_rwlock *l, struct ipcwait_sem *s,
	   struct ipcwait_event *e, struct ipcwait_cond *c, struct ipcwait_eventcount *ec,
	   struct ipcwait_latch *latch, struct ipcwait_barrier *b);
void checked(struct ipcwait_mutex *m, struct ipcwait_rwlock *l, struct ipcwait_sem *s,
	     struct ipcwait_event *e, struct ipcwait_cond *c, struct ipcwait_eventcount *ec,
	     struct ipcwait_latch *latch, struct ipcwait_barrier *b);
void plain_queues(struct ipcwait_queue *q, struct ipcwait_spsc *one,
		  struct ipcwait_channel *ch, struct ipcwait_pool *pool, void *elem);
void checked_queues(struct ipcwait_queue *q, struct ipcwait_spsc *one,
		    struct ipcwait_channel *ch, struct ipcwait_pool *pool, void *elem);
void descriptors(int fd, void *to, struct pollfd *fds, struct epoll_event *events);
void rest(uint32_t *word, struct ipcwait_futex_waiter *words, struct ipcwait_waitable *set,
	  struct ipcwait_window *w, struct ipcwait_once *o, int (*fn)(void *),
	  struct ipcwait_region *region);

void plain(struct ipcwait_mutex *m, struct ipcwait_rwlock *l, struct ipcwait_sem *s,
	   struct ipcwait_event *e, struct ipcwait_cond *c, struct ipcwait_eventcount *ec,
	   struct ipcwait_latch *latch, struct ipcwait_barrier *b)
{
	ipcwait_mutex_lock(m);
	ipcwait_mutex_unlock(m);
	ipcwait_mutex_fini(m);
	ipcwait_rwlock_rdlock(l);
	ipcwait_rwlock_wrlock(l);
	ipcwait_rwlock_rdunlock(l);
	ipcwait_rwlock_wrunlock(l);
	ipcwait_rwlock_unlock(l);
	ipcwait_rwlock_fini(l);
	ipcwait_sem_wait(s);
	ipcwait_sem_post(s);
	ipcwait_sem_post_n(s, 2);
	ipcwait_sem_fini(s);
	ipcwait_event_wait(e);
	ipcwait_event_set(e);
	ipcwait_event_reset(e);
	ipcwait_event_fini(e);
	ipcwait_cond_wait(c, m);
	ipcwait_cond_signal(c);
	ipcwait_cond_broadcast(c);
	ipcwait_cond_fini(c);
	ipcwait_eventcount_notify(ec, 1);
	ipcwait_eventcount_notify_all(ec);
	ipcwait_eventcount_fini(ec);
	ipcwait_latch_wait(latch);
	ipcwait_latch_count_down(latch, 1);
	ipcwait_latch_arrive_and_wait(latch);
	ipcwait_latch_fini(latch);
	ipcwait_barrier_wait(b);
	ipcwait_barrier_fini(b);
}

void checked(struct ipcwait_mutex *m, struct ipcwait_rwlock *l, struct ipcwait_sem *s,
	     struct ipcwait_event *e, struct ipcwait_cond *c, struct ipcwait_eventcount *ec,
	     struct ipcwait_latch *latch, struct ipcwait_barrier *b)
{
	ipcwait_mutex_init(m, 0);            /* warns */
	ipcwait_mutex_trylock(m);            /* warns */
	ipcwait_mutex_lock_until(m, 1);      /* warns */
	ipcwait_mutex_consistent(m);         /* warns */
	ipcwait_rwlock_init(l, 0);           /* warns */
	ipcwait_rwlock_tryrdlock(l);         /* warns */
	ipcwait_rwlock_trywrlock(l);         /* warns */
	ipcwait_rwlock_rdlock_until(l, 1);   /* warns */
	ipcwait_rwlock_wrlock_until(l, 1);   /* warns */
	ipcwait_sem_init(s, 0, 0);           /* warns */
	ipcwait_sem_trywait(s);              /* warns */
	ipcwait_sem_wait_until(s, 1);        /* warns */
	ipcwait_event_init(e, 0);            /* warns */
	ipcwait_event_trywait(e);            /* warns */
	ipcwait_event_wait_until(e, 1);      /* warns */
	ipcwait_cond_init(c, 0);             /* warns */
	ipcwait_cond_wait_until(c, m, 1);    /* warns */
	ipcwait_eventcount_init(ec, 0);      /* warns */
	ipcwait_eventcount_prepare(ec);      /* warns */
	ipcwait_eventcount_commit(ec, 0, 1); /* warns */
	ipcwait_latch_init(latch, 1, 0);     /* warns */
	ipcwait_latch_trywait(latch);        /* warns */
	ipcwait_latch_wait_until(latch, 1);  /* warns */
	ipcwait_barrier_init(b, 1, 0);       /* warns */
	ipcwait_barrier_wait_until(b, 1);    /* warns */
}

void plain_queues(struct ipcwait_queue *q, struct ipcwait_spsc *one,
		  struct ipcwait_channel *ch, struct ipcwait_pool *pool, void *elem)
{
	uint64_t lo, hi;

	ipcwait_queue_close(q);
	ipcwait_queue_length(q, &lo, &hi);
	ipcwait_queue_trim(q);
	ipcwait_spsc_release(one, 1);
	ipcwait_spsc_close(one);
	ipcwait_spsc_length(one, &lo, &hi);
	ipcwait_spsc_trim(one);
	ipcwait_channel_close(ch);
	ipcwait_pool_put(pool, elem);
	ipcwait_pool_trim(pool);
}

void checked_queues(struct ipcwait_queue *q, struct ipcwait_spsc *one,
		    struct ipcwait_channel *ch, struct ipcwait_pool *pool, void *elem)
{
	uint64_t lo, hi;
	size_t n = 1;

	ipcwait_queue_params_check(NULL);             /* warns */
	ipcwait_queue_create(NULL);                   /* warns */
	ipcwait_queue_push(q, elem);                  /* warns */
	ipcwait_queue_push_n(q, elem, n);             /* warns */
	ipcwait_queue_trypop(q, elem);                /* warns */
	ipcwait_queue_pop(q, elem);                   /* warns */
	ipcwait_queue_pop_until(q, elem, 1);          /* warns */
	ipcwait_queue_pop_n(q, elem, n);              /* warns */
	ipcwait_queue_pop_n_until(q, elem, n, 1);     /* warns */
	ipcwait_spsc_params_check(NULL);              /* warns */
	ipcwait_spsc_create(NULL);                    /* warns */
	ipcwait_spsc_push(one, elem);                 /* warns */
	ipcwait_spsc_push_until(one, elem, 1);        /* warns */
	ipcwait_spsc_trypop(one, elem);               /* warns */
	ipcwait_spsc_pop(one, elem);                  /* warns */
	ipcwait_spsc_pop_until(one, elem, 1);         /* warns */
	ipcwait_spsc_push_n(one, elem, n);            /* warns */
	ipcwait_spsc_pop_n(one, elem, n);             /* warns */
	ipcwait_spsc_reserve(one, &n);                /* warns */
	ipcwait_spsc_commit(one, n);                  /* warns */
	ipcwait_spsc_peek(one, &n);                   /* warns */
	ipcwait_channel_params_check(NULL);           /* warns */
	ipcwait_channel_create(NULL);                 /* warns */
	ipcwait_channel_create_shared(0, NULL, NULL); /* warns */
	ipcwait_channel_attach(0, NULL);              /* warns */
	ipcwait_channel_send(ch, elem);               /* warns */
	ipcwait_channel_trysend(ch, elem);            /* warns */
	ipcwait_channel_send_until(ch, elem, 1);      /* warns */
	ipcwait_channel_recv(ch, elem);               /* warns */
	ipcwait_channel_tryrecv(ch, elem);            /* warns */
	ipcwait_channel_recv_until(ch, elem, 1);      /* warns */
	ipcwait_channel_send_n(ch, elem, n, 1);       /* warns */
	ipcwait_channel_recv_n(ch, elem, n, 1);       /* warns */
	ipcwait_channel_length(ch, &lo, &hi);         /* warns */
	ipcwait_channel_select(NULL, 0, 1);           /* warns */
	ipcwait_channel_eventfd(ch);                  /* warns */
	ipcwait_pool_create(NULL, NULL);              /* warns */
	ipcwait_pool_get(pool);                       /* warns */
}

void descriptors(int fd, void *to, struct pollfd *fds, struct epoll_event *events)
{
	ipcwait_awake_end();

	ipcwait_read(fd, to, 1, NULL);              /* warns */
	ipcwait_recv(fd, to, 1, 0, NULL);           /* warns */
	ipcwait_poll(fds, 1, 1, NULL);              /* warns */
	ipcwait_epoll_wait(fd, events, 1, 1, NULL); /* warns */
	ipcwait_awake_begin();                      /* warns */
}

void rest(uint32_t *word, struct ipcwait_futex_waiter *words, struct ipcwait_waitable *set,
	  struct ipcwait_window *w, struct ipcwait_once *o, int (*fn)(void *),
	  struct ipcwait_region *region)
{
	ipcwait_futex_wake(word, 1, 0);
	ipcwait_once_run(o, fn, NULL);
	ipcwait_once_fini(o);
	ipcwait_region_layout(region);
	ipcwait_region_layout(region);

	ipcwait_region_attach(region);        /* warns */
	ipcwait_region_attach(region);        /* warns */
	ipcwait_futex_wait(word, 0, 1, w, 0); /* warns */
	ipcwait_futex_wait_any(words, 1, 1);  /* warns */
	ipcwait_wait_any(set, 1, 1, w);       /* warns */
	ipcwait_once_init(o, 0);              /* warns */
	ipcwait_policy_set_default(NULL);     /* warns */
	ipcwait_window_set_preset(w, 0);      /* warns */
	ipcwait_calibrate(NULL, NULL);        /* warns */
	ipcwait_calibration_get(NULL);        /* warns */
	ipcwait_calibration_save(NULL);       /* warns */
}
