// SPDX-License-Identifier: MIT
//
// Destinations of records.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <elog/api.hpp>
#include <elog/record.hpp>
#include <elog/source.hpp>

namespace elog {

namespace library {
class sink_state;
}

/// A type with get(), which returns records until there are no more.
template <class T>
concept gives_records = requires(T& from) {
    { from.get() } -> std::same_as<std::optional<record>>;
};

/// A type with put() for records.
template <class T>
concept takes_records = requires(T& into, const record& which) {
    into.put(which);
};

/// Passes all records from one to the other. Returns their number.
template <gives_records From, takes_records Into>
std::uint64_t pour(From& from, Into& into) {
    std::uint64_t count = 0;
    while (const std::optional<record> next = from.get()) {
        into.put(*next);
        ++count;
    }
    return count;
}

/// Writes records as elog-output(7) specifies, to a descriptor, which the caller closes, or to a
/// file.
///
/// Text and tables have the selected fields of the source, .elog files have all fields. Sources
/// whose records have been put have to outlive the sink. A non-blocking descriptor is waited for.
/// All functions throw error if the descriptor does not accept data; unwritten data is kept, and
/// written with the next.
class ELOG_API sink {
  public:
    /// Internal to libelog.
    explicit sink(std::unique_ptr<library::sink_state> state) noexcept;
    ~sink();
    sink(sink&& other) noexcept;
    sink& operator=(sink&& other) noexcept;
    sink(const sink&) = delete;
    sink& operator=(const sink&) = delete;

    /// Losses before the record that have not been put as losses of the same source are written
    /// first, with the CPU of the record.
    void put(const record& which);
    void put(const loss& missing);
    /// Writes all records put so far.
    void flush();
    /// Ends the output after the last record. Without it the end may be missing, and a file does
    /// not appear at all.
    void finish();

  private:
    std::unique_ptr<library::sink_state> state_;
};

/// Lines of text with local times.
[[nodiscard]] ELOG_API sink write_text(int descriptor);
/// JSON Lines.
[[nodiscard]] ELOG_API sink write_json_lines(int descriptor);
/// A table in CSV, with a column for each field name of these events, which source::events returns.
/// Other events have no fields in it.
[[nodiscard]] ELOG_API sink write_csv(int descriptor, const std::vector<event>& events);

/// Options of write_file().
struct writing_options {
    /// Replace an existing file; otherwise it is an error.
    bool replace = false;
    /// The level of zstd, 1 to 19; 0: uncompressed.
    int compression = 0;
};

/// A new .elog file of mode 0600, which gets its name in finish(). Without finish(), or if a part
/// of it could not be written, no file remains. Records have to be put in the order of time, which
/// merge() establishes for several sources. Times are exact to the nanosecond, on a clock of the
/// file. Throws error if the file cannot be created.
[[nodiscard]] ELOG_API sink write_file(const std::string& path, writing_options options = {});

}  // namespace elog
