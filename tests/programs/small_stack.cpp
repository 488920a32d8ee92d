// SPDX-License-Identifier: MIT
//
// A signal handler that emits on a small alternate stack, below which there is no memory.
//
//     small_stack BYTES EVENTS EVENT
//
// BYTES: the size of the stack beside the kernel's signal frame. EVENT: step, text, three (variable
// fields) or large (over 512 bytes). Reads a line, then emits so many events, each in a handler of
// its own. Prints how much stack an emit has used at most.
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace {

struct step {
    std::uint32_t number;
};
struct text {
    std::uint32_t number;
    std::string_view words;
};
struct three {  // the most for which eventlog(7) promises 2 KiB
    std::uint32_t number;
    std::uint32_t size;
    std::uint64_t begin;
    std::uint64_t end;
    std::string_view words;
    std::span<const std::uint16_t> sequence;
    std::string_view more;
};
struct large {
    std::uint32_t number;
    std::string_view words;
    std::string_view more;
    std::string_view rest;
};
using small_stack = eventlog::provider<"small_stack", step, text, three, large>;

constexpr std::string_view some_words = "words of an event";
constexpr std::array<std::uint16_t, 4> some_numbers{1, 2, 3, 4};
constexpr auto many_characters = [] {
    std::array<char, 300> made{};
    made.fill('x');
    return made;
}();
constexpr std::string_view many_words(many_characters.data(), many_characters.size());

constexpr unsigned char paint = 0xa5;
unsigned char* lowest = nullptr;  // of the stack
volatile std::size_t deepest = 0;
volatile std::uint32_t number = 0;

void emit(step*) {
    small_stack::emit(step{number});
}

void emit(text*) {
    small_stack::emit(text{number, some_words});
}

void emit(three*) {
    small_stack::emit(three{number, 2, 3, 4, some_words, some_numbers, some_words});
}

void emit(large*) {
    small_stack::emit(large{number, many_words, some_words, many_words});
}

template <class Event>
void handle(int /*signal*/) {
    auto* const here = static_cast<unsigned char*>(__builtin_frame_address(0));
    emit(static_cast<Event*>(nullptr));
    const unsigned char* const touched =
        std::find_if(lowest, here, [](unsigned char byte) { return byte != paint; });
    const auto used = static_cast<std::size_t>(here - touched);
    if (used > deepest) {
        deepest = used;
    }
}

using handler = void (*)(int);

handler handler_of(std::string_view event) {
    return event == "text"    ? handle<text>
           : event == "three" ? handle<three>
           : event == "large" ? handle<large>
                              : handle<step>;
}

bool use_stack(std::size_t size, handler emitter) {
    // Larger than any frame.
    constexpr std::size_t guard = 65536;
    const std::size_t room = (size + guard - 1) / guard * guard;
    void* const memory =
        ::mmap(nullptr, guard + room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || ::mprotect(memory, guard, PROT_NONE) != 0) {
        return false;
    }
    lowest = static_cast<unsigned char*>(memory) + guard;
    std::memset(lowest, paint, room);
    stack_t stack{};
    stack.ss_sp = lowest;
    stack.ss_size = size;
    struct sigaction action {};
    action.sa_handler = emitter;
    action.sa_flags = SA_ONSTACK;
    return ::sigaltstack(&stack, nullptr) == 0 && ::sigaction(SIGUSR1, &action, nullptr) == 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::size_t beside = count > 3 ? std::strtoul(arguments[1], nullptr, 10) : 0;
    const std::size_t events = count > 3 ? std::strtoul(arguments[2], nullptr, 10) : 0;
    // Not MINSIGSTKSZ, which the C library makes larger than the kernel requires.
    const std::size_t frame = ::getauxval(AT_MINSIGSTKSZ) == 0 ? 2048 : ::getauxval(AT_MINSIGSTKSZ);
    if (events == 0 || !use_stack(frame + beside, handler_of(arguments[3]))) {
        return 2;
    }
    char line[64];
    if (std::fgets(line, sizeof line, stdin) == nullptr) {
        return 3;
    }
    for (std::size_t i = 0; i < events; ++i) {
        static_cast<void>(::raise(SIGUSR1));
        number = number + 1;
    }
    std::printf("used %zu bytes of stack\n", static_cast<std::size_t>(deepest));
    return 0;
}
