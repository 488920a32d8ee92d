// SPDX-License-Identifier: MIT
//
// Network addresses as fields. The bytes are in network order.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace eventlog {
inline namespace v0 {

/// Shown as 192.0.2.1.
struct ipv4_address {
    std::array<std::uint8_t, 4> octets{};

    /// From in_addr::s_addr, which is in network byte order.
    [[nodiscard]] static constexpr ipv4_address from_network(std::uint32_t address) noexcept {
        return {std::bit_cast<std::array<std::uint8_t, 4>>(address)};
    }
    friend constexpr bool operator==(const ipv4_address&, const ipv4_address&) = default;
};

/// Shown as 2001:db8::1.
struct ipv6_address {
    std::array<std::uint8_t, 16> octets{};

    /// From in6_addr or any other type of 16 bytes.
    template <class Address>
    requires(sizeof(Address) == 16) [[nodiscard]] static ipv6_address
        from_network(const Address& address) noexcept {
        ipv6_address made;
        std::memcpy(made.octets.data(), &address, sizeof address);
        return made;
    }
    friend constexpr bool operator==(const ipv6_address&, const ipv6_address&) = default;
};

/// Shown as 00:00:5e:00:53:01.
struct mac_address {
    std::array<std::uint8_t, 6> octets{};

    friend constexpr bool operator==(const mac_address&, const mac_address&) = default;
};

}  // namespace v0
}  // namespace eventlog
