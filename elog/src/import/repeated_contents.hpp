// SPDX-License-Identifier: MIT
//
// What several files of one recording repeat, and a merged file has once: marks of pauses, losses
// of providers, and notes.
//
// - Recordings are distinguished by recording_host::recording.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "file/recording_notes.hpp"
#include "record/loss.hpp"
#include "record/recording_mark.hpp"

namespace elog {

class repeated_contents {
  public:
    /// The mark with the number that its pause has among those of all recordings; nullopt if an
    /// earlier file of the recording has it.
    [[nodiscard]] std::optional<recording_mark> take_mark(std::uint64_t recording,
                                                          const recording_mark& mark);
    /// Reduces the losses of a provider by those that earlier files of the recording have.
    void subtract_counted(std::uint64_t recording, loss_report& loss);
    void take_notes(std::uint64_t recording, const recording_notes& notes);
    /// Of all recordings together.
    [[nodiscard]] const recording_notes& notes() const noexcept { return notes_; }

  private:
    std::map<std::pair<std::uint64_t, std::uint32_t>, loss_report> counted_;
    std::set<std::pair<std::uint64_t, recording_mark>> known_marks_;           // by recording
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> pauses_;  // new numbers
    recording_notes notes_;
    std::set<std::uint64_t> noted_;  // recordings in notes_
};

}  // namespace elog
