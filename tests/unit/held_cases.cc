// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a heap has, for test_heap_held.sh: each part by name.  Prints what it made, a line each:
 *
 *	kind PART BLOCKS		blocks whose kind's name has PART in it
 *	holder PART BLOCKS		that holders with PART in their names retain
 *	lost BLOCKS
 *
 * with tabs in between, and then "ready PID".  Blocks of libc and libstdc++ are few, and of other
 * kinds.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#define NR	500

namespace shop {
struct Base {
	virtual ~Base() {}
	virtual int price() { return 1; }
	long weight = 3;
};
struct Item : Base {
	int price() override { return 2; }
	char *text = nullptr;
	long more[5] = { 0 };
};
struct Other {
	virtual ~Other() {}
	virtual int colour() { return 3; }
	long shade = 5;
};
struct Both : Item, Other {
	int colour() override { return 4; }
};
struct Far : virtual Base {
	long distance = 7;
	int price() override { return 5; }
};
template <typename T> struct Box : Base {
	T value{};
};
}

/* C's way: a table of functions, and what has its address. */
struct operations {
	int (*open)(int);
	int (*close)(int);
};
static int open_it(int x) { return x + 1; }
static int close_it(int x) { return x - 1; }
extern "C" {
extern const struct operations file_operations;
const struct operations file_operations = { open_it, close_it };
shop::Item **item_table;
void *into_the_middle;
void *with_tag;
uintptr_t xor_list;
char *pool_of_mine;
void *shared_one, *shared_two;
std::map<int, long> *tree_of_mine;
std::list<long> *list_of_mine;
std::vector<shop::Both *> *both_vector;
struct session { struct session *next; char *name; const struct operations *ops; long pad[4]; };
struct session *session_list;
}
static thread_local void *volatile thread_block;
static void *volatile kept_far[NR], *volatile kept_boxes[NR];

static __attribute__((noinline)) void wipe()
{
	volatile char bytes[65536];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0;
}

static __attribute__((noinline)) char *text(int i)
{
	char *t = (char *)malloc(40);

	snprintf(t, 40, "a text of many words, number %d", i);
	return t;
}

static __attribute__((noinline)) void make_items()
{
	item_table = (shop::Item **)malloc(NR * sizeof(*item_table));
	for (int i = 0; i < NR; i++) {
		item_table[i] = new shop::Item;
		item_table[i]->text = text(i);
	}
	/* the table, items, texts */
	printf("kind\tshop::Item\t%d\n", NR);
	printf("kind\tpointers to: shop::Item\t1\n");
	printf("holder\t`item_table`\t%d\n", 2 * NR + 1);
}

static __attribute__((noinline)) void make_both()
{
	both_vector = new std::vector<shop::Both *>;
	for (int i = 0; i < NR; i++)
		both_vector->push_back(new shop::Both);
	printf("kind\tshop::Both\t%d\n", NR);
	printf("holder\t`both_vector`\t%d\n", NR + 2);
	for (int i = 0; i < NR; i++)
		kept_far[i] = new shop::Far;
	printf("kind\tshop::Far\t%d\n", NR);
	printf("holder\t`kept_far`\t%d\n", NR);
	for (int i = 0; i < NR; i++)
		kept_boxes[i] = new shop::Box<std::string>;
	printf("kind\tshop::Box<std::__cxx11::basic_string\t%d\n", NR);
}

static __attribute__((noinline)) void make_sessions()
{
	for (int i = 0; i < NR; i++) {
		struct session *s = (struct session *)calloc(1, sizeof(*s));

		s->next = session_list;
		s->ops = &file_operations;
		s->name = text(i);
		session_list = s;
	}
	printf("kind\tpoints to file_operations at +16\t%d\n", NR);
	printf("holder\t`session_list`\t%d\n", 2 * NR);
}

