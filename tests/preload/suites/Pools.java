// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Executors, futures, fork and join, timers. */
final class Pools {
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;

    private Pools() {}

    private static void ends(ExecutorService pool) throws Throwable {
        pool.shutdown();
        Suite.check(pool.awaitTermination(Suite.PATIENCE_S, TimeUnit.SECONDS), "ends");
        Suite.check(pool.isTerminated(), "has ended");
        Suite.throwsA(RejectedExecutionException.class, () -> pool.execute(() -> { }));
    }

    private static void tasks(ExecutorService pool) throws Throwable {
        List<Future<Integer>> futures = new ArrayList<>();
        for (int k = 0; k < 1000; k++) {
            int value = k;
            futures.add(pool.submit(() -> value));
        }
        int sum = 0;
        for (Future<Integer> f : futures) {
            sum += f.get();
        }
        Suite.same(1000 * 999 / 2, sum);
        ends(pool);
    }

    private static void invoke() throws Throwable {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Callable<Integer>> calls = new ArrayList<>();
        for (int k = 0; k < 50; k++) {
            calls.add(() -> 1);
        }
        int sum = 0;
        for (Future<Integer> f : pool.invokeAll(calls)) {
            sum += f.get();
        }
        Suite.same(50, sum);
        Suite.same(1, pool.invokeAny(calls));
        CountDownLatch never = new CountDownLatch(1);
        calls.add(() -> {
            never.await();
            return 0;
        });
        int cancelled = 0;
        for (Future<Integer> f : pool.invokeAll(calls, 10 * Suite.SHORT_MS, MS)) {
            cancelled += f.isCancelled() ? 1 : 0;
        }
        Suite.check(cancelled >= 1, "the last is cancelled");
        ends(pool);
    }

    private static void futures() throws Throwable {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch hit = new CountDownLatch(1);
        CountDownLatch began = new CountDownLatch(1);
        Future<?> waits = pool.submit(() -> {
            began.countDown();
            try {
                never.await();
            } catch (InterruptedException e) {
                hit.countDown();
            }
        });
        Suite.lasts(() -> Suite.throwsA(TimeoutException.class,
                () -> waits.get(Suite.SHORT_MS, MS)));
        began.await();
        Suite.check(waits.cancel(true), "is cancelled");
        Suite.throwsA(CancellationException.class, waits::get);
        hit.await();
        Future<?> fails = pool.submit(() -> {
            throw new IllegalStateException("task");
        });
        Suite.throwsA(ExecutionException.class, fails::get);
        ends(pool);
    }

    private static void shutdownNow() throws Throwable {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch began = new CountDownLatch(2);
        for (int k = 0; k < 5; k++) {
            pool.submit(() -> {
                began.countDown();
                never.await();
                return 0;
            });
        }
        began.await();
        Suite.same(3, pool.shutdownNow().size());
        Suite.check(pool.awaitTermination(Suite.PATIENCE_S, TimeUnit.SECONDS), "ends");
    }

