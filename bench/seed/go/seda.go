// SPDX-License-Identifier: MIT

// seda is a pipeline of four stages, each with a write and some work.
package main

const stages = 4

func stage(in, out chan int64, rounds int64) {
	device := openNull()
	for n := int64(0); n < rounds; n++ {
		i := <-in
		out <- i + device.write()*spin(1000)
	}
}

func main() {
	rounds := argument(10000000)
	var link [stages + 1]chan int64
	for k := range link {
		link[k] = make(chan int64)
	}
	for k := 0; k < stages; k++ {
		go stage(link[k], link[k+1], rounds)
	}
	f := begin()
	go func() {
		for i := int64(0); i < rounds; i++ {
			link[0] <- i
		}
	}()
	var total int64
	for i := int64(0); i < rounds; i++ {
		total += <-link[stages]
	}
	f.end("messages", uint64(rounds)*(stages+1), total)
}
