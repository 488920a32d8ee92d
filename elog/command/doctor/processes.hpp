// SPDX-License-Identifier: MIT
//
// Finds running programs with the library, for the checks about them. A user finds those of the own
// user only; root finds all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "shm/directory.hpp"

namespace elog::doctor {

/// How many programs a check names.
inline constexpr std::size_t shown_programs_max = 3;

/// The path of a file about the process in /proc.
[[nodiscard]] std::string proc_path(const std::string& pid, const char* file);

/// The name in the text of the file `status`.
[[nodiscard]] std::string_view process_name(std::string_view status);

/// The directory for the members of a group.
[[nodiscard]] eventlog::core::directory_path path_of_group();

struct publishers {
    std::set<std::string> pids;  // of processes in this pid namespace
    // All processes, by their pid namespaces and the pids there.
    std::set<std::pair<std::uint64_t, std::uint32_t>> everywhere;
    bool are_of_group = false;
};

/// The live processes with a file in the directory.
[[nodiscard]] publishers find_published(const eventlog::core::directory_path& path);

/// The pids of processes that have loaded the shared library and are not in `published`.
[[nodiscard]] std::set<std::string> find_unpublished(const publishers& published);

}  // namespace elog::doctor
