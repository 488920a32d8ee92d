// SPDX-License-Identifier: MIT
//
// Counts the page faults of each emit. A system call before and after each shows a tracer which
// calls belong to it.
//
//     emit_costs EVENTS BYTES
//
// Reads a line, then emits so many events with a text of so many bytes. Prints the page faults of
// the first emit, and the largest number of another one.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <eventlog/eventlog.hpp>

namespace {

struct step {
    std::string_view text;
};
using emit_costs = eventlog::provider<"emit_costs", step>;

long page_faults() {
    rusage usage{};
    return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt + usage.ru_majflt : -1;
}

}  // namespace

int main(int count, char** arguments) {
    const unsigned long events = count > 2 ? std::strtoul(arguments[1], nullptr, 10) : 0;
    const std::string text(count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 0, 'x');
    char line[64];
    if (events == 0 || std::fgets(line, sizeof line, stdin) == nullptr) {
        return 2;
    }
    long first = 0;
    long most = 0;
    for (unsigned long i = 0; i < events; ++i) {
        const long before = page_faults();
        emit_costs::emit(step{text});
        const long faults = page_faults() - before;
        if (i == 0) {
            first = faults;
        } else {
            most = std::max(most, faults);
        }
    }
    std::printf("faults %ld %ld\n", first, most);
    return 0;
}
