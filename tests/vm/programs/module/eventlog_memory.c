// SPDX-License-Identifier: MIT
//
// Tests in which memory /dev/eventlog of the kernel module sets enable bits, and how it follows
// pages and processes that end, as root. The argument is a folder on a disk, or absent. Features
// that the kernel lacks are printed as "without".
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_steps.h"

enum { page_size = 4096, large_size = 2 << 20 };

static const char own_event[] = "memory_own u32 a";

static void subscribe_or_exit(const char* event, bool on) {
    char path[128];
    (void)snprintf(path, sizeof path, OUR_EVENTS "%s/enable", event);
    set_file(path, on ? "1" : "0");
}

/// The kilobytes of large pages in the process.
static long large_kilobytes(void) {
    FILE* const file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long size = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "AnonHugePages: %ld", &size);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return size;
}

static void follow_large_pages(void) {
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0) {
        puts("without: large pages");
        return;
    }
    char* const memory =
        mmap(NULL, 2UL * large_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* const page = memory + (large_size - (uintptr_t)memory % large_size) % large_size;
    step("a large page is asked for", madvise(page, large_size, MADV_HUGEPAGE) == 0);
    *page = 1;
    step("and present", large_kilobytes() == large_size / 1024);
    set_file(PARAMETERS "pages_per_user", "511");
    step("a large page counts as all of it", register_at(own_event, page, 0, NULL) == EMFILE);
    set_file(PARAMETERS "pages_per_user", "512");
    step("with a limit of that many it is accepted", register_at(own_event, page, 0, NULL) == 0);
    char* const other = page + 100L * page_size;
    step("its words share the charge", register_at(own_event, other, 0, NULL) == 0);
    subscribe_or_exit("memory_own", true);
    step("both bits are set", *page == 1 && *other == 1);
    step("one more page is too many", register_at(own_event, &word, 0, NULL) == EMFILE);
    step("one word is unregistered", unregister_bit(page, 0) == 0);
    subscribe_or_exit("memory_own", false);
    step("the page stays for the other one", *other == 0);
    step("the large page still counts", register_at(own_event, &word, 0, NULL) == EMFILE);
    step("the other word is unregistered", unregister_bit(other, 0) == 0);
    step("now it does not count", register_at(own_event, &word, 0, NULL) == 0);
    step("the last word is unregistered", unregister_bit(&word, 0) == 0);
    set_file(PARAMETERS "pages_per_user", "4096");
    (void)munmap(memory, 2UL * large_size);
}

static void follow_huge_pages(void) {
    static const char number[] = "/proc/sys/vm/nr_hugepages";
    if (access(number, F_OK) != 0) {
        puts("without: huge pages");
        return;
    }
    set_file(number, "2");
    for (int i = 0; i < 2; ++i) {
        const int kind = i == 0 ? MAP_PRIVATE : MAP_SHARED;
        void* const page = mmap(NULL, large_size, PROT_READ | PROT_WRITE,
                                kind | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
        step("there is a huge page", page != MAP_FAILED);
        step("it is rejected", register_at(own_event, page, 0, NULL) == EOPNOTSUPP);
        (void)munmap(page, large_size);
    }
    set_file(number, "0");
}

/// The kernel must know when pages of such files are written, so that words there are rejected.
static void check_other_files(const char* folder) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/page", folder);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    step("there is a file on a disk", file >= 0 && ftruncate(file, page_size) == 0);
    char* page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    step("its page is rejected", register_at(own_event, page, 0, NULL) == EOPNOTSUPP);
    *page = 2;
    step("after it has been written, too", register_at(own_event, page, 0, NULL) == EOPNOTSUPP);
    (void)munmap(page, page_size);
    page = mmap(NULL, page_size, PROT_READ, MAP_SHARED, file, 0);
    step("a read-only page is rejected", register_at(own_event, page, 0, NULL) != 0);
    (void)munmap(page, page_size);
    page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    step("a private copy of the page is accepted", register_at(own_event, page, 0, NULL) == 0);
    subscribe_or_exit("memory_own", true);
    step("its bit is set", *page == 3);
    subscribe_or_exit("memory_own", false);
    step("and unregistered", unregister_bit(page, 0) == 0);
    (void)munmap(page, page_size);
    (void)close(file);
}

