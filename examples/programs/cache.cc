// SPDX-License-Identifier: GPL-2.0-or-later
// A server of sessions that are never taken out of its table.
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>

struct Session {
	std::string user;
	char state[400];
};

static std::map<int, std::unique_ptr<Session>> sessions;

__attribute__((noinline)) static void open_session(int id)
{
	sessions[id] = std::make_unique<Session>();
	sessions[id]->user = "user number " + std::to_string(id);
}

int main(int argc, char **argv)
{
	const int nr = argc > 1 ? std::atoi(argv[1]) : 100;

	for (int id = 0; id < nr; id++) {
		open_session(id);
		usleep(20000);
	}
}
