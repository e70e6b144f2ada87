// SPDX-License-Identifier: GPL-2.0-or-later
// Buffers outside of V8's heap, which are kept for ever.
const kept = [];

function fetchRows(n) {
	kept.push(Buffer.alloc(64 * 1024, n));
}

function handleRequest(n) {
	fetchRows(n);
	if (n < Number(process.argv[2] || 100))
		setTimeout(handleRequest, 50, n + 1);
}

handleRequest(0);
