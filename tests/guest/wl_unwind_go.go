// SPDX-License-Identifier: GPL-2.0-or-later

// Go that calls C, which calls Go: the stack of Go, and the one that C gets.
package main

// void wl_begin(const char *file);
// void wl_end(void);
// void wl_c_outer(const char *name);
// void wl_c_calls_go(const char *name);
// #include <stdlib.h>
import "C"

import (
	"os"
	"sort"
	"syscall"
	"unsafe"
)

//go:noinline
func cMiddle(name string) {
	s := C.CString(name)
	C.wl_c_outer(s)
	C.free(unsafe.Pointer(s))
}

//export goCallback
func goCallback(name *C.char) {
	cMiddle(C.GoString(name))
}

//go:noinline
func callsBack() {
	s := C.CString("go-callback")
	C.wl_c_calls_go(s)
	C.free(unsafe.Pointer(s))
}

const pageSize, pages = 4096, 500

// A fault for each page, in Go's own code.
//
//go:noinline
func goTouch(memory []byte) {
	for i := 0; i < len(memory); i += pageSize {
		memory[i] = 1
	}
}

//go:noinline
func goMiddle() {
	memory, err := syscall.Mmap(-1, 0, pages*pageSize, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err == nil {
		err = syscall.Madvise(memory, 15) // MADV_NOHUGEPAGE
	}
	if err != nil {
		panic(err)
	}
	goTouch(memory)
	memory[0] = 2
}

func main() {
	var file *C.char
	if len(os.Args) > 1 {
		file = C.CString(os.Args[1])
	}
	C.wl_begin(file)
	cMiddle("go-calls-c")
	done := make(chan bool)
	go func() {
		cMiddle("go-routine")
		done <- true
	}()
	<-done
	asked := false
	sort.Slice([]int{3, 1, 2}, func(i, j int) bool {
		if !asked {
			cMiddle("go-sort")
		}
		asked = true
		return i < j
	})
	callsBack()
	goMiddle()
	C.wl_end()
}
