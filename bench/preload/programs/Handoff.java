// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;

/**
 * Handoff WORKLOAD SECONDS: work handed over by means of java.util.concurrent. An operation is a
 * round trip, or a batch. The lines that are printed are those of meter.h.
 */
public final class Handoff {
    private static final double WARM = 0.5; // the compiler of the virtual machine needs some time
    private static final int STRIDE = 16;
    private static final int LAST = -1;

    private Handoff() {
    }

    private static double past(long at) {
        return (System.nanoTime() - at) * 1e-9;
    }

    private static void measure(double seconds, Callable<?> turn) throws Exception {
        long at = System.nanoTime();
        while (past(at) < Math.max(seconds * WARM, 0.1)) {
            turn.call();
        }
        System.out.println("begin");
        System.out.flush();
        at = System.nanoTime();
        long operations = 0;
        double taken;
        do {
            for (int i = 0; i < STRIDE; i++) {
                turn.call();
            }
            operations += STRIDE;
            taken = past(at);
        } while (taken < seconds);
        System.out.printf("{\"ops\": %d, \"seconds\": %.9f}%n", operations, taken);
    }

    private static void queues(double seconds, BlockingQueue<Integer> there,
            BlockingQueue<Integer> back) throws Exception {
        Thread other = new Thread(() -> {
            try {
                for (int item = there.take(); item != LAST; item = there.take()) {
                    back.put(item + 1);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        other.start();
        measure(seconds, () -> {
            there.put(1);
            if (back.take() != 2) {
                throw new IllegalStateException("another item");
            }
            return null;
        });
        there.put(LAST);
        other.join();
    }

    private static void submit(double seconds) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(1);
        measure(seconds, () -> {
            if (pool.submit(() -> 2).get() != 2) {
                throw new IllegalStateException("another result");
            }
            return null;
        });
        pool.shutdown();
    }

    private static int work(int steps) {
        int x = steps;
        for (int i = 0; i < steps; i++) {
            x = x * 1664525 + 1013904223;
        }
        return x;
    }

    /** Steps of work() that take 5 us: of the fastest of many, when it has been compiled. */
    private static int calibrated() {
        int steps = 1000;
        int sum = 0;
        double best = 1;
        for (int i = 0; i < 20000; i++) {
            long at = System.nanoTime();
            sum += work(steps);
            best = Math.min(best, past(at));
        }
        return sum == 1 ? 1 : (int) (steps * 5e-6 / best);
    }

    private static void batches(double seconds) throws Exception {
        final int steps = calibrated();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            tasks.add(() -> work(steps));
        }
        measure(seconds, () -> {
            int sum = 0;
            for (Future<Integer> result : pool.invokeAll(tasks)) {
                sum += result.get();
            }
            return sum;
        });
        pool.shutdown();
    }

    /** The workload that is named, and its time. */
    public static void main(String[] words) throws Exception {
        double seconds = words.length == 2 ? Double.parseDouble(words[1]) : 0;
        String name = seconds > 0 && seconds <= 3600 ? words[0] : "";
        switch (name) {
            case "synchronous":
                queues(seconds, new SynchronousQueue<>(), new SynchronousQueue<>());
                break;
            case "linked":
                queues(seconds, new LinkedBlockingQueue<>(), new LinkedBlockingQueue<>());
                break;
            case "forkjoin":
                submit(seconds);
                break;
            case "batches":
                batches(seconds);
                break;
            default:
                System.err.println("want one of synchronous, linked, forkjoin, batches; "
                        + "and SECONDS, up to 3600");
                System.exit(2);
        }
    }
}
