// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// A line of JSON with what was done, and wall time and CPU time side by side.

type figures struct {
	began  time.Time
	before syscall.Rusage
}

func seconds(t syscall.Timeval) float64 {
	return float64(t.Sec) + float64(t.Usec)*1e-6
}

func begin() (f figures) {
	syscall.Getrusage(syscall.RUSAGE_SELF, &f.before)
	f.began = time.Now()
	return f
}

// end prints the line; total is text, as most readers of JSON would make a fraction of it.
func (f figures) end(what string, count uint64, total int64) {
	wall := time.Since(f.began).Seconds()
	var now syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &now)
	fmt.Printf("{\"seconds\": %.9f, \"user_seconds\": %.6f, \"system_seconds\": %.6f,"+
		" \"voluntary_switches\": %d, \"involuntary_switches\": %d, \"gomaxprocs\": %d,"+
		" %q: %d, \"total\": \"%d\"}\n",
		wall, seconds(now.Utime)-seconds(f.before.Utime),
		seconds(now.Stime)-seconds(f.before.Stime),
		now.Nvcsw-f.before.Nvcsw, now.Nivcsw-f.before.Nivcsw, runtime.GOMAXPROCS(0),
		what, count, total)
}

// argument is the only one, a number from 1 to most.
func argument(most int64) int64 {
	if len(os.Args) == 2 {
		n, err := strconv.ParseInt(os.Args[1], 10, 64)
		if err == nil && n >= 1 && n <= most {
			return n
		}
	}
	fmt.Fprintf(os.Stderr, "want one number, 1 to %d\n", most)
	os.Exit(2)
	return 0
}

const record = 30

// null is the null device, and writes records to it.
type null struct {
	file *os.File
	data []byte
}

func openNull() null {
	file, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot open the null device")
		os.Exit(1)
	}
	return null{file, []byte("a record of thirty characters.")}
}

func (n null) write() int64 {
	bytes, _ := n.file.Write(n.data)
	return int64(bytes)
}

// spin adds a to itself for ten times a.
func spin(a int64) int64 {
	var sum int64
	for i := int64(0); i < a*10; i++ {
		sum += a
	}
	return sum
}
