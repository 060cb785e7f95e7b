// SPDX-License-Identifier: MIT
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Threads, monitors, permits; and what the virtual machine says about who waits. */
final class Threads {
    private Threads() {}

    private static void join() throws Throwable {
        int[] sum = new int[1];
        for (int k = 0; k < 200; k++) {
            Thread t = new Thread(() -> sum[0]++);
            t.start();
            t.join();
        }
        Suite.same(200, sum[0]);
    }

    private static void joinTimed() throws Throwable {
        CountDownLatch end = new CountDownLatch(1);
        Suite.Worker w = Suite.start(end::await);
        Suite.lasts(() -> w.thread.join(Suite.SHORT_MS));
        Suite.check(w.thread.isAlive(), "is alive");
        end.countDown();
        w.join();
        Suite.check(!w.thread.isAlive(), "has ended");
    }

    private static void joinInterrupted() throws Throwable {
        CountDownLatch end = new CountDownLatch(1);
        Suite.Worker w = Suite.start(end::await);
        Suite.Worker joins = Suite.interrupted(w.thread::join);
        Suite.untilWaits(joins);
        joins.thread.interrupt();
        joins.join();
        end.countDown();
        w.join();
    }

    private static void sleepInterrupted() throws Throwable {
        for (int k = 0; k < 20; k++) {
            Suite.Worker w = Suite.interrupted(() -> Thread.sleep(50_000));
            if (k % 2 == 0) {
                Suite.untilWaits(w);
            }
            w.thread.interrupt();
            w.join();
        }
    }

    private static void interruptPending() throws Throwable {
        Suite.start(() -> {
            Thread.currentThread().interrupt();
            Suite.throwsA(InterruptedException.class, () -> Thread.sleep(50_000));
            Suite.check(!Thread.interrupted(), "the interrupt is taken");
            Thread.currentThread().interrupt();
            Suite.check(Thread.interrupted(), "was interrupted");
            Thread.sleep(1);
        }).join();
    }

    private static void permitBefore() throws Throwable {
        Suite.start(() -> {
            LockSupport.unpark(Thread.currentThread());
            LockSupport.unpark(Thread.currentThread());
            LockSupport.park();
        }).join();
    }

    private static void parkHandOver() throws Throwable {
        AtomicInteger turn = new AtomicInteger();
        Thread[] threads = new Thread[2];
        Suite.Worker[] workers = new Suite.Worker[2];
        CountDownLatch ready = new CountDownLatch(1);
        for (int k = 0; k < 2; k++) {
            int me = k;
            workers[k] = Suite.start(() -> {
                ready.await();
                for (int round = 0; round < 2000; round++) {
                    while (turn.get() % 2 != me) {
                        LockSupport.park();
                    }
                    turn.incrementAndGet();
                    LockSupport.unpark(threads[1 - me]);
                }
            });
            threads[k] = workers[k].thread;
        }
        ready.countDown();
        workers[0].join();
        workers[1].join();
        Suite.same(4000, turn.get());
    }

    private static void parkTimed() throws Throwable {
        long end = System.nanoTime() + 1_000_000 * Suite.SHORT_MS;
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
        long until = System.currentTimeMillis() + Suite.SHORT_MS;
        while (System.currentTimeMillis() < until) {
            LockSupport.parkUntil(until);
        }
    }

