// SPDX-License-Identifier: MIT
//
// Tests the limits of /dev/eventlog of the kernel module, for each user and for all users, as root.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_steps.h"

enum { ordinary = 1002 };

static void restore_default_limit(void) {
    set_file(PARAMETERS "events_per_user", "4096");
    set_file(PARAMETERS "words_per_user", "65536");
    set_file(PARAMETERS "words_max", "262144");
    set_file(PARAMETERS "pages_per_user", "4096");
    set_file(PARAMETERS "files_per_user", "4096");
}

static void follow_limits_of_a_user(void) {
    set_file(PARAMETERS "events_per_user", "2");
    set_file(PARAMETERS "words_per_user", "3");
    set_file(PARAMETERS "pages_per_user", "1");
    set_file(PARAMETERS "files_per_user", "2");
    struct user_events_registration wanted = registration_of("limits_1 u32 a");
    step("a first event is registered", try_registration(&wanted) == 0);
    wanted = registration_of("limits_2 u32 a");
    wanted.bit = 29;
    step("and a second", try_registration(&wanted) == 0);
    wanted = registration_of("limits_3 u32 a");
    wanted.bit = 28;
    step("a third is one too many", try_registration(&wanted) == EMFILE);
    wanted = registration_of("limits_1 u32 a");
    wanted.bit = 28;
    step("a third word is registered", try_registration(&wanted) == 0);
    wanted.bit = 27;
    step("a fourth is one too many", try_registration(&wanted) == EMFILE);
    set_file(PARAMETERS "events_per_user", "3");
    wanted = registration_of("limits_3 u32 a");
    wanted.bit = 27;
    step("also for a new event", try_registration(&wanted) == EMFILE);
    const int error = delete_event("limits_3");
    step("the event is not registered", error == 0 || error == ENOENT);
    step("one is unregistered", unregister_bit(&word, 28) == 0);
    uint32_t* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wanted.word_address = (uintptr_t)page;
    step("a second page is one too many", try_registration(&wanted) == EMFILE);
    const int second = open_device();
    step("a second file is opened", second >= 0);
    step("a third is one too many", open_device() == -1 && errno == EMFILE);
    (void)close(second);
    restore_default_limit();
    step("the other bits are unregistered",
         unregister_bit(&word, enable_bit) == 0 && unregister_bit(&word, 29) == 0);
}

/// One of eight words is reserved for root.
static void follow_limits_of_all(void) {
    static const char event[] = "limits_of_all u32 a";
    const int own = device;
    set_file(PARAMETERS "words_max", "8");
    step("there is an ordinary user", seteuid(ordinary) == 0);
    device = open_device();
    step("it may open the device", device >= 0);
    for (uint8_t bit = 0; bit < 7; ++bit) {
        step("seven words are for all users", register_at(event, &word, bit, NULL) == 0);
    }
    step("the eighth is reserved", register_at(event, &word, 7, NULL) == EMFILE);
    const int others = device;
    device = own;
    step("for root", seteuid(0) == 0 && register_at(event, &word, 7, NULL) == 0);
    step("root cannot have more", register_at(event, &word, 8, NULL) == EMFILE);
    (void)close(others);
    step("closing releases words", register_at(event, &word, 8, NULL) == 0);
    step("the words are unregistered",
         unregister_bit(&word, 7) == 0 && unregister_bit(&word, 8) == 0);
    restore_default_limit();
    word = 0;
}

static void wait_for(int pipe) {
    char byte = 0;
    step("the child is ready", read(pipe, &byte, 1) == 1);
}

static void resume(int pipe) {
    step("the child continues", write(pipe, "r", 1) == 1);
}

/// Each user may have one file.
_Noreturn static void be_many(int ready, int mapped) {
    step("the user is an ordinary one", setresgid(ordinary, ordinary, ordinary) == 0 &&
                                            setresuid(ordinary, ordinary, ordinary) == 0);
    const int first = open_device();
    step("it has a file", first >= 0);
    step("one more is too many", open_device() == -1 && errno == EMFILE);
    step("it creates a user namespace", unshare(CLONE_NEWUSER) == 0);
    resume(ready);
    wait_for(mapped);
    step("it changes its user there", setresuid(1, 1, 1) == 0);
    step("its files count as those of the outer user", open_device() == -1 && errno == EMFILE);
    (void)close(first);
    step("after closing the file another one can be opened", open_device() >= 0);
    _exit(0);
}

static void map_users(pid_t process, const char* file) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)process, file);
    set_file(path, "0 100000 2");
}

static void follow_limits_of_namespaces(void) {
    int ready[2];
    int mapped[2];
    step("there are pipes", pipe(ready) == 0 && pipe(mapped) == 0);
    set_file(PARAMETERS "files_per_user", "1");
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        be_many(ready[1], mapped[0]);
    }
    (void)close(ready[1]);
    wait_for(ready[0]);
    map_users(child, "uid_map");
    map_users(child, "gid_map");
    resume(mapped[1]);
    int status = -1;
    step("users of a namespace count as its owner",
         waitpid(child, &status, 0) == child && status == 0);
    restore_default_limit();
}

int main(void) {
    device = open_device();
    step("the device can be opened", device >= 0);
    // The kernel removes events of earlier programs a moment later; they count until then.
    step("all events are removed", wait_until_removed(""));
    step("all users may open the device", chmod("/dev/eventlog", 0666) == 0);
    follow_limits_of_a_user();
    follow_limits_of_all();
    follow_limits_of_namespaces();
    step("the mode is restored", chmod("/dev/eventlog", 0660) == 0);
    (void)close(device);
    puts("ok: all limits");
    return 0;
}
