// SPDX-License-Identifier: MIT
//
// The directory that contains the files of processes and subscriptions.
//
//     /dev/shm/eventlog-UID/            0700, private to the user; EVENTLOG_DIR names another.
//                                       (Below user namespaces: user_directory.hpp.)
//                                       UID is the number outside of a user namespace
//       processes/PID.START             one file per process that has providers
//       subscriptions/NN                one file per subscription, NN = its slot, 00 to 15
//
// Invariant: a file appears complete or not at all: it is created without a name and linked when it
// is ready. Both sides publish first and scan second, so at least one of them sees the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "platform/data_reader.hpp"
#include "platform/error_text.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::core {

struct directory_path {
    std::array<char, 512> text{};
    bool too_long = false;
};

/// EVENTLOG_DIR (ignored in setuid programs), else the group's directory, else the user's own in
/// /dev/shm. An application calls this once, at its first registration: later it may run as another
/// user, and getenv is not allowed on the emit path.
[[nodiscard]] directory_path current_directory() noexcept;

/// A relative path would name another directory after chdir(2), for providers and processes that
/// begin later: only absolute ones are opened.
[[nodiscard]] inline bool is_absolute(const directory_path& path) noexcept {
    return path.text[0] == '/';
}

/// After open() has failed: whether the directory, named by mistake, is not one of eventlog, so
/// that no message may advise to close or remove it. It is open to other users, and sticky, as
/// /dev/shm, or has entries, but not those of eventlog. Replaces the message then. Not for an emit.
bool explain_other_use(const directory_path& path, error_text& error) noexcept;

enum class if_missing { fail, create };

/// The two folders, opened after a check that other users cannot write to them.
struct directory {
    unique_fd processes;
    unique_fd subscriptions;
    data_reader reader;     // of the files in it
    const char* name = "";  // of the path that was opened

    /// Returns false and the message in `error`, which refers to the path.
    [[nodiscard]] bool open(const directory_path& path, if_missing policy,
                            error_text& error) noexcept;
    bool open(const directory_path&& path, if_missing policy, error_text& error) = delete;
    /// Makes it where it is missing, and where another user has made root's directory. Not for an
    /// emit.
    [[nodiscard]] bool create(const directory_path& path, error_text& error) noexcept;
    bool create(const directory_path&& path, error_text& error) = delete;
};

/// Creates a file without a name in `folder`, accessible to the owner only, or to the group in a
/// group's directory. `shown` is the directory's name in the message.
[[nodiscard]] unique_fd create_unnamed_file(const unique_fd& folder, const char* shown,
                                            error_text& error) noexcept;

/// Links the file under a name. Returns 0, EEXIST if the name exists, or another errno.
[[nodiscard]] int link_file(const unique_fd& file, const unique_fd& folder,
                            const char* name) noexcept;

using slot_name = std::array<char, 4>;
/// In static memory.
[[nodiscard]] const slot_name& slot_file_name(unsigned slot) noexcept;

/// A bit for each slot that has a file in the folder of subscriptions; all of them if the folder
/// cannot be listed. Takes three system calls.
[[nodiscard]] std::uint32_t present_slots(const unique_fd& subscriptions) noexcept;

/// Iterates over the names in an open folder from its position on, without "." and "..". Not by
/// readdir, which allocates: this may run in a signal handler, and on its stack.
class folder_names {
  public:
    explicit folder_names(int folder) noexcept : folder_(folder) {}

    /// The next name, valid until the next call; nullptr at the end and after an error.
    [[nodiscard]] const char* next() noexcept;
    [[nodiscard]] bool has_failed() const noexcept { return size_ < 0; }

  private:
    int folder_;
    long size_ = 0;
    long offset_ = 0;
    // For all subscriptions at once, and any name.
    alignas(std::uint64_t) std::array<char, 512> entries_{};
};

/// Iterates over the names in a folder from its beginning on.
class folder_listing {
  public:
    explicit folder_listing(const unique_fd& folder) noexcept;

    /// As folder_names.
    [[nodiscard]] const char* next() noexcept { return names_.next(); }

  private:
    unique_fd folder_;  // of its own, because descriptors share a position with their copies
    folder_names names_;
};

}  // namespace eventlog::core
