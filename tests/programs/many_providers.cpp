// SPDX-License-Identifier: MIT
//
// Registers many providers of ten events each and prints the number of published ones. On request
// it emits each enabled event once, and prints their number.
//
//     many_providers PROVIDERS      a line on standard input: emit; its end: continue
#include <sys/mman.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <eventlog/eventlog.hpp>

namespace {

// The numbers of the provider and of the event identify each event.
// clang-format off
struct said_0 { std::uint32_t provider; std::uint32_t event; };
struct said_1 { std::uint32_t provider; std::uint32_t event; };
struct said_2 { std::uint32_t provider; std::uint32_t event; };
struct said_3 { std::uint32_t provider; std::uint32_t event; };
struct said_4 { std::uint32_t provider; std::uint32_t event; };
struct said_5 { std::uint32_t provider; std::uint32_t event; };
struct said_6 { std::uint32_t provider; std::uint32_t event; };
struct said_7 { std::uint32_t provider; std::uint32_t event; };
struct said_8 { std::uint32_t provider; std::uint32_t event; };
struct said_9 { std::uint32_t provider; std::uint32_t event; };
// clang-format on
using pattern = eventlog::provider<"many_00000", said_0, said_1, said_2, said_3, said_4, said_5,
                                   said_6, said_7, said_8, said_9>;
constexpr std::uint32_t event_count = 10;

/// A provider defined at run time, as a binding of another language defines it.
class made_provider {
  public:
    explicit made_provider(std::uint32_t number)
        : number_(number), schema_(pattern::schema().begin(), pattern::schema().end()) {
        rename();
        gate_ = static_cast<std::uint32_t*>(::mmap(nullptr, eventlog::detail::gate_size,
                                                   PROT_READ | PROT_WRITE,
                                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        const eventlog_raw_provider definition{
            sizeof definition,           event_count,    gate_,
            eventlog::detail::gate_size, schema_.data(), schema_.size(),
        };
        handle_ = eventlog_raw_provider_register(&definition);
    }

    /// Returns the number of enabled events, all of which are attempted.
    [[nodiscard]] std::uint64_t emit() const {
        std::uint64_t attempted = 0;
        for (std::uint32_t event = 0; event < event_count; ++event) {
            if (__atomic_load_n(&gate_[event], __ATOMIC_RELAXED) != 0) {
                const std::uint32_t payload[] = {number_, event};
                eventlog_emit_raw(handle_, event, payload, sizeof payload);
                ++attempted;
            }
        }
        return attempted;
    }

    [[nodiscard]] bool is_published() const {
        char text[256];
        const bool published =
            eventlog_provider_status(handle_, text, sizeof text) == EVENTLOG_STATUS_OK;
        if (!published) {
            std::fprintf(stderr, "%s\n", text);
        }
        return published;
    }

    void withdraw() const { eventlog_raw_provider_unregister(handle_); }

  private:
    /// Replaces the name in the pattern's schema, and updates the hash.
    void rename() {
        constexpr std::size_t hash_offset = 16;
        constexpr std::string_view zeros = "00000";
        const auto place = std::search(schema_.begin(), schema_.end(), zeros.begin(), zeros.end());
        std::uint32_t rest = number_;
        for (auto digit = zeros.size(); digit-- > 0; rest /= 10) {
            place[static_cast<std::ptrdiff_t>(digit)] = static_cast<std::uint8_t>('0' + rest % 10);
        }
        std::fill_n(schema_.begin() + hash_offset, 8, std::uint8_t{0});
        std::uint64_t hash = eventlog::schema_format::fnv1a_start;
        for (const std::uint8_t byte : schema_) {
            hash = eventlog::schema_format::fnv1a(hash, byte);
        }
        for (std::size_t i = 0; i < 8; ++i) {
            schema_[hash_offset + i] = static_cast<std::uint8_t>(hash >> (8 * i));
        }
    }

    std::uint32_t number_;
    std::vector<std::uint8_t> schema_;
    std::uint32_t* gate_ = nullptr;
    eventlog_provider* handle_ = nullptr;
};

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 2) {
        std::fputs("usage: many_providers PROVIDERS\n", stderr);
        return 2;
    }
    const auto provider_count = static_cast<std::uint32_t>(std::strtoul(arguments[1], nullptr, 10));
    std::vector<made_provider> all;
    all.reserve(provider_count);
    std::uint32_t published = 0;
    for (std::uint32_t number = 0; number < provider_count; ++number) {
        published += all.emplace_back(number).is_published() ? 1U : 0U;
    }
    std::printf("published %" PRIu32 "\n", published);
    std::fflush(stdout);
    for (int character = 0; (character = std::getchar()) != EOF;) {
        if (character == '\n') {
            std::uint64_t attempted = 0;
            for (const made_provider& provider : all) {
                attempted += provider.emit();
            }
            std::printf("attempted %" PRIu64 "\n", attempted);
            std::fflush(stdout);
        }
    }
    for (const made_provider& provider : all) {
        provider.withdraw();
    }
}
