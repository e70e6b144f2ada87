// SPDX-License-Identifier: GPL-2.0-or-later
//! Ways to wl_here() that Rust takes: through its library, closures, and panics.
use std::ffi::CString;
use std::os::raw::c_char;
use std::panic;
use std::thread;

extern "C" {
    fn wl_begin(file: *const c_char);
    fn wl_end();
    fn wl_here(name: *const c_char);
}

#[inline(never)]
fn here(name: &str) {
    let name = CString::new(name).unwrap();
    unsafe { wl_here(name.as_ptr()) };
}

struct Guard(&'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        here(self.0);
    }
}

#[inline(never)]
fn rust_sort() {
    let mut numbers: Vec<i32> = (0..50).map(|i| i * 7 % 50).collect();
    let mut asked = false;
    numbers.sort_by(|a, b| {
        if !asked {
            here("rust-sort");
            asked = true;
        }
        a.cmp(b)
    });
}

#[inline(never)]
fn rust_recursion(left: u32) -> u32 {
    if left == 0 {
        here("rust-recursion");
        return 0;
    }
    rust_recursion(left - 1) + unsafe { std::ptr::read_volatile(&left) }
}

#[inline(never)]
fn rust_closure(f: &dyn Fn(&str)) {
    f("rust-closure");
    f("rust-closure-again");
}

#[inline(never)]
fn rust_panics() {
    let _guard = Guard("rust-unwinding");
    panic!("on purpose");
}

#[inline(never)]
fn rust_panic() {
    panic::set_hook(Box::new(|_| here("rust-panic-hook")));
    assert!(panic::catch_unwind(rust_panics).is_err());
    let _ = panic::take_hook();
}

#[inline(never)]
fn rust_thread() {
    thread::spawn(|| here("rust-thread")).join().unwrap();
}

fn main() {
    let file = std::env::args().nth(1).map(|file| CString::new(file).unwrap());
    unsafe { wl_begin(file.as_ref().map_or(std::ptr::null(), |file| file.as_ptr())) };
    rust_sort();
    rust_recursion(20);
    rust_closure(&here);
    rust_panic();
    rust_thread();
    unsafe { wl_end() };
}
