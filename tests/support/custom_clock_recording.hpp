// SPDX-License-Identifier: MIT
//
// Recordings of producers that time records by a custom clock, and what a reader finds in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "record/time_merger.hpp"
#include "recording_sample.hpp"

namespace eventlog::test::custom_clock {

/// A record to write.
struct timed {
    std::uint64_t number = 0;
    std::uint64_t time = 0;
    bool is_own = false;  // by the custom clock
};

using numbers = std::vector<std::uint64_t>;

/// The records as a ring contains them.
bytes records_of(const std::vector<timed>& wanted);

std::uint64_t number_of(const elog::merged_record& record);

/// 1 to `count`.
numbers first_numbers(std::size_t count);

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t ticks = 3;  // in a nanosecond
constexpr std::uint64_t start = 100 * second;

/// The time of a custom clock at a time of the machine's clock, both in nanoseconds.
using custom_clock_function = std::uint64_t (*)(std::uint64_t);

/// A recording of half a minute with several index sections. The machine's clock has 3 ticks a
/// nanosecond and a slightly varying rate; its wall clock is set back by an hour near the end. Ring
/// 0 has records by the machine's clock, ring 1 by the custom clock, ring 2 by both. One second has
/// no records, but enough clock readings to fill a section.
class custom_clock_recording {
  public:
    static constexpr std::uint64_t seconds = 30;
    static constexpr std::uint64_t quiet_second = 20;
    static constexpr std::uint64_t quiet_readings = 2100;
    static constexpr std::uint64_t set_back_at = 28;
    static constexpr std::uint64_t blocks = 120;  // in a second
    static constexpr std::uint64_t in_block = 2;
    // Delay of a clock reading after the time up to which it declares the records complete.
    static constexpr std::uint64_t late = 300'000;
    static constexpr std::uint32_t rings = 3;

    /// `own` is the custom clock.
    custom_clock_recording(const std::string& name, custom_clock_function own, bool is_ended = true,
                           std::uint64_t first_number = 1);

    /// Writes a clock reading `late` after the time `complete`. The rate changes at each reading,
    /// by up to 40 us. The declared limit for following records lies before the reading, and some
    /// records lie between the two.
    static void write_clock(elog::file_writer& writer, std::uint64_t complete);

    const std::string path;
    std::vector<timed> written{};

  private:
    void write_block(elog::file_writer& writer, std::uint32_t ring, std::uint64_t begin,
                     custom_clock_function own, std::vector<std::uint64_t>& sequences);

    std::uint64_t next_;
};

constexpr std::uint64_t backwards(std::uint64_t time) {
    return 2 * start + 40 * second - time;
}
constexpr std::uint64_t frozen(std::uint64_t /*time*/) {
    return start + 20 * second + second / 3;
}
/// Correct, an hour ahead, and before the start of the recording, in turn.
constexpr std::uint64_t jumping(std::uint64_t time) {
    const std::uint64_t turn = time / 1000 % 3;
    return turn == 0 ? time : turn == 1 ? time + 3600 * second : time % (90 * second);
}
/// Pseudorandom, within the recording and up to 2 s outside it.
constexpr std::uint64_t out_of_order(std::uint64_t time) {
    return start - 2 * second + time * 0x9e3779b97f4a7c15U % (34 * second);
}
constexpr std::uint64_t slow(std::uint64_t time) {
    return start + (time - start) / 8;
}

extern const std::vector<std::pair<const char*, custom_clock_function>> custom_clocks;

/// What a reader reports of a record.
struct shown {
    std::int64_t realtime = 0;
    std::uint64_t time = 0;
    bool is_own = false;

    bool operator==(const shown&) const = default;
};

struct contents {
    std::map<std::uint64_t, shown> records;  // by number
    numbers order_of_other_records;          // whose time is by the machine's clock
    std::size_t twice = 0;                   // records whose number had been read before
};

contents read(elog::file_reader& file);
contents read(const std::string& path, elog::time_range range = {});

}  // namespace eventlog::test::custom_clock