static void follow_children(void) {
    uint32_t* shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct user_events_registration wanted = registration_of("rules_fork u32 a");
    step("an event is registered before a fork", try_registration(&wanted) == 0);
    const pid_t child = fork();
    if (child == 0) {
        step("a child has no words", unregister_bit(&word, enable_bit) == ENOENT);
        struct user_events_registration own = registration_of("rules_fork u32 a");
        step("but can have them", try_registration(&own) == 0);
        step("through the same descriptor", own.write_index == wanted.write_index);
        set_file(OUR_EVENTS "rules_fork/enable", "1");
        *shared = (uint32_t)word;
        _exit(0);
    }
    int status = -1;
    step("the child ends", waitpid(child, &status, 0) == child && status == 0);
    step("its bit was set", *shared == 1U << enable_bit);
    step("and the parent's bit", word == 1U << enable_bit);
    const uint32_t event[] = {wanted.write_index, 1};
    step("the parent writes", write(device, event, sizeof event) == sizeof event);
    set_file(OUR_EVENTS "rules_fork/enable", "0");
    step("the parent's bit is cleared", word == 0);
    step("and unregistered", unregister_bit(&word, enable_bit) == 0);
    wanted.word_address = (uintptr_t)shared;
    step("a word may be in shared memory", try_registration(&wanted) == 0);
    step("the shared memory is unmapped", munmap(shared, 4096) == 0);
    set_file(OUR_EVENTS "rules_fork/enable", "1");
    set_file(OUR_EVENTS "rules_fork/enable", "0");
    step("without harm", unregister_bit(shared, enable_bit) == 0);
}

/// Tests words of 8 bytes, also with two events.
static void check_wide_words(void) {
    struct user_events_registration wanted = registration_of(own_event);
    wanted.word_size = sizeof word;
    wanted.bit = 40;
    step("a high bit of 8 bytes is registered", try_registration(&wanted) == 0);
    step("a low one, too, for another event", register_at("memory_low u32 a", &word, 3, NULL) == 0);
    subscribe_or_exit("memory_own", true);
    subscribe_or_exit("memory_low", true);
    step("both are set", word == (1ULL << 40U | 1U << 3U));
    subscribe_or_exit("memory_own", false);
    step("the high one is cleared", word == 1U << 3U);
    subscribe_or_exit("memory_low", false);
    step("and the low one", word == 0);
    step("both are unregistered", unregister_bit(&word, 40) == 0 && unregister_bit(&word, 3) == 0);
}

/// The kernel writes to the page of the registration, not to a later page at its address.
static void follow_emptied_pages(void) {
    char* const page =
        mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step("a word is registered", register_at(own_event, page, 0, NULL) == 0);
    step("its page is emptied", madvise(page, page_size, MADV_DONTNEED) == 0);
    subscribe_or_exit("memory_own", true);
    step("the new page has no bit set", *page == 0);
    step("it is still the same word", register_at(own_event, page, 0, NULL) == EADDRINUSE);
    step("it is unregistered", unregister_bit(page, 0) == 0);
    step("and registered again", register_at(own_event, page, 0, NULL) == 0);
    step("now its bit is set", *page == 1);
    (void)munmap(page, page_size);
    char* const other = mmap(page, page_size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    subscribe_or_exit("memory_own", false);
    *other = 1;
    step("another page at its address stays unchanged",
         unregister_bit(page, 0) == 0 && *other == 1);
    (void)munmap(other, page_size);
}

/// Runs after exec, with the descriptor of the previous program.
static int check_after_exec(const char* address, const char* descriptor) {
    device = (int)strtol(descriptor, NULL, 10);
    void* const old = (void*)strtoul(address, NULL, 16);
    return unregister_bit(old, enable_bit) == ENOENT &&
                   register_at(own_event, &word, enable_bit, NULL) == 0
               ? 0
               : 1;
}

static void follow_ends(void) {
    set_file(PARAMETERS "words_per_user", "1");
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        char address[32];
        char descriptor[16];
        (void)snprintf(address, sizeof address, "%lx", (unsigned long)&word);
        (void)snprintf(descriptor, sizeof descriptor, "%d", dup(device));
        if (register_at(own_event, &word, enable_bit, NULL) == 0) {
            (void)execl("/proc/self/exe", "eventlog_memory", "after", address, descriptor, NULL);
        }
        _exit(2);
    }
    int status = -1;
    step("exec releases the words of the previous program",
         waitpid(child, &status, 0) == child && status == 0);
    step("so does the end of a process", register_at(own_event, &word, enable_bit, NULL) == 0);
    step("a second word is too many", register_at(own_event, &word, 1, NULL) == EMFILE);
    step("it is unregistered", unregister_bit(&word, enable_bit) == 0);
    set_file(PARAMETERS "words_per_user", "65536");
}

int main(int argc, char** argv) {
    if (argc == 4) {
        return check_after_exec(argv[2], argv[3]);
    }
    device = open_device();
    step("the device can be opened", device >= 0);
    follow_large_pages();
    follow_huge_pages();
    if (argc > 1) {
        check_other_files(argv[1]);
    } else {
        puts("without: a disk");
    }
    follow_children();
    check_wide_words();
    follow_emptied_pages();
    follow_ends();
    (void)close(device);
    puts("ok: all memory rules");
    return 0;
}
