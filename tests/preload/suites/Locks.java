// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** Locks of java.util.concurrent.locks. */
final class Locks {
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;

    private Locks() {}

    private static void counts(Lock lock) throws Throwable {
        int[] n = new int[1];
        Suite.together(4, () -> {
            for (int k = 0; k < 5000; k++) {
                lock.lock();
                try {
                    n[0]++;
                } finally {
                    lock.unlock();
                }
            }
        });
        Suite.same(20_000, n[0]);
    }

    private static void refused(Lock held, Lock lock) throws Throwable {
        held.lock();
        Suite.start(() -> {
            Suite.check(!lock.tryLock(), "is held");
            Suite.lasts(() -> Suite.check(!lock.tryLock(Suite.SHORT_MS, MS), "is held"));
        }).join();
        Suite.Worker w = Suite.start(() -> {
            Suite.check(lock.tryLock(Suite.PATIENCE_S, TimeUnit.SECONDS), "is given");
            lock.unlock();
        });
        Suite.untilWaits(w);
        held.unlock();
        w.join();
    }

    private static void interrupted(Lock held, Lock lock) throws Throwable {
        held.lock();
        Suite.Worker plain = Suite.interrupted(lock::lockInterruptibly);
        Suite.Worker timed = Suite.interrupted(() -> lock.tryLock(50, TimeUnit.SECONDS));
        Suite.untilWaits(plain);
        Suite.untilWaits(timed);
        plain.thread.interrupt();
        timed.thread.interrupt();
        plain.join();
        timed.join();
        held.unlock();
        Suite.start(() -> {
            lock.lock();
            lock.unlock();
        }).join();
    }

