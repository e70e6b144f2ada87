// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file encryptor whose memory grows with its input, for two classic reasons:
 *
 *   1 the output is collected in a buffer as large as the input
 *   2 chunks of input are kept after they were processed, with their tags
 *
 * encryptor-repaired.cc is the same without them.
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

FUNCTION static void read_in_chunks(const File &in, std::vector<Chunk> &chunks)
{
	for (size_t offset = 0;; offset += CHUNK) {
		Chunk chunk = { secure_alloc(CHUNK), 0, {} };

		chunk.len = fill(in, chunk.data, CHUNK);
		if (!chunk.len)
			break;
		tag_blocks(chunk, offset);
		chunks.push_back(std::move(chunk));	/* bug 2: nobody takes them out */
	}
}

FUNCTION static void process_chunk(ChaCha20 &cipher, const Chunk &chunk, uint8_t *out)
{
	cipher.apply(chunk.data, out, chunk.len);
}

FUNCTION Summary encrypt_file(const File &in, const File &out, ChaCha20 &cipher)
{
	uint8_t *output = secure_alloc(in.size());	/* bug 1 */
	std::vector<Chunk> chunks;
	Summary done = {};
	size_t len = 0;

	read_in_chunks(in, chunks);
	for (const Chunk &chunk : chunks) {
		process_chunk(cipher, chunk, output + len);
		len += chunk.len;
		for (const Tag &tag : chunk.tags) {
			done.sum ^= tag.sum + tag.offset;
			done.blocks++;
		}
	}
	drain(out, output, len);
	return done;
}

int main(int argc, char **argv)
{
	return run(argc, argv);
}
