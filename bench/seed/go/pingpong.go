// SPDX-License-Identifier: MIT

// pingpong is serverchannel with one worker, who does hardly anything.
package main

func main() {
	rounds := argument(100000000)
	in, out := make(chan int64), make(chan int64)
	go func() {
		for n := int64(0); n < rounds; n++ {
			i := <-in
			out <- i * 2 * record * spin(1)
		}
	}()
	f := begin()
	var total int64
	for i := int64(0); i < rounds; i++ {
		in <- i
		total += <-out
	}
	f.end("messages", uint64(rounds)*2, total)
}
