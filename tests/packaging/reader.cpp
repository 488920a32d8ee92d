// SPDX-License-Identifier: MIT
//
// A small program with libelog: prints the events of main.cpp from a recording. Iterating over
// records and fields must not allocate.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include <elog/elog.hpp>

namespace {

std::size_t allocations = 0;

/// Both sides of the library must agree on the type of errors.
bool is_refused(const char* path) {
    try {
        static_cast<void>(elog::open(path));
    } catch (const elog::error&) {
        return true;
    }
    return false;
}

}  // namespace

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) {
        return memory;
    }
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
    std::free(memory);
}

int main(int argument_count, char** arguments) {
    if (argument_count != 2 || !is_refused("/there/is/no/such/file.elog")) {
        return 2;
    }
    elog::source file = elog::open(arguments[1]);
    if (allocations == 0) {
        return 3;  // the library's allocations are not counted
    }
    while (const auto record = file.get()) {
        const std::size_t before = allocations;
        const auto number = (*record)[0].as<std::uint32_t>();
        const auto text = (*record)["text"].as<std::string_view>().value_or("?");
        if (allocations != before || record->time() == elog::timestamp()) {
            return 4;
        }
        std::printf("%.*s:%.*s %u %.*s\n", static_cast<int>(record->provider().size()),
                    record->provider().data(), static_cast<int>(record->name().size()),
                    record->name().data(), number.value_or(0), static_cast<int>(text.size()),
                    text.data());
    }
    return file.complaints().empty() ? 0 : 5;
}
