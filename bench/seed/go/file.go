// SPDX-License-Identifier: MIT

// file makes writes of 30 bytes to the null device: the cost of a system call.
package main

func main() {
	count := argument(1000000000)
	device := openNull()
	f := begin()
	var bytes int64
	for i := int64(0); i < count; i++ {
		bytes += device.write()
	}
	f.end("writes", uint64(count), bytes)
}
