// SPDX-License-Identifier: MIT
//
// Sources of records: files and running programs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <elog/api.hpp>
#include <elog/record.hpp>

namespace elog {

namespace library {
class source_state;
}

enum class loss_reason : std::uint8_t {
    full,         // the buffers were full
    overwritten,  // replaced by newer records
    too_large,    // larger than the maximum of a record
    busy,         // the shared ring was locked for too long
    damaged,      // inconsistent bytes
    unwritten,    // the recording's file had no space left, or was removed
    unattached,   // emitted by a process that was not attached (yet)
    refused,      // rejected by the kernel
};

/// A number of lost records.
struct loss {
    std::uint64_t count = 0;
    loss_reason reason = loss_reason::full;
    std::optional<std::uint32_t> cpu{};  // of that CPU, if known
    std::string_view provider{};         // of that provider, if known; valid as long as the source
    std::uint64_t source = 0;            // internal to libelog: number of the source
};

/// Numbers of records so far.
struct source_totals {
    std::uint64_t records = 0;         // returned
    std::uint64_t lost = 0;            // including overwritten ones
    std::uint64_t not_understood = 0;  // left out: of a newer version, or without a schema
    std::uint64_t left_out = 0;        // left out: types of the event do not fit `where`
    /// Omitted on request, which is no loss: by the rate 1/N of a pattern, and by `max_rate`. Of a
    /// file, those that its recorder omitted, in the whole file.
    std::uint64_t omitted_by_sampling = 0;
    std::uint64_t omitted_by_rate = 0;
};

/// Returns records in the order of time.
///
/// One thread uses a source at a time; only stop() may be called from another thread or from a
/// signal handler. A moved-from source may only be assigned or destroyed.
class ELOG_API source {
  public:
    /// Internal to libelog.
    explicit source(std::unique_ptr<library::source_state> state) noexcept;
    ~source();
    source(source&& other) noexcept;
    source& operator=(source&& other) noexcept;
    source(const source&) = delete;
    source& operator=(const source&) = delete;

    /// The next record if there is one now; nothing if there is none yet or if is_over(). This
    /// function and the others throw error if the source fails.
    [[nodiscard]] std::optional<record> try_get();
    /// Waits for the next record. Nothing: there are no more.
    [[nodiscard]] std::optional<record> get();
    /// Waits for at most that time, or until the deadline.
    [[nodiscard]] std::optional<record> get(std::chrono::nanoseconds wait);
    [[nodiscard]] std::optional<record> get(std::chrono::steady_clock::time_point deadline);

    /// Whether there are no more records: the file has been read, or the subscription has ended.
    [[nodiscard]] bool is_over() const noexcept;
    /// Ends the source. Records emitted before are still returned; a file is over at once.
    void stop() noexcept;

    /// A descriptor for poll(2), epoll(7) and event loops. It belongs to the source, which closes
    /// it: only wait for it to become readable (POLLIN), then call try_get() until it returns
    /// nothing.
    ///
    /// - Level-triggered: readable while try_get() may return a record or throw, and when the
    ///   source is over; not readable after try_get() or get() has returned nothing, until the
    ///   buffers are due again. With EPOLLET, call try_get() until it returns nothing.
    /// - A file is always readable. Events do not wake the caller: the descriptor of a live source
    ///   becomes readable twice in each `latency`, also without events, but not more often than
    ///   every 100 us. A caller that then calls try_get() gets each record within `latency`. The
    ///   buffers have to hold the events of half of this time: a full buffer wakes only get().
    /// - stop() makes it readable. The descriptors of sources that have been merged are of no use.
    ///
    /// Throws error if this process can have no more descriptors.
    [[nodiscard]] int descriptor();

    /// Restores a record that record::copy_to has copied from this source; valid as long as these
    /// bytes. Nothing: the bytes are no such copy.
    [[nodiscard]] std::optional<record> view(std::span<const std::byte> copied) const noexcept;

    /// The events known so far. Those of a file are known from the beginning.
    [[nodiscard]] std::vector<event> events() const;
    [[nodiscard]] source_totals totals() const noexcept;
    /// Sentences about unreadable parts. Complete when is_over().
    [[nodiscard]] std::vector<std::string> complaints() const;

    /// Iterates over get() until there are no more records.
    class iterator {
      public:
        using value_type = record;
        using difference_type = std::ptrdiff_t;

