// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Blocking queues: the same tests for all kinds, and what only some of them do. */
final class Queues {
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;

    private Queues() {}

    private static void sums(BlockingQueue<Integer> q) throws Throwable {
        AtomicLong sum = new AtomicLong();
        List<Suite.Worker> workers = new ArrayList<>();
        for (int k = 0; k < 3; k++) {
            workers.add(Suite.start(() -> {
                for (int n = 1; n <= 2000; n++) {
                    q.put(n);
                }
            }));
            workers.add(Suite.start(() -> {
                for (int n = 1; n <= 2000; n++) {
                    sum.addAndGet(q.take());
                }
            }));
        }
        for (Suite.Worker w : workers) {
            w.join();
        }
        Suite.same(3L * 2000 * 2001 / 2, sum.get());
        Suite.check(q.isEmpty(), "is empty");
    }

    private static void order(BlockingQueue<Integer> q) throws Throwable {
        Suite.Worker w = Suite.start(() -> {
            for (int k = 0; k < 3000; k++) {
                q.put(k);
            }
        });
        for (int k = 0; k < 3000; k++) {
            Suite.same(k, q.take());
        }
        w.join();
    }

    private static void timed(BlockingQueue<Integer> q) throws Throwable {
        Suite.lasts(() -> Suite.check(q.poll(Suite.SHORT_MS, MS) == null, "is empty"));
        Suite.Worker w = Suite.start(
                () -> Suite.same(5, q.poll(Suite.PATIENCE_S, TimeUnit.SECONDS)));
        Suite.untilWaits(w);
        q.put(5);
        w.join();
        int room = q.remainingCapacity();
        if (room < 100) {
            for (int k = 0; k < room; k++) {
                q.put(k);
            }
            Suite.lasts(() -> Suite.check(!q.offer(9, Suite.SHORT_MS, MS), "is full"));
            Suite.same(room, q.drainTo(new ArrayList<>()));
        }
    }

    private static void interrupted(BlockingQueue<Integer> q) throws Throwable {
        Suite.Worker take = Suite.interrupted(q::take);
        Suite.Worker poll = Suite.interrupted(() -> q.poll(50, TimeUnit.SECONDS));
        Suite.untilWaits(take);
        Suite.untilWaits(poll);
        take.thread.interrupt();
        poll.thread.interrupt();
        take.join();
        poll.join();
        if (q.remainingCapacity() < 100) {
            Suite.Worker put = Suite.interrupted(() -> {
                while (true) {
                    q.put(1);
                }
            });
            Suite.untilWaits(put);
            put.thread.interrupt();
            put.join();
            q.clear();
        }
    }

    private static void transfer() throws Throwable {
        LinkedTransferQueue<Integer> q = new LinkedTransferQueue<>();
        Suite.check(!q.tryTransfer(1), "nobody takes");
        Suite.lasts(() -> Suite.check(!q.tryTransfer(1, Suite.SHORT_MS, MS), "nobody takes"));
        Suite.check(q.isEmpty(), "nothing is left");
        Suite.Worker gives = Suite.start(() -> {
            for (int k = 0; k < 2000; k++) {
                q.transfer(k);
            }
        });
        for (int k = 0; k < 2000; k++) {
            Suite.same(k, q.take());
        }
        gives.join();
        Suite.Worker w = Suite.interrupted(() -> q.transfer(1));
        Suite.untilWaits(w);
        w.thread.interrupt();
        w.join();
    }

    private static void bothEnds() throws Throwable {
        LinkedBlockingDeque<Integer> q = new LinkedBlockingDeque<>(2);
        Suite.Worker w = Suite.start(() -> {
            for (int k = 1; k <= 2000; k++) {
                if (k % 2 == 0) {
                    q.putFirst(k);
                } else {
                    q.putLast(k);
                }
            }
        });
        long sum = 0;
        for (int k = 0; k < 2000; k++) {
            sum += k % 3 == 0 ? q.takeFirst() : q.takeLast();
        }
        w.join();
        Suite.same(2000L * 2001 / 2, sum);
    }

    private static void priority() throws Throwable {
        PriorityBlockingQueue<Integer> q = new PriorityBlockingQueue<>();
        for (int k = 0; k < 100; k++) {
            q.put(k * 37 % 100);
        }
        for (int k = 0; k < 100; k++) {
            Suite.same(k, q.take());
        }
    }

    /** Ready at a time of System.nanoTime(). */
    private static final class Later implements Delayed {
        private final long at;

        Later(long ms) {
            at = System.nanoTime() + MS.toNanos(ms);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(at - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(at, ((Later) other).at);
        }
    }

    private static void delays() throws Throwable {
        DelayQueue<Later> q = new DelayQueue<>();
        AtomicLong taken = new AtomicLong();
        Suite.Worker[] takers = new Suite.Worker[3];
        for (int k = 0; k < takers.length; k++) {
            takers[k] = Suite.start(() -> {
                for (int n = 0; n < 10; n++) {
                    Later got = q.take();
                    Suite.check(got.getDelay(TimeUnit.NANOSECONDS) <= 0, "is not early");
                    taken.incrementAndGet();
                }
            });
        }
        for (int k = 30; k > 0; k--) {
            q.put(new Later(k));
        }
        for (Suite.Worker w : takers) {
            w.join();
        }
        Suite.same(30L, taken.get());
        q.put(new Later(50_000));
        Suite.check(q.poll() == null, "is not ready");
        Suite.lasts(() -> Suite.check(q.poll(Suite.SHORT_MS, MS) == null, "is not ready"));
    }

    private static void all(String name, BlockingQueue<Integer> q, boolean ordered) {
        Suite.test(name + ".sums", () -> sums(q));
        if (ordered) {
            Suite.test(name + ".order", () -> order(q));
        }
        Suite.test(name + ".timed", () -> timed(q));
        Suite.test(name + ".interrupted", () -> interrupted(q));
    }

    static void tests() {
        all("ArrayBlockingQueue", new ArrayBlockingQueue<>(4), true);
        all("ArrayBlockingQueue.fair", new ArrayBlockingQueue<>(4, true), true);
        all("LinkedBlockingQueue", new LinkedBlockingQueue<>(), true);
        all("LinkedBlockingQueue.bounded", new LinkedBlockingQueue<>(3), true);
        all("LinkedBlockingDeque", new LinkedBlockingDeque<>(3), true);
        all("LinkedTransferQueue", new LinkedTransferQueue<>(), true);
        all("PriorityBlockingQueue", new PriorityBlockingQueue<>(), false);
        all("SynchronousQueue", new SynchronousQueue<>(), true);
        all("SynchronousQueue.fair", new SynchronousQueue<>(true), true);
        Suite.test("LinkedTransferQueue.transfer", Queues::transfer);
        Suite.test("LinkedBlockingDeque.ends", Queues::bothEnds);
        Suite.test("PriorityBlockingQueue.order", Queues::priority);
        Suite.test("DelayQueue", Queues::delays);
    }
}
