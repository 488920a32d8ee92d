// SPDX-License-Identifier: MIT
//
// An enumeration has an adapter, which would be ignored.
#include <cstdint>

#include <eventlog/eventlog.hpp>

// expect: eventlog: the eventlog::convert<...> of a field is not usable. The type must be a class
enum class color : std::uint8_t { red };
template <>
struct eventlog::convert<color> {
    static std::uint32_t to_field(color from) noexcept { return static_cast<std::uint32_t>(from); }
};

struct painted {
    color with;
};
using shop = eventlog::provider<"shop", painted>;

void paint() {
    shop::emit(painted{color::red});
}
