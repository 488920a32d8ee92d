// SPDX-License-Identifier: MIT
//
// Fixed parts of a generated header for C++, as fmt formats.
#pragma once

namespace elog::cpp_templates {

/// 0: provider and description, 1: provider, 2: a call that emits an event.
inline constexpr char head[] = R"(// Provider {0}
//
// Made by elog schema gen --lang c++. Change the schema and make it anew; this is overwritten.
//
//     {2}
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

/// 0: type, 1: type of its info. Members follow, then describe_end.
inline constexpr char describe_begin[] =
    R"(consteval auto describe(eventlog::of<{0}>) {{
    return eventlog::{1}{{
)";

inline constexpr char describe_end[] = R"(    };
}

)";

/// Bytes 16 to 23 of a schema are its hash. 0: provider, 1: hash.
inline constexpr char assertion[] =
    R"(}}  // namespace {0}

// The compiled provider has the schema from which this file was made.
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
