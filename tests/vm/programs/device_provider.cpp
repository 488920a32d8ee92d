// SPDX-License-Identifier: MIT
//
// A provider with levels, keywords and sessions, for tests of filters: ROUNDS [CHILDREN]. Emits its
// events ROUNDS times, and then once per child, one child after another.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include <eventlog/eventlog.hpp>

namespace {

constexpr eventlog::keyword sales{0, "sales"};
constexpr eventlog::keyword security{1, "security"};

struct sale {
    std::uint64_t number;
};
struct refund {
    std::uint64_t number;
};
struct break_in {
    std::uint64_t number;
};
struct note {
    std::uint64_t number;
};
struct step {
    std::uint64_t number;
};
struct payment {
    std::uint64_t number;
};
using shop = eventlog::provider<"shop", sale, refund, break_in, note, step, payment>;

}  // namespace

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<shop>{
    .keywords = {sales, security}};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<sale>{.keywords = sales};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<refund>{
    .level = eventlog::level::warn, .keywords = sales | security};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<break_in>{
    .level = eventlog::level::error, .keywords = security};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<note>{.level =
                                                                        eventlog::level::verbose};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<step>{.level = eventlog::level::trace,
                                                                    .session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<payment>{.keywords = sales,
                                                                       .session_bound = true};

namespace {

void emit(std::uint64_t rounds) {
    for (std::uint64_t number = 0; number < rounds; ++number) {
        shop::emit(sale{number});
        shop::emit(refund{number});
        shop::emit(break_in{number});
        shop::emit(note{number});
        for (std::uint64_t session = 1; session <= 3; ++session) {
            const eventlog::session<shop> customer(session);
            customer.emit(step{number});
            customer.emit(payment{number});
        }
    }
}

/// Returns whether the child succeeded.
bool emit_in_child(std::uint64_t rounds) {
    const pid_t child = ::fork();
    if (child == 0) {
        emit(rounds);
        ::_exit(0);
    }
    int status = -1;
    return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
    const std::uint64_t children = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    emit(rounds);
    bool well = true;
    for (std::uint64_t i = 0; i < children; ++i) {
        well = emit_in_child(rounds) && well;
    }
    return well ? 0 : 1;
}
