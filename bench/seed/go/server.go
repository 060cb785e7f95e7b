// SPDX-License-Identifier: MIT

// server asks 50 workers over unbuffered channels; everybody writes to the null device on the way.
package main

const workers = 50

func work(in, out chan int64, rounds int64) {
	device := openNull()
	for n := int64(0); n < rounds; n++ {
		i := <-in
		out <- i * 2 * device.write() * spin(100)
	}
}

func main() {
	rounds := argument(10000000)
	device := openNull()
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
		for range in {
			device.write()
		}
		for k := range out {
			total += <-out[k]
		}
	}
	f.end("messages", uint64(rounds)*2*workers, total)
}
