// SPDX-License-Identifier: MIT

// serverchannel asks 50 workers over unbuffered channels, without any other system call.
package main

const workers = 50

func work(in, out chan int64, rounds int64) {
	for n := int64(0); n < rounds; n++ {
		i := <-in
		out <- i * 2 * record * spin(100)
	}
}

func main() {
	rounds := argument(10000000)
	var in, out [workers]chan int64
	for k := range in {
		in[k] = make(chan int64)
		out[k] = make(chan int64)
		go work(in[k], out[k], rounds)
	}
	f := begin()
	var total int64
	for i := int64(0); i < rounds; i++ {
		for k := range in {
			in[k] <- i
		}
		for k := range out {
			total += <-out[k]
		}
	}
	f.end("messages", uint64(rounds)*2*workers, total)
}
