// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * examples/encryptor as most would write it: with the library's streams and
 * containers, so that between its functions and the kernel is code of others.
 * The same two bugs: chunks and tags are kept, the output is collected; with
 * REPAIRED, it has neither.
 *
 *	wl_unwind_encryptor IN OUT
 */
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr size_t chunk_size = 256 * 1024;	/* malloc() maps it */
constexpr size_t block_size = 512;

struct Chunk {
	std::vector<char> data;
	std::list<std::string> tags;	/* of the heap */
};

using Chunks = std::list<Chunk>;
using Sums = std::map<size_t, unsigned long>;

[[gnu::noipa]] void tag_blocks(Chunk &chunk)
{
	for (size_t at = 0; at < chunk.data.size(); at += block_size)
		chunk.tags.push_back("a tag that is too long to be kept in place " +
				     std::to_string(chunk.data[at]));
}

[[gnu::noipa]] bool read_in_chunks(std::istream &in, Chunks &chunks)
{
	for (;;) {
		Chunk chunk;

		chunk.data.resize(chunk_size);
		in.read(chunk.data.data(), chunk_size);
		chunk.data.resize(in.gcount());
		if (chunk.data.empty())
			return false;
		tag_blocks(chunk);
		chunks.push_back(std::move(chunk));
#ifdef REPAIRED
		return true;
#endif
	}
}

[[gnu::noipa]] void process_chunk(std::ostream &out, Chunk &chunk, Sums &sums)
{
	for (size_t at = 0; at < chunk.data.size(); at++)
		chunk.data[at] ^= 0x5a;
	for (size_t at = 0; at < chunk.data.size(); at += block_size)
		sums[sums.size()] += chunk.data[at];
	out.write(chunk.data.data(), chunk.data.size());
	__asm__ volatile("" : : : "memory");	/* it comes back here */
}

[[gnu::noipa]] size_t encrypt_file(std::istream &in, std::ostream &out)
{
	size_t blocks = 0;
	Chunks chunks;
#ifdef REPAIRED
	while (read_in_chunks(in, chunks)) {
		Sums sums;

		process_chunk(out, chunks.front(), sums);
		chunks.pop_front();
		blocks += sums.size();
	}
#else
	std::ostringstream collected;
	Sums sums;

	read_in_chunks(in, chunks);
	for (Chunk &chunk : chunks)
		process_chunk(collected, chunk, sums);
	blocks = sums.size();
	out << collected.str();
#endif
	return blocks;
}

}

int main(int argc, char **argv)
{
	if (argc != 3) {
		std::cerr << "usage: " << argv[0] << " IN OUT\n";
		return 2;
	}
	std::ifstream in(argv[1], std::ios::binary);
	std::ofstream out(argv[2], std::ios::binary);

	std::cerr << encrypt_file(in, out) << " blocks\n";
	return in.is_open() && out ? 0 : 1;
}
