// SPDX-License-Identifier: MIT
//
// Emits events that equal their payload, and prints for each whether the library got the address of
// the object itself, and its bytes. The program replaces the library's function to observe that.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <eventlog/eventlog.hpp>

namespace {

struct histogram {
    std::uint64_t total;
    std::array<std::uint32_t, 8> counts;
    std::array<std::uint8_t, 24> tail;
};
struct numbers {
    std::uint64_t first, second, third, fourth, fifth, sixth, seventh, eighth, ninth;
};
using memcpy_payload = eventlog::provider<"memcpy_payload", histogram, numbers>;

// A number: the pointer to a temporary object is invalid when it is compared.
std::uintptr_t handed = 0;
std::array<unsigned char, 128> bytes{};
std::size_t bytes_size = 0;

std::uintptr_t place_of(const void* object) {
    return reinterpret_cast<std::uintptr_t>(object);
}

void say(const char* how, std::uintptr_t object, const void* expected, std::size_t size) {
    const bool equal = bytes_size == size && std::memcmp(bytes.data(), expected, size) == 0;
    std::printf("%s: %s, %s\n", how, handed == object ? "the object itself" : "a copy",
                equal ? "its bytes" : "other bytes");
    handed = 0;
}

}  // namespace

void eventlog_emit_raw(eventlog_provider* /*provider*/, std::uint32_t /*event*/,
                       const void* payload, std::size_t size) {
    handed = place_of(payload);
    bytes_size = size;
    std::memcpy(bytes.data(), payload, size < bytes.size() ? size : bytes.size());
}

int main() {
    const histogram event{3, {1, 2, 0, 0, 0, 0, 0, 7}, {9, 8, 7}};
    memcpy_payload::emit(event);
    say("emit", place_of(&event), &event, sizeof event);

    std::uintptr_t made_at = 0;
    memcpy_payload::emit([&] {
        histogram made{3, {1, 2, 0, 0, 0, 0, 0, 7}, {9, 8, 7}};
        made_at = place_of(&made);
        return made;
    });
    say("emit with a callable", made_at, &event, sizeof event);

    const numbers row{1, 2, 3, 4, 5, 6, 7, 8, 9};
    memcpy_payload::emit(row);
    say("emit of what registers hold", place_of(&row), &row, sizeof row);

    memcpy_payload::emit([&] {
        numbers made = row;
        made_at = place_of(&made);
        return made;
    });
    say("emit with a callable of more than a line", made_at, &row, sizeof row);
}
