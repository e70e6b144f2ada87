/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_H
#define COMMON_H

/* What the broken and the repaired encryptor have in common. */
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chacha20.h"

/* A report names functions; inlined ones would be names without a frame. */
#define FUNCTION [[gnu::noinline]]

constexpr size_t CHUNK = 256 << 10;
constexpr size_t BLOCK = 512;		/* what one tag stands for */

struct Tag {
	uint64_t sum;
	uint64_t offset;
};

[[noreturn]] inline void fail(const char *what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

/*
 * Plain text is kept apart from the heap, on pages of its own, as libraries for
 * cryptography do.
 */
FUNCTION inline uint8_t *secure_alloc(size_t len)
{
	void *p = mmap(nullptr, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	/* a huge page could be wiped in whole only; no matter if there are none */
	madvise(p, len, MADV_NOHUGEPAGE);
	return static_cast<uint8_t *>(p);
}

/* The pages go back to the system, wiped; the addresses stay ours. */
FUNCTION inline void secure_wipe(uint8_t *p, size_t len)
{
	if (madvise(p, len, MADV_DONTNEED))
		fail("madvise");
}

struct File {
	int fd;

	File(const char *path, int flags) : fd(open(path, flags | O_CLOEXEC, 0600))
	{
		if (fd < 0)
			fail(path);
	}
	~File() { close(fd); }
	File(const File &) = delete;
	File &operator=(const File &) = delete;

	size_t size() const
	{
		struct stat st;

		if (fstat(fd, &st))
			fail("fstat");
		return st.st_size;
	}
};

/* Up to len bytes; fewer only at the end of the file. */
FUNCTION inline size_t fill(const File &file, uint8_t *p, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = read(file.fd, p + have, len - have);

		if (n < 0)
			fail("read");
		if (!n)
			break;
		have += n;
	}
	return have;
}

FUNCTION inline void drain(const File &file, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(file.fd, p, len);

		if (n < 0)
			fail("write");
		p += n;
		len -= n;
	}
}

inline Tag tag_of(const uint8_t *p, size_t len, size_t offset)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ p[i]) * 0x100000001b3;
	return { sum, offset };
}

struct Job {
	bool decrypt;
	ChaCha20::Key key;
	const char *in, *out;
};

/* How many blocks were tagged, and the sum of their tags. */
struct Summary {
	size_t blocks;
	uint64_t sum;
};

Summary encrypt_file(const File &in, const File &out, ChaCha20 &cipher);

inline bool parse_key(const char *hex, ChaCha20::Key &key)
{
	for (size_t i = 0; i < key.size(); i++) {
		unsigned int byte;
		int used = 0;

		if (sscanf(hex + 2 * i, "%2x%n", &byte, &used) != 1 || used != 2)
			return false;
		key[i] = byte;
	}
	return !hex[2 * key.size()];
}

/* The nonce stands in front of the encrypted file. */
inline ChaCha20 make_cipher(const Job &job, const File &in, const File &out)
{
	ChaCha20::Nonce nonce;

	if (job.decrypt) {
		if (fill(in, nonce.data(), nonce.size()) != nonce.size())
			throw std::runtime_error("the input is too short");
	} else {
		File random("/dev/urandom", O_RDONLY);

		fill(random, nonce.data(), nonce.size());
		drain(out, nonce.data(), nonce.size());
	}
	return ChaCha20(job.key, nonce);
}

inline int run(int argc, char **argv)
{
	Job job = {};
	int arg = 1;

	if (arg < argc && !strcmp(argv[arg], "-d")) {
		job.decrypt = true;
		arg++;
	}
	if (argc - arg != 3 || !parse_key(argv[arg], job.key)) {
		fprintf(stderr, "usage: %s [-d] KEY IN OUT   (KEY: 64 hex digits)\n", argv[0]);
		return 2;
	}
	job.in = argv[arg + 1];
	job.out = argv[arg + 2];
	try {
		File in(job.in, O_RDONLY), out(job.out, O_WRONLY | O_CREAT | O_TRUNC);
		ChaCha20 cipher = make_cipher(job, in, out);
		Summary done = encrypt_file(in, out, cipher);

		fprintf(stderr, "%zu blocks, sum %016llx\n", done.blocks,
			static_cast<unsigned long long>(done.sum));
	} catch (const std::exception &e) {
		fprintf(stderr, "%s: %s\n", argv[0], e.what());
		return 1;
	}
	return 0;
}

#endif
