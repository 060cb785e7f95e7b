// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Tests of java.util.concurrent and of threads: a line for each, "name ok" or "name FAIL why". */
public final class Suite {
    static final long PATIENCE_S = 60;
    /** Where a wait is expected to time out, in milliseconds. */
    static final long SHORT_MS = 30;

    interface Body {
        void run() throws Throwable;
    }

    private static int failed;

    private Suite() {}

    static void check(boolean good, String what) {
        if (!good) {
            throw new AssertionError(what);
        }
    }

    static void same(Object expected, Object got) {
        check(expected.equals(got), "expected " + expected + ", got " + got);
    }

    static void throwsA(Class<? extends Throwable> kind, Body body) {
        try {
            body.run();
        } catch (Throwable t) {
            check(kind.isInstance(t), "expected " + kind.getSimpleName() + ", got " + t);
            return;
        }
        check(false, "expected " + kind.getSimpleName() + ", got nothing");
    }

    /** What says false, or throws nothing, not before its time. */
    static void lasts(Body body) throws Throwable {
        long start = System.nanoTime();
        body.run();
        long lasted = System.nanoTime() - start;
        check(lasted >= TimeUnit.MILLISECONDS.toNanos(SHORT_MS), "early: " + lasted + " ns");
    }

    /** A thread that runs the body; join() says what it threw. */
    static final class Worker {
        final Thread thread;
        private final FutureTask<Object> task;

        Worker(Callable<Object> body) {
            task = new FutureTask<>(body);
            thread = new Thread(task);
            thread.setDaemon(true);
            thread.start();
        }

        Object join() throws Throwable {
            Object result = task.get(PATIENCE_S, TimeUnit.SECONDS);
            thread.join();
            return result;
        }
    }

    static Worker start(Body body) {
        return new Worker(() -> {
            try {
                body.run();
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable t) {
                throw new IllegalStateException(t);
            }
            return "done";
        });
    }

    /** A thread that must be interrupted in what it does. */
    static Worker interrupted(Body body) {
        return start(() -> throwsA(InterruptedException.class, body));
    }

    static void together(int n, Body body) throws Throwable {
        List<Worker> workers = new ArrayList<>();
        for (int k = 0; k < n; k++) {
            workers.add(start(body));
        }
        for (Worker w : workers) {
            w.join();
        }
    }

    /** Until it waits for something; by what the virtual machine says, not by time. */
    static void untilWaits(Worker w) throws InterruptedException {
        while (true) {
            Thread.State state = w.thread.getState();
            if (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING
                    || state == Thread.State.BLOCKED) {
                return;
            }
            check(state != Thread.State.TERMINATED, "ended and did not wait");
            Thread.sleep(1);
        }
    }

    static void test(String name, Body body) {
        Worker w = start(body);
        String verdict = "ok";
        try {
            w.join();
        } catch (java.util.concurrent.ExecutionException e) {
            verdict = "FAIL " + e.getCause();
        } catch (Throwable t) {
            verdict = "FAIL does not end: " + t;
        }
        failed += verdict.equals("ok") ? 0 : 1;
        System.out.println(name + " " + verdict.replace('\n', ' '));
    }

    public static void main(String[] args) {
        Threads.tests();
        Locks.tests();
        Gates.tests();
        Queues.tests();
        Pools.tests();
        System.out.flush();
        Runtime.getRuntime().halt(failed == 0 ? 0 : 1);
    }
}
