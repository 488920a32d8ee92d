// SPDX-License-Identifier: MIT
//
// Enters a place without access to its directory, and prints the result of publishing its provider:
// there, and in a child forked there that publishes again. Emits in each place.
//
//     sandboxed chroot DIRECTORY
//     sandboxed user NUMBER
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace {

struct cry {
    std::uint32_t number;
};
using confined = eventlog::provider<"confined", cry>;

void say(const char* where) {
    const eventlog::provider_status status = confined::status();
    std::printf("%s %d %s\n", where, static_cast<int>(status.code), status.text.data());
    std::fflush(stdout);
}

bool go(std::string_view manner, const char* where) {
    if (manner == "chroot") {
        return ::chroot(where) == 0 && ::chdir("/") == 0;
    }
    const auto user = static_cast<uid_t>(std::strtoul(where, nullptr, 10));
    return ::setresuid(user, user, user) == 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 3) {
        std::fputs("usage: sandboxed chroot DIRECTORY | user NUMBER\n", stderr);
        return 2;
    }
    confined::emit(cry{1});
    say("outside");
    if (!go(arguments[1], arguments[2])) {
        std::perror("sandboxed");
        return 1;
    }
    // Existing listeners still receive it.
    confined::emit(cry{2});
    say("inside");
    const pid_t child = ::fork();
    if (child == 0) {
        confined::emit(cry{3});
        say("child");
        ::_exit(0);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
        return 1;
    }
    confined::emit(cry{4});
}
