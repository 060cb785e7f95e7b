// SPDX-License-Identifier: MIT
// handoff WORKLOAD SECONDS: two threads in turn, by means of .NET's library. An operation is a
// round trip. The lines that are printed are those of meter.h.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;

interface IWay
{
    // Lets the other thread go on.
    void Hand(int self);
    // Waits until this thread may go on.
    void Take(int self);
}

sealed class ByMonitor : IWay
{
    readonly object mutex = new object();
    int next;

    public void Hand(int self)
    {
        lock (mutex) {
            next = 1 - self;
            Monitor.Pulse(mutex);
        }
    }

    public void Take(int self)
    {
        lock (mutex) {
            while (next != self)
                Monitor.Wait(mutex);
        }
    }
}

sealed class BySemaphore : IWay
{
    readonly SemaphoreSlim[] permits = { new SemaphoreSlim(0), new SemaphoreSlim(0) };

    public void Hand(int self) => permits[1 - self].Release();
    public void Take(int self) => permits[self].Wait();
}

static class Handoff
{
    const double Warm = 0.25;
    const int Stride = 16;

    static bool stop;   // written before the last hand-off

    static void Answer(IWay way)
    {
        bool last;
        do {
            way.Take(1);
            last = stop;
            way.Hand(1);
        } while (!last);
    }

    // Round trips for a time: how many, and seconds.
    static double Turns(IWay way, double seconds, out long operations)
    {
        var at = Stopwatch.StartNew();
        operations = 0;
        do {
            for (int i = 0; i < Stride; i++) {
                way.Hand(0);
                way.Take(0);
            }
            operations += Stride;
        } while (at.Elapsed.TotalSeconds < seconds);
        return at.Elapsed.TotalSeconds;
    }

    static void Measure(IWay way, double seconds)
    {
        var other = new Thread(() => Answer(way));
        other.Start();
        Turns(way, seconds * Warm, out _);
        Console.WriteLine("begin");
        double taken = Turns(way, seconds, out long operations);
        Console.WriteLine("{{\"ops\": {0}, \"seconds\": {1}}}", operations,
                          taken.ToString("F9", CultureInfo.InvariantCulture));
        stop = true;
        way.Hand(0);
        way.Take(0);
        other.Join();
    }

    static int Main(string[] words)
    {
        double seconds = 0;
        IWay way = words.Length != 2 ? null
            : words[0] == "monitor" ? new ByMonitor()
            : words[0] == "semaphore" ? new BySemaphore() : (IWay)null;
        if (way == null || !double.TryParse(words[1], NumberStyles.Float,
                                            CultureInfo.InvariantCulture, out seconds)
            || !(seconds > 0 && seconds <= 3600)) {
            Console.Error.WriteLine("want one of monitor, semaphore; and SECONDS, up to 3600");
            return 2;
        }
        Measure(way, seconds);
        return 0;
    }
}
