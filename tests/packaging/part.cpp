// SPDX-License-Identifier: MIT
//
// A program and a shared object of it, which both emit from a provider that both include: for the
// many ways in which such things are compiled. With PART defined this is the shared object.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct measured {
    std::uint64_t number;
    double value;
    std::string_view by;
};

using lab = eventlog::provider<"lab", measured>;

extern "C" [[gnu::visibility("default")]] void measure_in_part(std::uint64_t count);

#ifdef PART

void measure_in_part(std::uint64_t count) {
    for (std::uint64_t number = 0; number < count; ++number) {
        lab::emit_lazily([&] { return measured{number, 0.5, "part"}; });
    }
}

#else

int main(int argument_count, char** arguments) {
    const std::uint64_t count = argument_count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
    for (std::uint64_t number = 0; number < count; ++number) {
        lab::emit(measured{number, 0.25, "program"});
    }
    measure_in_part(count);
}

#endif
