// SPDX-License-Identifier: MIT

// channels WORKLOAD SECONDS: two goroutines in turn, each locked to a thread of its own, by two
// channels. An operation is a round trip. The lines that are printed are those of meter.h. The
// program is linked statically: nothing can be preloaded into it.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

const warm = 0.25
const stride = 16

func answer(in <-chan int, out chan<- int) {
	runtime.LockOSThread()
	for word := range in {
		out <- word
	}
	close(out)
}

// turns does round trips for a time.
func turns(to chan<- int, from <-chan int, seconds float64) (uint64, float64) {
	ops, at := uint64(0), time.Now()
	for {
		for i := 0; i < stride; i++ {
			to <- i
			<-from
		}
		ops += stride
		if taken := time.Since(at).Seconds(); taken >= seconds {
			return ops, taken
		}
	}
}

func main() {
	seconds := 0.0
	if len(os.Args) == 3 && os.Args[1] == "locked" {
		seconds, _ = strconv.ParseFloat(os.Args[2], 64)
	}
	if !(seconds > 0 && seconds <= 3600) {
		fmt.Fprintln(os.Stderr, "want locked; and SECONDS, up to 3600")
		os.Exit(2)
	}
	runtime.LockOSThread()
	to, from := make(chan int), make(chan int)
	go answer(to, from)
	turns(to, from, seconds*warm)
	fmt.Println("begin")
	ops, taken := turns(to, from, seconds)
	fmt.Printf("{\"ops\": %d, \"seconds\": %.9f}\n", ops, taken)
	close(to)
	<-from
}
