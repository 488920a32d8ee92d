// SPDX-License-Identifier: MIT
//
// A subscription's file in the directory, as found there by applications and by elog.
#pragma once

#include <linux/eventlog.h>

#include "platform/error_text.hpp"
#include "platform/process.hpp"
#include "platform/unique_fd.hpp"
#include "ring/region.hpp"
#include "shm/directory.hpp"

namespace eventlog::core {

/// Somebody's subscription, opened and checked.
class subscription_file {
  public:
    enum class found { nothing, unreadable, unusable, usable };

    /// `nothing` if the slot is free; `unreadable`, with a sentence, if that cannot be told, and
    /// `unusable` if what is there is damaged.
    [[nodiscard]] found open(const directory& where, unsigned slot, error_text& error) noexcept;

    [[nodiscard]] const eventlog_region& header() const noexcept { return header_; }
    [[nodiscard]] const region_geometry& geometry() const noexcept { return geometry_; }
    [[nodiscard]] const unique_fd& file() const noexcept { return file_; }

    /// Whether it still takes events. Asks anew.
    [[nodiscard]] bool is_live() const noexcept;
    /// Whether it has lost its name: it has ended, all who were to read it have, and its memory is
    /// given back, or will be now. Asks anew.
    [[nodiscard]] bool is_removed() const noexcept;
    /// Whether it outlives its consumer: nobody but elog stop removes it. Asks anew.
    [[nodiscard]] bool is_detached() const noexcept;
    /// Whether its consumer is still there, or it outlives its consumer.
    [[nodiscard]] bool has_owner() const noexcept;

  private:
    unique_fd file_;
    eventlog_region header_{};
    region_geometry geometry_{};
};

/// From now on no writer starts a record. First step of ending a subscription.
void mark_ended(const unique_fd& file) noexcept;

/// From now on it outlives its consumer. The header is the file's. Under the lock.
void mark_detached(const unique_fd& file, const eventlog_region& header) noexcept;

/// The other way round: from now on it goes with `owner`. Under the lock.
void claim_ownership(const unique_fd& file, const eventlog_region& header,
                     const process_identity& owner) noexcept;

/// Takes the bit of a subscription that has been marked as ended out of all gates, so that its slot
/// can be given to another, and has applications leave its region.
void clear_gates(const directory& where, unsigned slot) noexcept;

/// Gives back the memory of an ended subscription's schemas and buffers, also while applications
/// have it mapped; for whoever has removed its name, and who finds that gone. The shared ring's
/// stays where a thread that lives has its lock. The head stays as long as they do: they still read
/// there that it has ended, and on a full tmpfs reading a page that is not there would kill them.
void release_memory(const unique_fd& file, const region_geometry& geometry) noexcept;

/// Who makes or removes files of others holds this lock: what was found to be dead cannot be
/// replaced by something alive in between. Let go when it is destroyed, or when its process dies.
class directory_lock {
  public:
    /// Waits for nobody: held() tells whether it was free.
    explicit directory_lock(const directory& where) noexcept;
    [[nodiscard]] bool held() const noexcept { return static_cast<bool>(file_); }
    /// Whether somebody else holds it. If neither, it cannot be had: no descriptor is left, say.
    [[nodiscard]] bool is_taken() const noexcept { return is_taken_; }

  private:
    unique_fd file_;
    bool is_taken_ = false;
};

/// Removes the subscriptions whose consumer has died. Under the lock.
void remove_dead_subscriptions(const directory& where) noexcept;

/// Removes the provider files whose process has died or has become another program. Under the lock.
void remove_dead_providers(const directory& where) noexcept;

}  // namespace eventlog::core
