// SPDX-License-Identifier: MIT
//
// Texts, bytes and arrays: of any length, or of a fixed number of elements.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <eventlog/eventlog.hpp>

struct mail_received {
    static constexpr eventlog::event_info info{
        .fields = {{.member = "address", .format = eventlog::format::ip_address}}};
    std::string_view sender;
    std::array<std::uint8_t, 4> address;
    std::array<float, 3> scores;
    std::vector<std::uint32_t> part_sizes;
    std::span<const std::byte> begin;
};
using mailbox = eventlog::provider<"mailbox", mail_received>;

int main() {
    constexpr std::array body{std::byte{0x48}, std::byte{0x69}, std::byte{0x0a}};
    mailbox::emit(
        mail_received{"ann@example.org", {192, 0, 2, 7}, {0.5F, 0.25F, 2}, {120, 4096}, body});
}
