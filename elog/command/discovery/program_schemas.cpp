// SPDX-License-Identifier: MIT
#include "discovery/program_schemas.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <eventlog/schema_format.hpp>

#include "base/read_at.hpp"
#include "base/user_error.hpp"
#include "discovery/schema_sources.hpp"
#include "platform/unique_fd.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

constexpr std::array<char, 4> schema_magic_bytes{'E', 'S', 'C', 'H'};
constexpr std::string_view elf_magic = "\x7f"
                                       "ELF";

/// Size of the part of a file that is in memory at once.
constexpr std::size_t part_size = std::size_t{4} << 20U;

void read_part(const std::string& name, const core::unique_fd& file, std::vector<char>& part,
               std::uint64_t offset) {
    if (!read_at(file, part.data(), part.size(), offset)) {
        throw user_error("Cannot read all of {}. If it is being written, try again afterwards.",
                         name);
    }
}

/// Adds the schema that begins at that offset, if there is one.
void take_schema(const std::vector<char>& part, std::size_t at,
                 std::vector<provider_schema>& found) {
    const std::size_t size = std::min(part.size() - at, schema_format::size_max);
    try {
        const std::vector<std::uint8_t> bytes(part.data() + at, part.data() + at + size);
        add_unique(found, provider_schema::parse(bytes));
    } catch (const user_error&) {
        // The magic bytes alone: every program that reads schemas contains them.
    }
}

}  // namespace

bool is_program(std::string_view content) noexcept {
    return content.starts_with(elf_magic);
}

std::vector<provider_schema> read_program(const std::string& path, const std::string& name) {
    const core::unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) {
        throw user_error("Cannot open {}: {}.", name, std::strerror(errno));
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    std::vector<provider_schema> found;
    std::vector<char> part;
    // Parts overlap by the maximum size of a schema, so that each schema is entirely in one part.
    for (std::uint64_t offset = 0; offset < size; offset += part_size) {
        part.resize(std::min<std::uint64_t>(size - offset, part_size + schema_format::size_max));
        read_part(name, file, part, offset);
        const auto end =
            part.begin() + static_cast<std::ptrdiff_t>(
                               std::min(part.size(), part_size + schema_magic_bytes.size() - 1));
        auto at =
            std::search(part.begin(), end, schema_magic_bytes.begin(), schema_magic_bytes.end());
        while (at != end) {
            take_schema(part, static_cast<std::size_t>(at - part.begin()), found);
            at = std::search(at + 1, end, schema_magic_bytes.begin(), schema_magic_bytes.end());
        }
    }
    if (found.empty()) {
        throw user_error(
            "No provider has been compiled into {}. If it has some from a library, name "
            "that one; if it defines them when it runs, start it and name the provider.",
            name);
    }
    return found;
}

}  // namespace elog
