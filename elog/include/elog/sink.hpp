// SPDX-License-Identifier: MIT
//
// Where records go.
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

/// Whatever gives out records one by one, until there are no more.
template <class T>
concept gives_records = requires(T& from) {
    { from.get() } -> std::same_as<std::optional<record>>;
};

/// Whatever takes them.
template <class T>
concept takes_records = requires(T& into, const record& which) {
    into.put(which);
};

/// Takes all records from one into the other. Returns how many these were.
template <gives_records From, takes_records Into>
std::uint64_t pour(From& from, Into& into) {
    std::uint64_t count = 0;
    while (const std::optional<record> next = from.get()) {
        into.put(*next);
        ++count;
    }
    return count;
}

/// Writes records as elog(1) does, to a descriptor that stays the caller's or to a file. Of records
/// it writes the fields that their source was asked for, to an .elog file all of them. Sources
/// whose records it has taken must outlive it. It waits for a descriptor that does not block. Its
/// functions throw error if the descriptor takes no more; what it has not taken is kept, and tried
/// again with what is written next.
class ELOG_API sink {
  public:
    /// Of libelog itself.
    explicit sink(std::unique_ptr<library::sink_state> state) noexcept;
    ~sink();
    sink(sink&& other) noexcept;
    sink& operator=(sink&& other) noexcept;
    sink(const sink&) = delete;
    sink& operator=(const sink&) = delete;

    /// What is missing in front of the record, as far as nobody has put it as a loss of the same
    /// source, is written first, as of the record's CPU.
    void put(const record& which);
    void put(const loss& missing);
    /// Writes what has been put, and waits for no more to be put.
    void flush();
    /// Behind the last record. Without it, the end may be missing; a file is not there at all.
    void finish();

  private:
    std::unique_ptr<library::sink_state> state_;
};

/// Lines of text, times in local time.
[[nodiscard]] ELOG_API sink write_text(int descriptor);
/// JSON Lines.
[[nodiscard]] ELOG_API sink write_json_lines(int descriptor);
/// A table in CSV, with a column for each name that a field of these events has: those of
/// source::events. Other events have no fields in it.
[[nodiscard]] ELOG_API sink write_csv(int descriptor, const std::vector<event>& events);

/// How an .elog file is written.
struct writing_options {
    /// What has that name already is replaced. Else that is an error.
    bool replace = false;
    /// A level of zstd's, 1 to 19; 0: not compressed.
    int compression = 0;
};

/// A new .elog file. It has its name when finish() has been called; without that, or if a part of
/// it could not be written, nothing is left of it. Records are to come in the order of time:
/// merge() has that of several sources. Times are kept to the nanosecond, on a clock of the file's
/// own. Throws error if there can be no such file.
[[nodiscard]] ELOG_API sink write_file(const std::string& path, writing_options options = {});

}  // namespace elog