    private static void saturated() throws Throwable {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 2, 5, MS, new SynchronousQueue<>());
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger done = new AtomicInteger();
        for (int k = 0; k < 2; k++) {
            pool.execute(() -> {
                try {
                    end.await();
                } catch (InterruptedException e) {
                    return;
                }
                done.incrementAndGet();
            });
        }
        Suite.throwsA(RejectedExecutionException.class, () -> pool.execute(() -> { }));
        pool.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
        pool.execute(done::incrementAndGet);
        Suite.same(1, done.get());
        end.countDown();
        while (pool.getPoolSize() > 1) {
            Thread.sleep(1);
        }
        Suite.same(3, done.get());
        pool.setRejectedExecutionHandler(new ThreadPoolExecutor.AbortPolicy());
        ends(pool);
    }

    private static void completion() throws Throwable {
        ExecutorService pool = Executors.newCachedThreadPool();
        ExecutorCompletionService<Integer> service = new ExecutorCompletionService<>(pool);
        for (int k = 0; k < 100; k++) {
            int value = k;
            service.submit(() -> value);
        }
        int sum = 0;
        for (int k = 0; k < 100; k++) {
            sum += service.take().get();
        }
        Suite.same(100 * 99 / 2, sum);
        ends(pool);
    }

    private static final class Fibonacci extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        private final int n;

        Fibonacci(int n) {
            this.n = n;
        }

        @Override
        protected Integer compute() {
            if (n < 2) {
                return n;
            }
            Fibonacci left = new Fibonacci(n - 1);
            left.fork();
            return new Fibonacci(n - 2).compute() + left.join();
        }
    }

    private static void forkJoin(boolean async) throws Throwable {
        ForkJoinPool pool = new ForkJoinPool(4,
                ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, async);
        for (int k = 0; k < 5; k++) {
            Suite.same(6765, pool.invoke(new Fibonacci(20)));
        }
        for (int k = 0; k < 500; k++) {
            Suite.same(1, pool.submit(new Fibonacci(2)).get());
        }
        Suite.check(pool.awaitQuiescence(Suite.PATIENCE_S, TimeUnit.SECONDS), "is quiet");
        ends(pool);
    }

    private static void forkThrows() throws Throwable {
        RecursiveAction fails = new RecursiveAction() {
            private static final long serialVersionUID = 1;

            @Override
            protected void compute() {
                throw new IllegalStateException("task");
            }
        };
        Suite.throwsA(IllegalStateException.class, () -> ForkJoinPool.commonPool().invoke(fails));
        Suite.check(fails.isCompletedAbnormally(), "ended badly");
    }

    private static void blocker() throws Throwable {
        ForkJoinPool pool = new ForkJoinPool(1);
        CountDownLatch latch = new CountDownLatch(1);
        Future<?> waits = pool.submit(() -> {
            ForkJoinPool.managedBlock(new ForkJoinPool.ManagedBlocker() {
                @Override
                public boolean block() throws InterruptedException {
                    latch.await();
                    return true;
                }

                @Override
                public boolean isReleasable() {
                    return latch.getCount() == 0;
                }
            });
            return 0;
        });
        pool.submit(latch::countDown).get();
        waits.get();
        ends(pool);
    }

    private static void completable() throws Throwable {
        for (int k = 0; k < 300; k++) {
            CompletableFuture<Integer> first = new CompletableFuture<>();
            CompletableFuture<Integer> second = CompletableFuture.supplyAsync(() -> 2);
            CompletableFuture<Integer> sum = first.thenCombineAsync(second, Integer::sum)
                    .thenApplyAsync(n -> n * 10);
            Suite.Worker w = Suite.start(() -> Suite.same(50, sum.get()));
            first.complete(3);
            Suite.same(50, sum.join());
            w.join();
        }
        CompletableFuture<?>[] all = IntStream.range(0, 50)
                .mapToObj(k -> CompletableFuture.runAsync(() -> { }))
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(all).join();
        CompletableFuture.anyOf(all).join();
    }

    private static void completableBad() throws Throwable {
        CompletableFuture<Integer> never = new CompletableFuture<>();
        Suite.lasts(() -> Suite.throwsA(TimeoutException.class,
                () -> never.get(Suite.SHORT_MS, MS)));
        Suite.Worker w = Suite.interrupted(never::get);
        Suite.untilWaits(w);
        w.thread.interrupt();
        w.join();
        Suite.same(7, never.copy().completeOnTimeout(7, Suite.SHORT_MS, MS).join());
        Suite.throwsA(CompletionException.class,
                () -> never.copy().orTimeout(Suite.SHORT_MS, MS).join());
        CompletableFuture<Integer> fails = CompletableFuture.supplyAsync(() -> {
            throw new IllegalStateException("task");
        });
        Suite.throwsA(ExecutionException.class, fails::get);
        Suite.same(4, fails.exceptionally(e -> 4).join());
        never.cancel(true);
        Suite.throwsA(CancellationException.class, never::join);
    }

    private static void scheduled() throws Throwable {
        ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(2);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        Suite.lasts(() -> pool.schedule(() -> 1, Suite.SHORT_MS, MS).get());
        ScheduledFuture<?> late = pool.schedule(() -> order.add(2), 50, TimeUnit.SECONDS);
        pool.schedule(() -> order.add(1), 1, MS).get();
        CountDownLatch rate = new CountDownLatch(20);
        CountDownLatch delay = new CountDownLatch(20);
        Future<?> a = pool.scheduleAtFixedRate(rate::countDown, 1, 1, MS);
        Future<?> b = pool.scheduleWithFixedDelay(delay::countDown, 1, 1, MS);
        rate.await();
        delay.await();
        a.cancel(false);
        b.cancel(false);
        Suite.check(late.cancel(false), "has not begun");
        Suite.same(List.of(1), order);
        ends(pool);
    }

    private static void timer() throws Throwable {
        Timer timer = new Timer(true);
        CountDownLatch often = new CountDownLatch(20);
        CountDownLatch once = new CountDownLatch(1);
        TimerTask task = new TimerTask() {
            @Override
            public void run() {
                often.countDown();
            }
        };
        timer.schedule(task, 1, 1);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                once.countDown();
            }
        }, Suite.SHORT_MS);
        once.await();
        often.await();
        Suite.check(task.cancel(), "was to come again");
        timer.cancel();
        Suite.throwsA(IllegalStateException.class, () -> timer.schedule(task, 1));
    }

    private static void parallel() {
        long sum = IntStream.range(0, 1_000_000).parallel().asLongStream().sum();
        Suite.same(499_999_500_000L, sum);
    }

    private static void publisher() throws Throwable {
        AtomicInteger sum = new AtomicInteger();
        CompletableFuture<Void> consumed;
        try (SubmissionPublisher<Integer> p = new SubmissionPublisher<>(Runnable::run, 4)) {
            consumed = p.consume(sum::addAndGet);
            for (int k = 1; k <= 1000; k++) {
                p.submit(k);
            }
        }
        consumed.join();
        Suite.same(1000 * 1001 / 2, sum.get());
    }

    static void tests() {
        Suite.test("Executors.fixed", () -> tasks(Executors.newFixedThreadPool(4)));
        Suite.test("Executors.single", () -> tasks(Executors.newSingleThreadExecutor()));
        Suite.test("Executors.cached", () -> tasks(Executors.newCachedThreadPool()));
        Suite.test("Executors.stealing", () -> tasks(Executors.newWorkStealingPool(3)));
        Suite.test("Executors.scheduled", () -> tasks(Executors.newScheduledThreadPool(2)));
        Suite.test("ExecutorService.invoke", Pools::invoke);
        Suite.test("ExecutorService.shutdownNow", Pools::shutdownNow);
        Suite.test("ThreadPoolExecutor.saturated", Pools::saturated);
        Suite.test("ExecutorCompletionService", Pools::completion);
        Suite.test("Future", Pools::futures);
        Suite.test("ForkJoinPool.recursive", () -> forkJoin(false));
        Suite.test("ForkJoinPool.async", () -> forkJoin(true));
        Suite.test("ForkJoinPool.throws", Pools::forkThrows);
        Suite.test("ForkJoinPool.managedBlock", Pools::blocker);
        Suite.test("CompletableFuture", Pools::completable);
        Suite.test("CompletableFuture.bad", Pools::completableBad);
        Suite.test("ScheduledThreadPoolExecutor", Pools::scheduled);
        Suite.test("Timer", Pools::timer);
        Suite.test("Stream.parallel", Pools::parallel);
        Suite.test("SubmissionPublisher", Pools::publisher);
    }
}
