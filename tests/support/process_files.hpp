// SPDX-License-Identifier: MIT
//
// Reads the file in which a process publishes its providers, independently of the library.
#pragma once

#include <linux/eventlog.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <eventlog/schema_format.hpp>

#include "scratch.hpp"
#include "shm/process_file_layout.hpp"

namespace eventlog::test {

/// The file of a process; empty if it has none.
[[nodiscard]] inline std::string process_file_path(pid_t process) {
    const std::string prefix = std::to_string(process) + ".";
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator(eventlog_directory() + "/processes", ignored)) {
        if (entry.path().filename().string().starts_with(prefix)) {
            return entry.path();
        }
    }
    return {};
}

template <class Struct>
[[nodiscard]] bool read_struct(std::ifstream& file, std::uint64_t offset, Struct& found) {
    file.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file.read(reinterpret_cast<char*>(&found), sizeof found));
}

/// The published provider of that name in the file of a process.
[[nodiscard]] inline std::optional<eventlog_published_provider> find_published(
    pid_t process, std::string_view name) {
    std::ifstream file(process_file_path(process), std::ios::binary);
    eventlog_directory_block head{};
    for (std::uint64_t block = EVENTLOG_PROCESS_DIRECTORY_OFFSET;
         block != 0 && read_struct(file, block, head); block = head.next_offset) {
        for (std::uint32_t i = 0; i < head.used; ++i) {
            eventlog_published_provider entry{};
            if (!read_struct(file, block + sizeof head + i * sizeof entry, entry) ||
                entry.state != EVENTLOG_PUBLISHED_READY) {
                continue;
            }
            std::string schema(entry.schema_size, '\0');
            file.seekg(static_cast<std::streamoff>(entry.schema_offset));
            file.read(schema.data(), static_cast<std::streamsize>(schema.size()));
            if (schema.size() > schema_format::header_size &&
                schema.substr(schema_format::header_size + 1,
                              static_cast<unsigned char>(schema[schema_format::header_size])) ==
                    name) {
                return entry;
            }
        }
    }
    return std::nullopt;
}

[[nodiscard]] inline bool is_published(pid_t process, std::string_view name) {
    return find_published(process, name).has_value();
}

/// The first words of the provider's own gate; empty if it is not published.
[[nodiscard]] inline std::vector<std::uint32_t> own_gate_of(pid_t process, std::string_view name) {
    const std::optional<eventlog_published_provider> found = find_published(process, name);
    if (!found) {
        return {};
    }
    std::vector<std::uint32_t> words(found->event_count);
    std::ifstream file(process_file_path(process), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(found->gate_offset));
    file.read(reinterpret_cast<char*>(words.data()),
              static_cast<std::streamsize>(words.size() * sizeof(std::uint32_t)));
    return words;
}

}  // namespace eventlog::test
