/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CHACHA20_H
#define CHACHA20_H

/*
 * ChaCha20 as RFC 8439 has it.  Encrypts, but does not authenticate: this is an
 * example of a program that grows, and no tool for secrets.
 */
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

class ChaCha20 {
public:
	using Key = std::array<uint8_t, 32>;
	using Nonce = std::array<uint8_t, 12>;

	ChaCha20(const Key &key, const Nonce &nonce, uint32_t counter = 1)
	{
		static const uint32_t constants[4] = {
			0x61707865, 0x3320646e, 0x79622d32, 0x6b206574
		};

		for (int i = 0; i < 4; i++)
			state_[i] = constants[i];
		for (int i = 0; i < 8; i++)
			state_[4 + i] = load(key.data() + 4 * i);
		state_[12] = counter;
		for (int i = 0; i < 3; i++)
			state_[13 + i] = load(nonce.data() + 4 * i);
	}

	/* Encryption and decryption are the same. */
	void apply(const uint8_t *in, uint8_t *out, size_t len)
	{
		for (size_t i = 0; i < len; i++) {
			if (used_ == sizeof(block_))
				next_block();
			out[i] = in[i] ^ block_[used_++];
		}
	}

private:
	static uint32_t load(const uint8_t *p)
	{
		return p[0] | p[1] << 8 | p[2] << 16 | uint32_t(p[3]) << 24;
	}

	static uint32_t rotate(uint32_t x, int n)
	{
		return x << n | x >> (32 - n);
	}

	static void quarter(uint32_t *x, int a, int b, int c, int d)
	{
		x[a] += x[b]; x[d] = rotate(x[d] ^ x[a], 16);
		x[c] += x[d]; x[b] = rotate(x[b] ^ x[c], 12);
		x[a] += x[b]; x[d] = rotate(x[d] ^ x[a], 8);
		x[c] += x[d]; x[b] = rotate(x[b] ^ x[c], 7);
	}

	void next_block()
	{
		uint32_t x[16];

		memcpy(x, state_, sizeof(x));
		for (int round = 0; round < 20; round += 2) {
			for (int i = 0; i < 4; i++)
				quarter(x, i, 4 + i, 8 + i, 12 + i);
			for (int i = 0; i < 4; i++)
				quarter(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
		}
		for (int i = 0; i < 16; i++) {
			uint32_t word = x[i] + state_[i];

			for (int byte = 0; byte < 4; byte++)
				block_[4 * i + byte] = word >> (8 * byte);
		}
		state_[12]++;
		used_ = 0;
	}

	uint32_t state_[16];
	uint8_t block_[64];
	size_t used_ = sizeof(block_);
};

#endif