    private static void reentrant() throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        for (int k = 0; k < 5; k++) {
            lock.lock();
        }
        Suite.same(5, lock.getHoldCount());
        Suite.start(() -> Suite.throwsA(IllegalMonitorStateException.class, lock::unlock)).join();
        for (int k = 0; k < 5; k++) {
            Suite.check(lock.isHeldByCurrentThread(), "is held");
            lock.unlock();
        }
        Suite.check(!lock.isLocked(), "is free");
        Suite.throwsA(IllegalMonitorStateException.class, lock::unlock);
    }

    private static void fair() throws Throwable {
        ReentrantLock lock = new ReentrantLock(true);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<Suite.Worker> workers = new ArrayList<>();
        lock.lock();
        for (int k = 0; k < 6; k++) {
            int me = k;
            Suite.Worker w = Suite.start(() -> {
                lock.lock();
                order.add(me);
                lock.unlock();
            });
            while (!lock.hasQueuedThread(w.thread)) {
                Thread.sleep(1);
            }
            workers.add(w);
        }
        Suite.same(6, lock.getQueueLength());
        lock.unlock();
        for (Suite.Worker w : workers) {
            w.join();
        }
        Suite.same(List.of(0, 1, 2, 3, 4, 5), order);
    }

    private static void buffer() throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        Condition full = lock.newCondition();
        Condition empty = lock.newCondition();
        int[] slot = {-1};
        AtomicInteger sum = new AtomicInteger();
        Suite.Worker takes = Suite.start(() -> {
            for (int k = 0; k < 3000; k++) {
                lock.lock();
                while (slot[0] < 0) {
                    full.await();
                }
                sum.addAndGet(slot[0]);
                slot[0] = -1;
                empty.signal();
                lock.unlock();
            }
        });
        for (int k = 0; k < 3000; k++) {
            lock.lock();
            while (slot[0] >= 0) {
                empty.await();
            }
            slot[0] = k;
            full.signal();
            lock.unlock();
        }
        takes.join();
        Suite.same(3000 * 2999 / 2, sum.get());
    }

    private static void conditionTimed() throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        Condition c = lock.newCondition();
        lock.lock();
        long left = MS.toNanos(Suite.SHORT_MS);
        long end = System.nanoTime() + left;
        while (left > 0) {
            left = c.awaitNanos(left);
        }
        Suite.check(System.nanoTime() >= end, "awaitNanos is not early");
        Suite.lasts(() -> Suite.check(!c.await(Suite.SHORT_MS, MS), "nobody signals"));
        Suite.check(!c.awaitUntil(new java.util.Date(1)), "is past");
        Suite.check(c.awaitNanos(-5) <= 0, "is past");
        Suite.check(lock.isHeldByCurrentThread(), "is held again");
        lock.unlock();
        Suite.throwsA(IllegalMonitorStateException.class, c::signal);
        Suite.throwsA(IllegalMonitorStateException.class, c::await);
    }

    private static void conditionInterrupted() throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        Condition c = lock.newCondition();
        for (int k = 0; k < 20; k++) {
            boolean timed = k % 2 == 0;
            Suite.Worker w = Suite.start(() -> {
                lock.lock();
                Suite.throwsA(InterruptedException.class, () -> {
                    while (true) {
                        if (timed) {
                            c.awaitNanos(TimeUnit.SECONDS.toNanos(50));
                        } else {
                            c.await();
                        }
                    }
                });
                Suite.check(lock.isHeldByCurrentThread(), "is held again");
                lock.unlock();
            });
            Suite.untilWaits(w);
            w.thread.interrupt();
            w.join();
        }
    }

    private static void uninterruptibly() throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        Condition c = lock.newCondition();
        boolean[] go = new boolean[1];
        Suite.Worker w = Suite.start(() -> {
            lock.lock();
            while (!go[0]) {
                c.awaitUninterruptibly();
            }
            lock.unlock();
            Suite.check(Thread.interrupted(), "the interrupt is kept");
        });
        Suite.untilWaits(w);
        w.thread.interrupt();
        lock.lock();
        go[0] = true;
        c.signalAll();
        lock.unlock();
        w.join();
    }

    private static void signalAll() throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        Condition c = lock.newCondition();
        AtomicInteger passed = new AtomicInteger();
        int[] round = new int[1];
        List<Suite.Worker> workers = new ArrayList<>();
        for (int k = 0; k < 5; k++) {
            workers.add(Suite.start(() -> {
                lock.lock();
                while (round[0] == 0) {
                    c.await();
                }
                passed.incrementAndGet();
                lock.unlock();
            }));
        }
        while (true) {
            lock.lock();
            try {
                if (lock.getWaitQueueLength(c) == 5) {
                    round[0] = 1;
                    c.signalAll();
                    break;
                }
            } finally {
                lock.unlock();
            }
            Thread.sleep(1);
        }
        for (Suite.Worker w : workers) {
            w.join();
        }
        Suite.same(5, passed.get());
    }

    private static void readersTogether() throws Throwable {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        java.util.concurrent.CyclicBarrier all = new java.util.concurrent.CyclicBarrier(4);
        Suite.together(4, () -> {
            for (int k = 0; k < 200; k++) {
                lock.readLock().lock();
                all.await();
                lock.readLock().unlock();
            }
        });
        Suite.same(0, lock.getReadLockCount());
    }

    private static void downgrade() throws Throwable {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        lock.writeLock().lock();
        lock.readLock().lock();
        lock.writeLock().unlock();
        Suite.start(() -> {
            Suite.check(lock.readLock().tryLock(), "readers enter");
            Suite.check(!lock.writeLock().tryLock(), "writers do not");
            lock.readLock().unlock();
        }).join();
        lock.readLock().unlock();
        Suite.throwsA(IllegalMonitorStateException.class, () -> lock.readLock().unlock());
    }

    /** Two fields that readers must see equal. */
    private static void readWrite(boolean fair) throws Throwable {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock(fair);
        int[] pair = new int[2];
        AtomicInteger role = new AtomicInteger();
        Suite.together(4, () -> {
            boolean writes = role.getAndIncrement() % 2 == 0;
            for (int k = 0; k < 3000; k++) {
                Lock mine = writes ? lock.writeLock() : lock.readLock();
                mine.lock();
                try {
                    Suite.same(pair[0], pair[1]);
                    pair[0] += writes ? 1 : 0;
                    pair[1] += writes ? 1 : 0;
                } finally {
                    mine.unlock();
                }
            }
        });
        Suite.same(6000, pair[0]);
    }

    private static void stamped() throws Throwable {
        StampedLock lock = new StampedLock();
        int[] pair = new int[2];
        AtomicInteger role = new AtomicInteger();
        Suite.together(4, () -> {
            boolean writes = role.getAndIncrement() % 2 == 0;
            for (int k = 0; k < 3000; k++) {
                long stamp = writes ? lock.writeLock() : lock.readLock();
                Suite.same(pair[0], pair[1]);
                pair[0] += writes ? 1 : 0;
                pair[1] += writes ? 1 : 0;
                lock.unlock(stamp);
            }
        });
        Suite.same(6000, pair[0]);
    }

    private static void stampedTimed() throws Throwable {
        StampedLock lock = new StampedLock();
        long stamp = lock.writeLock();
        Suite.lasts(() -> Suite.same(0L, lock.tryWriteLock(Suite.SHORT_MS, MS)));
        Suite.lasts(() -> Suite.same(0L, lock.tryReadLock(Suite.SHORT_MS, MS)));
        Suite.Worker w = Suite.interrupted(lock::readLockInterruptibly);
        Suite.untilWaits(w);
        w.thread.interrupt();
        w.join();
        lock.unlockWrite(stamp);
        long seen = lock.tryOptimisticRead();
        Suite.check(lock.validate(seen), "nobody wrote");
        lock.unlockWrite(lock.writeLock());
        Suite.check(!lock.validate(seen), "somebody wrote");
        long read = lock.readLock();
        long write = lock.tryConvertToWriteLock(read);
        Suite.check(write != 0 && lock.isWriteLocked(), "converted");
        lock.unlock(write);
    }

    static void tests() {
        for (boolean fair : new boolean[] {false, true}) {
            String kind = fair ? ".fair" : ".unfair";
            ReentrantLock lock = new ReentrantLock(fair);
            ReentrantReadWriteLock rw = new ReentrantReadWriteLock(fair);
            Suite.test("ReentrantLock.counts" + kind, () -> counts(lock));
            Suite.test("ReentrantLock.timed" + kind, () -> refused(lock, lock));
            Suite.test("ReentrantLock.interrupted" + kind, () -> interrupted(lock, lock));
            Suite.test("ReadWriteLock.counts" + kind, () -> counts(rw.writeLock()));
            Suite.test("ReadWriteLock.pairs" + kind, () -> readWrite(fair));
            Suite.test("ReadWriteLock.write-read" + kind,
                    () -> refused(rw.writeLock(), rw.readLock()));
            Suite.test("ReadWriteLock.read-write" + kind,
                    () -> refused(rw.readLock(), rw.writeLock()));
            Suite.test("ReadWriteLock.read.interrupted" + kind,
                    () -> interrupted(rw.writeLock(), rw.readLock()));
            Suite.test("ReadWriteLock.write.interrupted" + kind,
                    () -> interrupted(rw.readLock(), rw.writeLock()));
        }
        Suite.test("ReentrantLock.reentrant", Locks::reentrant);
        Suite.test("ReentrantLock.order", Locks::fair);
        Suite.test("Condition.buffer", Locks::buffer);
        Suite.test("Condition.timed", Locks::conditionTimed);
        Suite.test("Condition.interrupted", Locks::conditionInterrupted);
        Suite.test("Condition.uninterruptibly", Locks::uninterruptibly);
        Suite.test("Condition.signalAll", Locks::signalAll);
        Suite.test("ReadWriteLock.readers", Locks::readersTogether);
        Suite.test("ReadWriteLock.downgrade", Locks::downgrade);
        StampedLock stamped = new StampedLock();
        Suite.test("StampedLock.counts", () -> counts(stamped.asWriteLock()));
        Suite.test("StampedLock.pairs", Locks::stamped);
        Suite.test("StampedLock.timed", Locks::stampedTimed);
    }
}
