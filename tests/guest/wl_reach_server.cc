// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_reach_server: answers each number that comes with a sum over what its threads have made
 * of it, in order.  Sessions are kept in containers of all kinds, some for a while, and of each
 * request one is forgotten; at the end $FORGOTTEN has where these were.
 */
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct Session {
	virtual ~Session() = default;
	virtual unsigned long sum() const
	{
		unsigned long n = id;

		for (char c : name)
			n = n * 31 + static_cast<unsigned char>(c);
		return n;
	}
	unsigned long id = 0;
	std::string name;
	char body[200] = {};
};

static std::mutex lock;
static std::condition_variable more, done;
static std::deque<unsigned long> work;
static std::map<unsigned long, std::unique_ptr<Session>> kept;
static std::unordered_map<std::string, std::shared_ptr<Session>> named;
static std::list<Session> recent;
static unsigned long total, pending;
static bool over;
/* One number for each address: nothing of it leads to the block. */
static volatile unsigned long forgotten;
static const unsigned long MOST = 1 << 20;
static unsigned long where[MOST];
static std::atomic<unsigned long> nr_where;

static void tell_forgotten(const char *path)
{
	FILE *f = path ? std::fopen(path, "w") : nullptr;

	for (unsigned long i = 0; f && i < nr_where && i < MOST; i++)
		std::fprintf(f, "%#lx\n", ~where[i]);
	if (f)
		std::fclose(f);
}

static __attribute__((noinline)) void forget(unsigned long n)
{
	Session *s = new Session;

	s->id = n;
	forgotten = forgotten + s->sum();
	/* nothing that looks like an address */
	where[nr_where++ % MOST] = ~reinterpret_cast<unsigned long>(s);
}

static void handle(unsigned long n)
{
	auto s = std::make_unique<Session>();
	auto shared = std::make_shared<Session>();

	s->id = n;
	s->name = "session of a request, number " + std::to_string(n);
	shared->id = n * 3;
	shared->name = "shared " + std::to_string(n % 100);
	forget(n);
	std::lock_guard<std::mutex> hold(lock);
	total += s->sum();
	kept[n % 500] = std::move(s);
	named[shared->name] = shared;
	recent.push_back(*shared);
	if (recent.size() > 50)
		recent.pop_front();
	for (const auto &k : kept)
		total += k.second->sum() & 1;
	for (const auto &k : named)
		total += k.second->sum() & 1;
	if (!--pending)
		done.notify_all();
}

static void serve()
{
	for (;;) {
		unsigned long n;
		{
			std::unique_lock<std::mutex> hold(lock);

			more.wait(hold, [] { return over || !work.empty(); });
			if (work.empty())
				return;
			n = work.front();
			work.pop_front();
		}
		handle(n);
	}
}

int main()
{
	std::vector<std::thread> threads;
	unsigned long first = 0, nr;

	for (int i = 0; i < 4; i++)
		threads.emplace_back(serve);
	while (std::cin >> nr) {
		std::unique_lock<std::mutex> hold(lock);

		for (unsigned long i = 0; i < nr; i++)
			work.push_back(first + i);
		first += nr;
		pending += nr;
		more.notify_all();
		done.wait(hold, [] { return !pending; });
		/* which sessions were there when is a matter of the threads' order */
		unsigned long n = 0;
		for (const auto &k : kept)
			n += k.second->sum();
		std::cout << first << ' ' << n << ' ' << kept.size() << std::endl;
	}
	{
		std::lock_guard<std::mutex> hold(lock);
		over = true;
	}
	more.notify_all();
	for (auto &t : threads)
		t.join();
	tell_forgotten(std::getenv("FORGOTTEN"));
	return 0;
}
