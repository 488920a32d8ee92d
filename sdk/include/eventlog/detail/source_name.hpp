// SPDX-License-Identifier: MIT
//
// The name of a source file, as schemas have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

inline constexpr std::size_t source_file_length_max = 255;

/// The name of the file without its directories; the last bytes of a long one. Translation units
/// include a header by different paths, and the linker keeps the schema of one of them, so all must
/// write the same bytes. Neither do schemas depend on the directory of the build.
constexpr std::string_view source_name(const char* path) noexcept {
    const std::size_t size = __builtin_strlen(path);
    std::size_t begin = size;
    while (begin != 0 && path[begin - 1] != '/' && size - begin < source_file_length_max) {
        --begin;
    }
    return {path + begin, size - begin};
}

/// Bytes of the attribute for a file and line; 0: there is none, as one of them is missing.
constexpr std::size_t size_of_source(std::string_view file, std::uint32_t line) noexcept {
    return line == 0 || file.empty() ? 0 : 3 + 4 + 1 + file.size();
}

/// Writes the attribute, which is there.
template <class Writer>
constexpr void write_source(Writer& writer, std::string_view file, std::uint32_t line) {
    writer.number(static_cast<std::uint8_t>(schema_format::attribute_kind::source), 1);
    writer.number(4 + 1 + file.size(), 2);
    writer.number(line, 4);
    writer.text(file);
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
