// SPDX-License-Identifier: MIT
//
// Fixed parts of a generated header for C++, as fmt formats.
#pragma once

namespace elog::cpp_templates {

/// 0: provider and description, 1: provider, 2: first event.
inline constexpr char head[] = R"(// Provider {0}
//
// Made by elog schema gen --lang c++. Change the schema and make it anew; this is overwritten.
//
//     {1}::provider::emit({1}::{2}{{...}});
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace {1} {{

)";

/// 0: enumeration, 1: its type.
inline constexpr char combine_operator[] =
    R"(constexpr {0} operator|({0} one, {0} other) noexcept {{
    return static_cast<{0}>(static_cast<{1}>(one) | static_cast<{1}>(other));
}}

)";

/// Bytes 16 to 23 of a schema are its hash. 0: provider, 1: hash.
inline constexpr char assertion[] =
    R"(// The compiled provider has the schema from which this file was made.
static_assert(
    [] {{
        std::uint64_t hash = 0;
        for (std::size_t i = 0; i < 8; ++i) {{
            hash |= std::uint64_t{{{0}::provider::schema()[16 + i]}} << (8 * i);
        }}
        return hash;
    }}() == 0x{1:016x}U,
    "{0}: this header belongs to another version of eventlog. Make it anew with elog schema gen.");
)";

}  // namespace elog::cpp_templates
