// SPDX-License-Identifier: GPL-2.0-or-later
//
// A library that lends books, and forgets them: a reader in a thread of its own
// takes books from the shelf; some are given back, the others nobody holds any more.
#include <cstdio>
#include <cstdlib>
#include <thread>

struct Book {
	long number, year, copies, shelf, row, place;
	char *text;
};

class Shelf {
	long lent = 0;

public:
	Book *lend(int number);
	void take_back(Book *book);
};

__attribute__((noinline)) Book *Shelf::lend(int number) {
	Book *book = new Book{number, 1990 + number % 30, ++lent, number / 40, 0, 0, nullptr};
	book->text = static_cast<char *>(std::malloc(8192));
	std::snprintf(book->text, 8192, "book %d", number);
	return book;
}

__attribute__((noinline)) void Shelf::take_back(Book *book) {
	std::free(book->text);
	delete book;
	lent--;
}

static void reader(Shelf &shelf, int books) {
	for (int number = 0; number < books; number++) {
		Book *book = shelf.lend(number);
		if (number % 4)
			shelf.take_back(book);
	}
}

int main() {
	Shelf shelf;
	std::thread thread(reader, std::ref(shelf), 200);
	thread.join();
	std::puts("200 books were read");
}
