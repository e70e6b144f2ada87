// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c */
/* LINK: ctl/elf/data.c ctl/elf/symbols.c ctl/target/ldcache.c ctl/target/maps.c */
/* LINK: -ldw -lelf */
/* Variables and functions of this program itself, by their addresses. */
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "elf/symbols.h"
#include "tap.h"

/* (clang's ASan makes variables larger) */
#ifdef __clang__
#define PLAIN __attribute__((no_sanitize("address")))
#else
#define PLAIN
#endif

int variable_of_test[20] PLAIN = { 1 };
char zeros_of_test[70000] PLAIN;
__thread long thread_local_of_test[4] = { 5 };

void function_of_test(void);
void function_of_test(void)
{
	variable_of_test[0]++;
}

/* Where this program is. */
static int see(struct dl_phdr_info *info, size_t len, void *ctx)
{
	(void)len;
	*(__u64 *)ctx = info->dlpi_addr;
	return 1;
}

static bool is_there(const struct elfsym_objects *o, enum elfsym_object_kind kind, __u64 vaddr,
		     const char *name, __u64 size)
{
	const struct elfsym_object *found = elfsym_objects_find(o, kind, vaddr);

	return found && !strcmp(found->name, name) && (!size || found->size == size);
}

int main(void)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elfsym_objects *o = NULL;
	struct elfsym *e = NULL;
	__u64 base = 0, at, size = 0, align = 0, first = 7, local;

	function_of_test();
	dl_iterate_phdr(see, &base);
	at = (__u64)(unsigned long)variable_of_test - base;
	ok(fd >= 0 && !elfsym_open(fd, &e) && !elfsym_objects_load(e, &o), "it is read");
	ok(is_there(o, ELFSYM_DATA, at, "variable_of_test", sizeof(variable_of_test)) &&
	   is_there(o, ELFSYM_DATA, at + 79, "variable_of_test", 80), "a variable, by any address");
	ok(!is_there(o, ELFSYM_DATA, at + 80, "variable_of_test", 0) &&
	   !is_there(o, ELFSYM_FUNCTION, at, "variable_of_test", 0), "and no other");
	at = (__u64)(unsigned long)zeros_of_test + 65000 - base;
	ok(is_there(o, ELFSYM_DATA, at, "zeros_of_test", 70000), "one that begins as zeros");
	ok(elfsym_is_mapped(e, at) && !elfsym_is_mapped(e, at + (1ULL << 32)),
	   "which the file maps behind its own part");
	at = (__u64)(unsigned long)function_of_test - base;
	ok(is_there(o, ELFSYM_FUNCTION, at, "function_of_test", 0), "a function");
	ok(elfsym_thread_local(e, &size, &align) && size >= sizeof(thread_local_of_test) && align,
	   "what each thread has");
	/* it ends at the thread's own block, whose address is its first word */
	__asm__("mov %%fs:0, %0" : "=r"(local));
	local = (__u64)(unsigned long)thread_local_of_test -
		(local - ((size + align - 1) & ~(align - 1)));
	ok(is_there(o, ELFSYM_THREAD_LOCAL, local + 8, "thread_local_of_test", 32),
	   "a thread-local variable");
	ok(elfsym_address(e, 0, &first) && (first == 0 || base == 0), "where its offset 0 is");
	elfsym_objects_free(o);
	elfsym_close(e);
	close(fd);
	return tap_done();
}
