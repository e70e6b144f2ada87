// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The encryptor without its two bugs: output leaves through a buffer of constant
 * size, and a chunk of input is wiped and used again when it was processed.
 */
#include <vector>

#include "common.h"

struct Chunk {
	uint8_t *data;
	size_t len;
	std::vector<Tag> tags;
};

FUNCTION static void tag_blocks(Chunk &chunk, size_t offset)
{
	for (size_t at = 0; at < chunk.len; at += BLOCK) {
		size_t len = std::min(BLOCK, chunk.len - at);

		chunk.tags.push_back(tag_of(chunk.data + at, len, offset + at));
	}
}

FUNCTION static bool read_chunk(const File &in, Chunk &chunk, size_t offset)
{
	chunk.len = fill(in, chunk.data, CHUNK);
	tag_blocks(chunk, offset);
	return chunk.len > 0;
}

FUNCTION static void process_chunk(ChaCha20 &cipher, const Chunk &chunk, uint8_t *out)
{
	cipher.apply(chunk.data, out, chunk.len);
}

FUNCTION static void release_chunk(Chunk &chunk)
{
	secure_wipe(chunk.data, CHUNK);
	chunk.tags.clear();
}

FUNCTION Summary encrypt_file(const File &in, const File &out, ChaCha20 &cipher)
{
	Chunk chunk = { secure_alloc(CHUNK), 0, {} };
	uint8_t *output = secure_alloc(CHUNK);
	Summary done = {};

	for (size_t offset = 0; read_chunk(in, chunk, offset); offset += CHUNK) {
		process_chunk(cipher, chunk, output);
		drain(out, output, chunk.len);
		for (const Tag &tag : chunk.tags) {
			done.sum ^= tag.sum + tag.offset;
			done.blocks++;
		}
		release_chunk(chunk);
	}
	return done;
}

int main(int argc, char **argv)
{
	return run(argc, argv);
}
