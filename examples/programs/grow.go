// SPDX-License-Identifier: GPL-2.0-or-later

// What a request brings is kept for ever.
package main

import (
	"os"
	"strconv"
	"time"
)

var kept [][]byte

//go:noinline
func fetchRows(n int) {
	rows := make([]byte, 256*1024)
	for i := range rows {
		rows[i] = byte(n)
	}
	kept = append(kept, rows)
}

//go:noinline
func handleRequest(n int) {
	fetchRows(n)
}

func main() {
	nr := 100
	if len(os.Args) > 1 {
		nr, _ = strconv.Atoi(os.Args[1])
	}
	for n := 0; n < nr; n++ {
		handleRequest(n)
		time.Sleep(20 * time.Millisecond)
	}
}
