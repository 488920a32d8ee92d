// SPDX-License-Identifier: MIT
//
// A subscription's file in the directory, for applications and for elog.
#pragma once

#include <linux/eventlog.h>

#include "platform/error_text.hpp"
#include "platform/process.hpp"
#include "platform/unique_fd.hpp"
#include "ring/region.hpp"
#include "shm/directory.hpp"
#include "shm/process_file.hpp"

namespace eventlog::core {

/// A subscription of any process, opened and validated.
class subscription_file {
  public:
    enum class found { nothing, unreadable, unusable, usable };

    /// `nothing`: the slot is free. `unreadable`: unknown, with a message. `unusable`: the file is
    /// damaged, with a message.
    [[nodiscard]] found open(const directory& where, unsigned slot, error_text& error) noexcept;

    void close() noexcept { file_ = unique_fd{}; }
    /// In a copy of a process that had it open: the number may be that of another file by now.
    void forget() noexcept { static_cast<void>(file_.release()); }

    [[nodiscard]] const eventlog_region& header() const noexcept { return header_; }
    [[nodiscard]] const region_geometry& geometry() const noexcept { return geometry_; }
    [[nodiscard]] const unique_fd& file() const noexcept { return file_; }

    /// Whether it never takes events again. Reads the file.
    [[nodiscard]] bool has_ended() const noexcept;
    /// Whether it takes no events until it is resumed. Reads the file.
    [[nodiscard]] bool is_paused() const noexcept;
    /// Whether its name was removed: it has ended, its readers have finished, and its memory was
    /// freed or is about to be. Reads the file's state.
    [[nodiscard]] bool is_removed() const noexcept;
    /// Whether it outlives its consumer, so that only elog flight stop removes it. Reads the file.
    [[nodiscard]] bool is_detached() const noexcept;
    /// Whether its consumer lives, or it is detached.
    [[nodiscard]] bool has_owner() const noexcept;

  private:
    unique_fd file_;
    eventlog_region header_{};
    region_geometry geometry_{};
};

/// The first step of ending a subscription: no writer starts a record from now on.
void mark_ended(const unique_fd& file) noexcept;

/// Changes between taking and dropping events, of a subscription that has not ended. By its owner,
/// or, if it is detached, under the directory lock, so that no other process ends it in between.
/// mark_live() ends with a full fence: a provider that is published behind it finds the
/// subscription live.
void mark_paused(const unique_fd& file) noexcept;
void mark_live(const unique_fd& file) noexcept;

/// Makes the subscription outlive its consumer. `header` is the file's. Under the directory lock.
void mark_detached(const unique_fd& file, const eventlog_region& header) noexcept;

/// The reverse: the subscription ends with `owner` from now on. Under the directory lock.
void claim_ownership(const unique_fd& file, const eventlog_region& header,
                     const process_identity& owner) noexcept;

/// Clears the bit of an ended or paused subscription in all gates, so that its slot can be reused
/// or its events cost nothing, and notifies applications, which unmap the region of an ended one.
void clear_gates(const directory& where, unsigned slot) noexcept;

/// After clear_gates, if the subscription was paused when it ended: notifies all applications that
/// may have its region mapped, because no gate had its bit.
void request_unmapping(const directory& where) noexcept;

/// Frees the memory of an ended subscription's schemas and buffers, also while applications have it
/// mapped. Called by the process that removed the name, and by processes that find it removed. The
/// shared ring keeps its memory while a living thread holds its lock. The head keeps its memory,
/// because applications read the state there, and on a full tmpfs a page without memory would crash
/// them.
void release_memory(const unique_fd& file, const region_geometry& geometry) noexcept;

/// The directory lock. A process that creates or removes files of other processes holds it, so a
/// file found dead cannot be replaced by a live one in between. Released on destruction or when the
/// process ends.
class directory_lock {
  public:
    /// Does not wait: held() returns whether the lock was free.
    explicit directory_lock(const directory& where) noexcept;
    [[nodiscard]] bool held() const noexcept { return static_cast<bool>(file_); }
    /// Whether another process holds it. If held() is false too, the lock failed for another
    /// reason, such as no free descriptor.
    [[nodiscard]] bool is_taken() const noexcept { return is_taken_; }

  private:
    unique_fd file_;
    bool is_taken_ = false;
};

/// Removes the subscriptions whose consumer has died. Under the directory lock.
void remove_dead_subscriptions(const directory& where) noexcept;

/// Whether a provider of a process has lost events, as unattached, for a subscription that exists,
/// or on their way to the kernel while there is a kernel_loss_reader: readers may still have to
/// read the numbers.
[[nodiscard]] bool may_have_unread_losses(const directory& where,
                                          const published_provider& provider) noexcept;

/// How many files of dead processes stay for such losses. Of further ones the losses are not known.
inline constexpr unsigned unread_files_max = 1024;

/// Removes the files of processes that have died or run another program, except those with unread
/// losses. Under the directory lock.
void remove_dead_processes(const directory& where) noexcept;

}  // namespace eventlog::core