static __attribute__((noinline)) void make_odd()
{
	char *middle = (char *)malloc(5000), *pool = (char *)malloc(20000);
	void *tagged = malloc(3000);
	uintptr_t one, two;

	memset(middle, 0x81, 5000);
	memset(pool, 0x82, 20000);
	memset(tagged, 0x83, 3000);
	into_the_middle = middle + 160;
	with_tag = (void *)((uintptr_t)tagged | 1ULL << 60);
	/* of a pool, malloc has one block, whatever lies in it */
	pool_of_mine = pool;
	for (int i = 0; i < 100; i++)
		*(void **)(pool + 200 * i) = pool + 200 * ((i + 1) % 100);
	printf("holder\t`into_the_middle`\t1\n");
	printf("holder\t`with_tag`\t1\n");
	printf("holder\t`pool_of_mine`\t1\n");
	/* a list whose links are XORed: nothing has an address of these */
	one = (uintptr_t)malloc(2400);
	two = (uintptr_t)malloc(2400);
	memset((void *)one, 0x84, 2400);
	memset((void *)two, 0x84, 2400);
	*(uintptr_t *)one = two ^ 0x5a5a5a5a5a5aULL;
	*(uintptr_t *)two = one ^ 0x5a5a5a5a5a5aULL;
	xor_list = one ^ two;
	printf("lost\t2\n");
	shared_one = shared_two = malloc(6000);
	memset(shared_one, 0x85, 6000);
	printf("holder\tseveral variables\t1\n");
	one = two = 0;
}

static __attribute__((noinline)) void make_std()
{
	tree_of_mine = new std::map<int, long>;
	list_of_mine = new std::list<long>;
	for (int i = 0; i < NR; i++) {
		(*tree_of_mine)[i * 7919 % 10007] = i;
		list_of_mine->push_back(i);
	}
	printf("kind\tstd::map\t%d\n", NR);
	/* (the list itself is part of the circle) */
	printf("kind\tlinked list\t%d\n", NR + 1);
	printf("holder\t`tree_of_mine`\t%d\n", NR + 1);
	printf("holder\t`list_of_mine`\t%d\n", NR + 1);
}

static std::vector<std::string> *strings_of_mine;

static __attribute__((noinline)) void make_strings()
{
	strings_of_mine = new std::vector<std::string>;
	for (int i = 0; i < NR; i++)
		strings_of_mine->push_back(std::string("a std::string that is longer, ") +
					   std::to_string(i));
	printf("kind\tstd::string's text\t%d\n", NR);
	printf("kind\tstd::vector's elements\t1\n");
	printf("holder\t`strings_of_mine`\t%d\n", NR + 2);
}

static void *in_thread(void *arg)
{
	thread_block = memset(malloc(7000), 0x86, 7000);
	*(volatile int *)arg = 1;
	for (;;)
		pause();
	return nullptr;
}

static thread_local void *volatile many_block;
static int many_there;

static void *in_many(void *arg)
{
	many_block = memset(malloc(1100), 0x88, 1100);
	__atomic_add_fetch(&many_there, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return arg;
}

static void start_many()
{
	pthread_t thread;

	for (int i = 0; i < 20; i++)
		if (pthread_create(&thread, nullptr, in_many, nullptr))
			exit(1);
	while (__atomic_load_n(&many_there, __ATOMIC_SEQ_CST) < 20)
		usleep(1000);
	printf("holder\t`many_block` of 20 threads\t20\n");
}

static std::vector<shop::Item *> *grown;
static volatile sig_atomic_t wants_more;

static void want_more(int sig)
{
	(void)sig;
	wants_more = 1;
}

/* At SIGUSR1: 100 items, which one vector has. */
static __attribute__((noinline)) void grow()
{
	for (int i = 0; i < 100; i++)
		grown->push_back(new shop::Item);
}

/* What is on the stack of main() alone. */
static __attribute__((noinline)) int wait_with(void *volatile *block)
{
	wipe();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;) {
		pause();
		if (!wants_more)
			continue;
		wants_more = 0;
		grow();
		wipe();
		printf("grown\n");
		fflush(stdout);
	}
	return *block != nullptr;
}

int main()
{
	void *volatile on_stack = memset(malloc(9000), 0x87, 9000);
	volatile int there = 0;
	pthread_t thread;
	sigset_t more;

	sigemptyset(&more);
	sigaddset(&more, SIGUSR1);
	signal(SIGUSR1, want_more);
	grown = new std::vector<shop::Item *>;
	make_items();
	make_both();
	make_sessions();
	make_odd();
	make_std();
	make_strings();
	pthread_sigmask(SIG_BLOCK, &more, nullptr);
	if (pthread_create(&thread, nullptr, in_thread, (void *)&there))
		return 1;
	start_many();
	pthread_sigmask(SIG_UNBLOCK, &more, nullptr);
	while (!there)
		usleep(1000);
	printf("holder\t`thread_block`\t1\n");
	printf("holder\t: main in cases\t1\n");
	return wait_with(&on_stack);
}
