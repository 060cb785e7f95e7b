// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** Semaphores, latches, barriers, phasers, exchangers. */
final class Gates {
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;

    private Gates() {}

    private static void bounds(boolean fair) throws Throwable {
        Semaphore s = new Semaphore(2, fair);
        AtomicInteger inside = new AtomicInteger();
        Suite.together(4, () -> {
            for (int k = 0; k < 1000; k++) {
                s.acquire();
                Suite.check(inside.incrementAndGet() <= 2, "two at most");
                inside.decrementAndGet();
                s.release();
            }
        });
        Suite.same(2, s.availablePermits());
    }

    private static void semaphoreTimed(boolean fair) throws Throwable {
        Semaphore s = new Semaphore(1, fair);
        Suite.lasts(() -> Suite.check(!s.tryAcquire(2, Suite.SHORT_MS, MS), "only one"));
        Suite.check(s.tryAcquire(0, MS), "there is one");
        Suite.check(!s.tryAcquire(), "there is none");
        Suite.Worker w = Suite.start(() ->
                Suite.check(s.tryAcquire(3, Suite.PATIENCE_S, TimeUnit.SECONDS), "is given"));
        for (int k = 0; k < 3; k++) {
            Suite.untilWaits(w);
            s.release();
        }
        w.join();
        Suite.same(0, s.drainPermits());
    }

    private static void semaphoreInterrupted() throws Throwable {
        Semaphore s = new Semaphore(0);
        Suite.Worker[] all = {
            Suite.interrupted(s::acquire),
            Suite.interrupted(() -> s.acquire(3)),
            Suite.interrupted(() -> s.tryAcquire(50, TimeUnit.SECONDS)),
        };
        for (Suite.Worker w : all) {
            Suite.untilWaits(w);
            w.thread.interrupt();
            w.join();
        }
        Suite.Worker w = Suite.start(() -> {
            s.acquireUninterruptibly();
            Suite.check(Thread.interrupted(), "the interrupt is kept");
        });
        Suite.untilWaits(w);
        w.thread.interrupt();
        s.release();
        w.join();
    }

    private static void semaphoreOrder() throws Throwable {
        Semaphore s = new Semaphore(0, true);
        List<Integer> order = new ArrayList<>();
        List<Suite.Worker> workers = new ArrayList<>();
        for (int k = 0; k < 6; k++) {
            int me = k;
            workers.add(Suite.start(() -> {
                s.acquire();
                order.add(me);
                s.release();
            }));
            while (s.getQueueLength() != k + 1) {
                Thread.sleep(1);
            }
        }
        s.release();
        for (Suite.Worker w : workers) {
            w.join();
        }
        Suite.same(List.of(0, 1, 2, 3, 4, 5), order);
    }

    private static void pingPong() throws Throwable {
        Semaphore a = new Semaphore(0);
        Semaphore b = new Semaphore(0);
        Suite.Worker w = Suite.start(() -> {
            for (int k = 0; k < 5000; k++) {
                a.acquire();
                b.release();
            }
        });
        for (int k = 0; k < 5000; k++) {
            a.release();
            b.acquire();
        }
        w.join();
        Suite.same(0, a.availablePermits() + b.availablePermits());
    }

    private static void latch() throws Throwable {
        for (int k = 0; k < 200; k++) {
            CountDownLatch go = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(3);
            for (int n = 0; n < 3; n++) {
                Suite.start(() -> {
                    go.await();
                    done.countDown();
                });
            }
            Suite.same(3L, done.getCount());
            go.countDown();
            done.await();
            done.countDown();
            Suite.same(0L, done.getCount());
        }
    }

    private static void latchTimed() throws Throwable {
        CountDownLatch latch = new CountDownLatch(1);
        Suite.lasts(() -> Suite.check(!latch.await(Suite.SHORT_MS, MS), "is closed"));
        Suite.Worker w = Suite.interrupted(latch::await);
        Suite.untilWaits(w);
        w.thread.interrupt();
        w.join();
        latch.countDown();
        Suite.check(latch.await(0, MS), "is open");
    }

    private static void barrier() throws Throwable {
        AtomicInteger trips = new AtomicInteger();
        AtomicInteger last = new AtomicInteger();
        CyclicBarrier barrier = new CyclicBarrier(4, trips::incrementAndGet);
        Suite.together(4, () -> {
            for (int k = 0; k < 500; k++) {
                last.addAndGet(barrier.await() == 0 ? 1 : 0);
                Suite.check(trips.get() > k, "the action comes first");
            }
        });
        Suite.same(500, trips.get());
        Suite.same(500, last.get());
    }

    private static Suite.Worker breaks(CyclicBarrier barrier) throws Throwable {
        Suite.Worker w = Suite.start(
                () -> Suite.throwsA(BrokenBarrierException.class, barrier::await));
        while (barrier.getNumberWaiting() == 0) {
            Thread.sleep(1);
        }
        return w;
    }

    private static void barrierTimed() throws Throwable {
        CyclicBarrier barrier = new CyclicBarrier(3);
        Suite.Worker w = breaks(barrier);
        Suite.lasts(() -> Suite.throwsA(TimeoutException.class,
                () -> barrier.await(Suite.SHORT_MS, MS)));
        w.join();
        Suite.check(barrier.isBroken(), "is broken");
        Suite.throwsA(BrokenBarrierException.class, barrier::await);
        barrier.reset();
        Suite.together(3, barrier::await);
    }

