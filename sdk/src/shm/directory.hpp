// SPDX-License-Identifier: MIT
//
// The directory in which providers and subscriptions find each other.
//
//   /dev/shm/eventlog-UID/            0700, ours alone; EVENTLOG_DIR names another
//     providers/NAME.PID.N            one file per provider instance
//     subscriptions/NN                one file per subscription, NN = its slot, 00 to 15
//
// Files appear complete or not at all: they are made without a name and linked
// when they are ready. Whoever publishes first and scans second, on both sides,
// misses nobody.
#pragma once

#include <dirent.h>

#include <array>
#include <cstddef>

#include "platform/error_text.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::core {

struct directory_path {
    std::array<char, 512> text{};
    bool too_long = false;
};

/// EVENTLOG_DIR (ignored in setuid programs), else the user's own in /dev/shm. An application asks
/// once, when it registers its first provider: later it may have become another user, and getenv
/// has no place on the emit path.
[[nodiscard]] directory_path current_directory() noexcept;

enum class if_missing { fail, create };

/// The two folders, opened after it was made sure that nobody else can write to them.
struct directory {
    unique_fd providers;
    unique_fd subscriptions;

    /// Returns false with a sentence in `error`.
    [[nodiscard]] bool open(const directory_path& path, if_missing policy,
                            error_text& error) noexcept;
};

/// Makes a file without a name in `folder`, readable and writable by the owner only.
[[nodiscard]] unique_fd create_unnamed_file(const unique_fd& folder, error_text& error) noexcept;

/// Gives such a file its name. Returns 0, EEXIST if the name is taken, or another errno.
[[nodiscard]] int link_file(const unique_fd& file, const unique_fd& folder,
                            const char* name) noexcept;

using slot_name = std::array<char, 4>;
[[nodiscard]] slot_name slot_file_name(unsigned slot) noexcept;

/// Iterates over the names in a folder, "." and ".." left out.
class folder_listing {
  public:
    explicit folder_listing(const unique_fd& folder) noexcept;
    ~folder_listing();
    folder_listing(const folder_listing&) = delete;
    folder_listing& operator=(const folder_listing&) = delete;

    /// The next name, valid until the next call; nullptr at the end.
    [[nodiscard]] const char* next() noexcept;

  private:
    DIR* stream_ = nullptr;
};

}  // namespace eventlog::core