    private static void parkInterrupted() throws Throwable {
        Suite.Worker w = Suite.start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                LockSupport.park("why");
            }
            LockSupport.park();
            Suite.check(Thread.interrupted(), "is still interrupted");
        });
        Suite.untilWaits(w);
        w.thread.interrupt();
        w.join();
    }

    private static void parkBlocker() throws Throwable {
        AtomicBoolean go = new AtomicBoolean();
        Object why = new Object();
        Suite.Worker w = Suite.start(() -> {
            while (!go.get()) {
                LockSupport.park(why);
            }
        });
        Suite.untilWaits(w);
        while (LockSupport.getBlocker(w.thread) != why) {
            Thread.sleep(1);
        }
        go.set(true);
        LockSupport.unpark(w.thread);
        w.join();
        Suite.check(LockSupport.getBlocker(w.thread) == null, "no blocker after the end");
    }

    private static void monitorCounts() throws Throwable {
        int[] n = new int[1];
        Suite.together(4, () -> {
            for (int k = 0; k < 20_000; k++) {
                synchronized (n) {
                    n[0]++;
                }
            }
        });
        Suite.same(80_000, n[0]);
    }

    private static void notifyOne() throws Throwable {
        int[] tokens = new int[2];
        Suite.Worker[] workers = new Suite.Worker[4];
        for (int k = 0; k < workers.length; k++) {
            workers[k] = Suite.start(() -> {
                synchronized (tokens) {
                    while (tokens[0] == 0) {
                        tokens.wait();
                    }
                    tokens[0]--;
                    tokens[1]++;
                }
            });
        }
        for (int k = 0; k < workers.length; k++) {
            synchronized (tokens) {
                tokens[0]++;
                tokens.notify();
            }
        }
        for (Suite.Worker w : workers) {
            w.join();
        }
        Suite.same(4, tokens[1]);
    }

    private static void notifyAll4() throws Throwable {
        boolean[] open = new boolean[1];
        Suite.Worker[] workers = new Suite.Worker[4];
        for (int k = 0; k < workers.length; k++) {
            workers[k] = Suite.start(() -> {
                synchronized (open) {
                    while (!open[0]) {
                        open.wait();
                    }
                }
            });
            Suite.untilWaits(workers[k]);
        }
        synchronized (open) {
            open[0] = true;
            open.notifyAll();
        }
        for (Suite.Worker w : workers) {
            w.join();
        }
    }

    private static void waitTimed() throws Throwable {
        Object monitor = new Object();
        long end = System.nanoTime() + 1_000_000 * Suite.SHORT_MS;
        synchronized (monitor) {
            while (System.nanoTime() < end) {
                monitor.wait(1 + (end - System.nanoTime()) / 1_000_000);
            }
        }
    }

    private static void waitInterrupted() throws Throwable {
        Object monitor = new Object();
        for (int k = 0; k < 20; k++) {
            boolean timed = k % 2 == 0;
            Suite.Worker w = Suite.interrupted(() -> {
                synchronized (monitor) {
                    while (true) {
                        monitor.wait(timed ? 50_000 : 0);
                    }
                }
            });
            Suite.untilWaits(w);
            w.thread.interrupt();
            w.join();
        }
    }

    private static void notOwner() {
        Suite.throwsA(IllegalMonitorStateException.class, () -> new Object().notify());
        Suite.throwsA(IllegalMonitorStateException.class, () -> new Object().wait(1));
    }

    private static void locals() throws Throwable {
        ThreadLocal<Integer> local = ThreadLocal.withInitial(() -> 7);
        Suite.together(8, () -> {
            for (int k = 0; k < 1000; k++) {
                Suite.same(7 + k, local.get());
                local.set(local.get() + 1);
            }
        });
        Suite.same(7, local.get());
    }

    private static void uncaught() throws Throwable {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        Thread t = new Thread(() -> {
            throw new IllegalStateException("thrown");
        });
        t.setUncaughtExceptionHandler((thread, e) -> seen.add(e.getMessage()));
        t.start();
        t.join();
        Suite.check(seen.contains("thrown"), "the handler saw it");
    }

    private static Suite.Worker[] deadlock(boolean monitors) throws Throwable {
        Object[] m = {new Object(), new Object()};
        ReentrantLock[] l = {new ReentrantLock(), new ReentrantLock()};
        CountDownLatch both = new CountDownLatch(2);
        Suite.Worker[] workers = new Suite.Worker[2];
        for (int k = 0; k < 2; k++) {
            int me = k;
            workers[k] = Suite.start(() -> {
                if (monitors) {
                    synchronized (m[me]) {
                        both.countDown();
                        both.await();
                        synchronized (m[1 - me]) {
                            Suite.check(false, "not reached");
                        }
                    }
                } else {
                    l[me].lock();
                    both.countDown();
                    both.await();
                    l[1 - me].lockInterruptibly();
                }
            });
        }
        return workers;
    }

    /** Each finder must find these two; others may be there from before. */
    private static void finds(boolean monitors) throws Throwable {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        Suite.Worker[] workers = deadlock(monitors);
        int found = 0;
        while (found < 2) {
            Thread.sleep(1);
            long[] ids = monitors ? bean.findMonitorDeadlockedThreads()
                    : bean.findDeadlockedThreads();
            found = 0;
            for (long id : ids == null ? new long[0] : ids) {
                for (Suite.Worker w : workers) {
                    found += w.thread.getId() == id ? 1 : 0;
                }
            }
        }
        for (Suite.Worker w : workers) {
            w.thread.interrupt();
        }
    }

    private static void dump() throws Throwable {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        CountDownLatch end = new CountDownLatch(1);
        Suite.Worker w = Suite.start(end::await);
        Suite.untilWaits(w);
        for (int k = 0; k < 50; k++) {
            int seen = 0;
            for (ThreadInfo info : bean.dumpAllThreads(true, true)) {
                boolean ours = info.getThreadId() == w.thread.getId();
                seen += ours && info.getStackTrace().length > 0 ? 1 : 0;
            }
            Suite.same(1, seen);
            Suite.check(Thread.getAllStackTraces().containsKey(w.thread), "has a stack");
        }
        end.countDown();
        w.join();
    }

    /** Safepoints are reached while threads run, wait and start. */
    private static void collection() throws Throwable {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger made = new AtomicInteger();
        Suite.Worker busy = Suite.start(() -> {
            while (!stop.get()) {
                made.addAndGet(new byte[1000].length);
            }
        });
        for (int k = 0; k < 20; k++) {
            System.gc();
            join();
        }
        stop.set(true);
        busy.join();
    }

    static void tests() {
        Suite.test("Thread.join", Threads::join);
        Suite.test("Thread.join.timed", Threads::joinTimed);
        Suite.test("Thread.join.interrupted", Threads::joinInterrupted);
        Suite.test("Thread.sleep", () -> Suite.lasts(() -> Thread.sleep(Suite.SHORT_MS)));
        Suite.test("Thread.sleep.interrupted", Threads::sleepInterrupted);
        Suite.test("Thread.interrupt.pending", Threads::interruptPending);
        Suite.test("Thread.uncaught", Threads::uncaught);
        Suite.test("ThreadLocal", Threads::locals);
        Suite.test("LockSupport.permit", Threads::permitBefore);
        Suite.test("LockSupport.hand-over", Threads::parkHandOver);
        Suite.test("LockSupport.timed", Threads::parkTimed);
        Suite.test("LockSupport.interrupted", Threads::parkInterrupted);
        Suite.test("LockSupport.blocker", Threads::parkBlocker);
        Suite.test("Object.synchronized", Threads::monitorCounts);
        Suite.test("Object.notify", Threads::notifyOne);
        Suite.test("Object.notifyAll", Threads::notifyAll4);
        Suite.test("Object.wait.timed", Threads::waitTimed);
        Suite.test("Object.wait.interrupted", Threads::waitInterrupted);
        Suite.test("Object.not-owner", Threads::notOwner);
        Suite.test("ThreadMXBean.dump", Threads::dump);
        Suite.test("ThreadMXBean.deadlock.locks", () -> finds(false));
        Suite.test("ThreadMXBean.deadlock.monitors", () -> finds(true));
        Suite.test("System.gc", Threads::collection);
    }
}