    private static void barrierReset() throws Throwable {
        CyclicBarrier barrier = new CyclicBarrier(3);
        for (int k = 0; k < 50; k++) {
            Suite.Worker w = breaks(barrier);
            barrier.reset();
            w.join();
            Suite.check(!barrier.isBroken(), "is whole");
        }
    }

    private static void barrierInterrupted() throws Throwable {
        CyclicBarrier barrier = new CyclicBarrier(3);
        Suite.Worker w = breaks(barrier);
        Suite.Worker hit = Suite.interrupted(barrier::await);
        while (barrier.getNumberWaiting() != 2) {
            Thread.sleep(1);
        }
        hit.thread.interrupt();
        hit.join();
        w.join();
        CyclicBarrier throwing = new CyclicBarrier(1, () -> {
            throw new IllegalStateException("action");
        });
        Suite.throwsA(IllegalStateException.class, throwing::await);
        Suite.check(throwing.isBroken(), "is broken");
    }

    private static void phaser() throws Throwable {
        AtomicInteger steps = new AtomicInteger();
        Phaser phaser = new Phaser(4) {
            @Override
            protected boolean onAdvance(int phase, int parties) {
                return steps.incrementAndGet() == 500;
            }
        };
        Suite.together(4, () -> {
            while (!phaser.isTerminated()) {
                phaser.arriveAndAwaitAdvance();
            }
        });
        Suite.same(500, steps.get());
    }

    private static void phaserTiers() throws Throwable {
        Phaser root = new Phaser(1);
        List<Suite.Worker> workers = new ArrayList<>();
        for (int k = 0; k < 4; k++) {
            Phaser child = new Phaser(root, 1);
            workers.add(Suite.start(() -> {
                for (int n = 0; n < 100; n++) {
                    child.arriveAndAwaitAdvance();
                }
                child.arriveAndDeregister();
            }));
        }
        for (int n = 0; n < 100; n++) {
            Suite.same(n + 1, root.arriveAndAwaitAdvance());
        }
        root.arriveAndDeregister();
        for (Suite.Worker w : workers) {
            w.join();
        }
        Suite.check(root.isTerminated(), "nobody is left");
    }

    private static void phaserTimed() throws Throwable {
        Phaser phaser = new Phaser(2);
        int phase = phaser.arrive();
        Suite.lasts(() -> Suite.throwsA(TimeoutException.class,
                () -> phaser.awaitAdvanceInterruptibly(phase, Suite.SHORT_MS, MS)));
        Suite.Worker w = Suite.interrupted(() -> phaser.awaitAdvanceInterruptibly(phase));
        Suite.untilWaits(w);
        w.thread.interrupt();
        w.join();
        Suite.Worker ends = Suite.start(
                () -> Suite.check(phaser.awaitAdvance(phase) < 0, "is terminated"));
        phaser.forceTermination();
        ends.join();
    }

    private static void exchanger() throws Throwable {
        Exchanger<Integer> exchanger = new Exchanger<>();
        Suite.Worker w = Suite.start(() -> {
            for (int k = 0; k < 2000; k++) {
                Suite.same(k, exchanger.exchange(-k));
            }
        });
        for (int k = 0; k < 2000; k++) {
            Suite.same(-k, exchanger.exchange(k));
        }
        w.join();
    }

    private static void exchangerTimed() throws Throwable {
        Exchanger<Integer> exchanger = new Exchanger<>();
        Suite.lasts(() -> Suite.throwsA(TimeoutException.class,
                () -> exchanger.exchange(1, Suite.SHORT_MS, MS)));
        Suite.Worker w = Suite.interrupted(() -> exchanger.exchange(1));
        Suite.untilWaits(w);
        w.thread.interrupt();
        w.join();
        AtomicInteger sum = new AtomicInteger();
        Suite.together(2, () -> {
            for (int k = 0; k < 500; k++) {
                sum.addAndGet(exchanger.exchange(k, Suite.PATIENCE_S, TimeUnit.SECONDS) - k);
            }
        });
        Suite.same(0, sum.get());
    }

    static void tests() {
        Suite.test("Semaphore.bounds.unfair", () -> bounds(false));
        Suite.test("Semaphore.bounds.fair", () -> bounds(true));
        Suite.test("Semaphore.timed.unfair", () -> semaphoreTimed(false));
        Suite.test("Semaphore.timed.fair", () -> semaphoreTimed(true));
        Suite.test("Semaphore.interrupted", Gates::semaphoreInterrupted);
        Suite.test("Semaphore.order", Gates::semaphoreOrder);
        Suite.test("Semaphore.hand-over", Gates::pingPong);
        Suite.test("CountDownLatch", Gates::latch);
        Suite.test("CountDownLatch.timed", Gates::latchTimed);
        Suite.test("CyclicBarrier", Gates::barrier);
        Suite.test("CyclicBarrier.timed", Gates::barrierTimed);
        Suite.test("CyclicBarrier.reset", Gates::barrierReset);
        Suite.test("CyclicBarrier.interrupted", Gates::barrierInterrupted);
        Suite.test("Phaser", Gates::phaser);
        Suite.test("Phaser.tiers", Gates::phaserTiers);
        Suite.test("Phaser.timed", Gates::phaserTimed);
        Suite.test("Exchanger", Gates::exchanger);
        Suite.test("Exchanger.timed", Gates::exchangerTimed);
    }
}