        iterator() = default;
        explicit iterator(source& from) : from_(&from), current_(from.get()) {}

        [[nodiscard]] const record& operator*() const noexcept { return *current_; }
        [[nodiscard]] const record* operator->() const noexcept { return &*current_; }
        iterator& operator++() {
            current_ = from_->get();
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
            return !at.current_;
        }

      private:
        source* from_ = nullptr;
        std::optional<record> current_{};
    };
    [[nodiscard]] iterator begin() { return iterator(*this); }
    [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }

    /// Internal to libelog.
    [[nodiscard]] library::source_state& state() const noexcept { return *state_; }

  private:
    std::unique_ptr<library::source_state> state_;
};

/// Selection of records and fields of a source; for events of running programs also the selection
/// of events and processes, and the buffers.
struct open_options {
    /// Patterns PROVIDER:EVENT@LEVEL/KEYWORD as in elog(1), beside that of the address: events that
    /// match one of them. Of a pattern with a sampling rate, "shop:order_* 1/100", every 100th
    /// record of each event is returned, and the others are counted, see elog-record(1).
    std::vector<std::string> events{};
    /// Only records for which this predicate is true, see elog-predicate(7); empty: all.
    std::string where{};
    /// Only these fields, in this order; empty: all.
    std::vector<std::string> fields{};
    /// Of a file, only records at or after `from` and before `to`. In a file with an index, little
    /// else is read.
    std::optional<timestamp> from{};
    std::optional<timestamp> to{};
    /// Of events that belong to a session, only those of these sessions, as with --session of
    /// elog-record(1); empty: all.
    std::vector<std::uint64_t> sessions{};
    /// Only events of processes with one of these numbers, as they see it themselves, or with a
    /// name that matches one of these patterns with * and ?, as with --pid and --comm of
    /// elog-record(1). Both empty: all.
    std::vector<std::uint32_t> pids{};
    std::vector<std::string> process_names{};
    /// Leave out events of this process. Without it, a program that emits an event for each record
    /// never ends.
    bool exclude_self = false;
    /// The maximum delay from emit to return, if the caller asks for records.
    std::chrono::nanoseconds latency = std::chrono::milliseconds(10);
    /// Bytes of each buffer, a power of two; 0: chosen for the machine.
    std::uint64_t buffer_size = 0;
    /// Buffers for each CPU, a power of two from 2 to 64; 0: four.
    std::uint32_t buffers = 0;
    /// In a merged source: bytes of records to keep while records of other sources are returned.
    /// Further records stay in the buffers while these have room.
    std::uint64_t backlog = std::uint64_t{256} << 20U;
    /// At most that many records with times in the same second of CLOCK_MONOTONIC, of those that
    /// `where` and the rates of the patterns keep; 0: any. Others are omitted and counted.
    std::uint64_t max_rate = 0;
    /// Called in try_get() and get() where records are missing. An exception leaves them, and the
    /// next call continues at the same place. Losses of records that never reached a buffer are
    /// reported when the source ends.
    std::function<void(const loss&)> on_loss{};
};

/// Opens the source with this address, one of:
///
/// - "memory:PATTERN": events of all programs of this user that match the pattern or one of
///   `events`, from now on until the source is stopped or destroyed. The pattern may be missing.
/// - "device:PATTERN", "relay:PATTERN", "tracefs:PATTERN", "perf:PATTERN": the same by another
///   route, as with --via of elog-record(1), which needs the kernel module, or the right to use the
///   kernel's tracing.
/// - the name of a file: a recording of elog, perf (perf.data) or trace-cmd (trace.dat), which its
///   first bytes distinguish. "-" is standard input. A pipe is read to its end first. Name a file
///   with a colon with its folder: "./memory:x".
///
/// Damaged parts of a file are left out and reported in complaints(). Throws error if the source
/// cannot be opened, if the machine lacks the route, if an option does not apply to it, if no event
/// of a file has a name of the options, or if the predicate fits no event of a file; one that fits
/// only some events is reported in complaints().
[[nodiscard]] ELOG_API source open(const std::string& address, open_options options = {});

/// Merges sources in the order of time, as far as their clocks agree.
[[nodiscard]] ELOG_API source merge(std::vector<source> sources);

}  // namespace elog
