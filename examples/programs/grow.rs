// SPDX-License-Identifier: GPL-2.0-or-later
// What a request brings is kept for ever.
use std::time::Duration;

#[inline(never)]
fn fetch_rows(n: usize) -> Vec<u8> {
    vec![n as u8; 10_000]
}

#[inline(never)]
fn handle_request(n: usize, kept: &mut Vec<Vec<u8>>) {
    kept.push(fetch_rows(n));
}

fn main() {
    let nr = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(100);
    let mut kept = Vec::new();
    for n in 0..nr {
        handle_request(n, &mut kept);
        std::thread::sleep(Duration::from_millis(20));
    }
}
