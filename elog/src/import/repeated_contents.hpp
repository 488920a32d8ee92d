// SPDX-License-Identifier: MIT
//
// What several files of one recording repeat, and a merged file has once: marks of pauses, losses,
// and notes.
//
// - Recordings are distinguished by recording_host::recording. A file that has lost it, 0, is taken
//   as one of its own.
// - The parts of a recording have a number each, and each loss of a ring is in one of them. Files
//   without such a number have records of different values (--split-by) and all losses of the
//   rings: at any time they have lost the same number of events, as far as their records show.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "file/recording_notes.hpp"
#include "record/loss.hpp"
#include "record/recording_mark.hpp"
#include "record/time_merger.hpp"

namespace elog {

class repeated_contents {
  public:
    /// Precedes all other functions, for each file. Files are numbered from 0.
    void add_file(std::uint64_t recording, std::uint32_t part);

    /// The mark with the number that its pause has among those of all recordings; nullopt if an
    /// earlier file of the recording has it.
    [[nodiscard]] std::optional<recording_mark> take_mark(std::uint32_t file,
                                                          const recording_mark& mark);
    /// Reduces the losses of a provider by those that earlier files of the recording have.
    void subtract_counted(std::uint32_t file, loss_report& loss);
    /// Reduces the losses before a record by those that other files of a split recording have.
    /// Records are passed in the order of time.
    void subtract_counted(std::uint32_t file, merged_record& record);
    /// Keeps the losses at the end of a file, and returns true, if it is of a split recording.
    [[nodiscard]] bool take_end(std::uint32_t file, const loss_report& loss);
    /// Of all split recordings, those behind their last records.
    [[nodiscard]] std::vector<loss_report> losses_at_end() const;

    void take_notes(std::uint32_t file, const recording_notes& notes);
    /// Of all recordings together; of at most omitted_events_max events.
    [[nodiscard]] recording_notes notes() const;

  private:
    /// The number of a recording and 0, or 0 and the number of a file from 1.
    using recording_key = std::pair<std::uint64_t, std::uint32_t>;

    /// Of a ring of a split recording.
    struct ring_losses {
        std::map<std::uint32_t, std::uint64_t> by_file{};  // before its records so far
        std::uint64_t counted = 0;                         // the largest of these
        loss_report end{};                                 // `full`: with those before records
    };

    void add_omitted(const sampling_report& other);
    [[nodiscard]] bool is_split(const recording_key& recording) const;

    std::vector<recording_key> recordings_;  // by file
    std::map<std::pair<recording_key, std::uint32_t>, loss_report> counted_;
    std::map<recording_key, std::uint32_t> whole_files_;  // those without a part
    std::map<std::pair<recording_key, std::uint32_t>, ring_losses> rings_;
    std::set<std::pair<recording_key, recording_mark>> known_marks_;
    std::map<std::pair<recording_key, std::uint64_t>, std::uint64_t> pauses_;  // new numbers
    recording_notes notes_;  // without events, which are in omitted_
    // By provider, event and rate.
    std::map<std::tuple<std::string, std::string, std::uint64_t>, sampled_event> omitted_;
    std::set<recording_key> noted_;  // recordings in notes_
};

}  // namespace elog
