// SPDX-License-Identifier: MIT
//
// Where records come from.
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
    no_room,      // the buffers were full
    overwritten,  // newer records took their place
    too_large,    // larger than a record can be
    busy,         // the ring that threads share was held by others
    damaged,      // what was found made no sense
};

/// Records that are missing.
struct loss {
    std::uint64_t count = 0;
    loss_reason reason = loss_reason::no_room;
    std::optional<std::uint32_t> cpu{};  // whose they were, if that is known
    std::string_view provider{};         // the same; valid as long as the source
    std::uint64_t source = 0;            // of libelog itself: the number of who told it
};

/// What a source has given out so far, and what it could not.
struct source_totals {
    std::uint64_t records = 0;         // given out
    std::uint64_t lost = 0;            // overwritten ones, too
    std::uint64_t not_understood = 0;  // left out: of a newer version, or without a schema
    std::uint64_t left_out = 0;        // of an event whose types `where` does not suit
};

/// Gives out records in the order of time. One thread uses it at a time; only stop() may come from
/// another one, or from a signal handler. Without a source (moved away) only assignment and
/// destruction are allowed.
class ELOG_API source {
  public:
    /// Of libelog itself.
    explicit source(std::unique_ptr<library::source_state> state) noexcept;
    ~source();
    source(source&& other) noexcept;
    source& operator=(source&& other) noexcept;
    source(const source&) = delete;
    source& operator=(const source&) = delete;

    /// The next record if there is one now. Nothing says that there is none yet, or that there are
    /// no more, see is_over(). This and the others throw error if the source breaks.
    [[nodiscard]] std::optional<record> try_get();
    /// Waits until there is one. Nothing: there are no more.
    [[nodiscard]] std::optional<record> get();
    /// Waits at most that long, or until then.
    [[nodiscard]] std::optional<record> get(std::chrono::nanoseconds wait);
    [[nodiscard]] std::optional<record> get(std::chrono::steady_clock::time_point deadline);

    /// There are no more: a file has been read, or a subscription has ended.
    [[nodiscard]] bool is_over() const noexcept;
    /// Ends it: what has been emitted before is still given out, then it is over. A file is over at
    /// once.
    void stop() noexcept;

    /// A record that record::copy_to has copied from this source, as long as these bytes live.
    /// Nothing: that is no such copy.
    [[nodiscard]] std::optional<record> view(std::span<const std::byte> copied) const noexcept;

    /// The events that it knows so far. Those of a file are known from the beginning.
    [[nodiscard]] std::vector<event> events() const;
    [[nodiscard]] source_totals totals() const noexcept;
    /// Sentences about what could not be read. Complete when it is over.
    [[nodiscard]] std::vector<std::string> complaints() const;

    /// For range-for: get() until there are no more.
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

    /// Of libelog itself.
    [[nodiscard]] library::source_state& state() const noexcept { return *state_; }

  private:
    std::unique_ptr<library::source_state> state_;
};

/// What of a file is wanted.
struct reading_options {
    /// Only records for which that is true, see elog-predicate(7); empty: all.
    std::string where{};
    /// Only these fields, in that order; empty: all. Events that have none of them keep none.
    std::vector<std::string> fields{};
    /// Only records at that time or later, and before that time. If the file has an index, not much
    /// else is read.
    std::optional<timestamp> from{};
    std::optional<timestamp> to{};
    /// Called from inside of try_get and get, where records are missing. What it throws comes out
    /// of them, and the next call goes on where they were.
    std::function<void(const loss&)> on_loss{};
};

/// What of the programs that run now, and will, is wanted.
struct listening_options {
    /// As in reading_options.
    std::string where{};
    std::vector<std::string> fields{};
    /// Of events that belong to a session, those of these sessions only, as with --session of
    /// elog-record(1); empty: all.
    std::vector<std::uint64_t> sessions{};
    /// Events of these processes only, as with --pid and --comm of elog-record(1): of one that has
    /// such a number, as it sees it itself, or that is called like that, with * and ?. Empty: all.
    std::vector<std::uint32_t> pids{};
    std::vector<std::string> process_names{};
    /// Events of this process are left out: who emits for each record would never come to an end.
    bool exclude_self = false;
    /// A record is given out at most that long after it was emitted, if somebody asks for it.
    std::chrono::nanoseconds latency = std::chrono::milliseconds(10);
    /// Bytes of each of a CPU's buffers, a power of two; 0: as much as suits the machine.
    std::uint64_t buffer_size = 0;
    /// How many of them a CPU has, a power of two from 2 to 64; 0: four.
    std::uint32_t buffers = 0;
    /// Merged with others, it keeps that many bytes of records while those of the others go out;
    /// what comes then stays in the buffers as long as there is room.
    std::uint64_t backlog = std::uint64_t{256} << 20U;
    /// Called from inside of try_get and get. Of records that never came as far as a buffer it is
    /// told when the source ends.
    std::function<void(const loss&)> on_loss{};
};

/// Reads an .elog file. What is damaged in it is left out and complained about. Throws error if it
/// cannot be opened or is no .elog file at all, if no event of it has what the options name, or if
/// the predicate suits none of them; one that suits only some is complained about.
[[nodiscard]] ELOG_API source open_file(const std::string& path, reading_options options = {});

/// Listens to the events that meet one of the patterns, PROVIDER:EVENT@LEVEL/KEYWORD as in elog(1),
/// of all programs of this user, from now on until the source is stopped or destroyed. Throws error
/// if that cannot be.
[[nodiscard]] ELOG_API source subscribe(const std::vector<std::string>& patterns,
                                        listening_options options = {});

/// All of these as one, in the order of time, as far as their clocks agree.
[[nodiscard]] ELOG_API source merge(std::vector<source> sources);

}  // namespace elog
