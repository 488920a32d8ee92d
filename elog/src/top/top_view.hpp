// SPDX-License-Identifier: MIT
//
// The state of the screen of `elog top`, and the effect of keys on it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "terminal/terminal_key_decoder.hpp"
#include "top/top_statistics.hpp"

namespace elog {

/// A line of the list: a provider or one of its events.
struct top_row {
    const top_provider* provider = nullptr;
    const top_event* event = nullptr;  // nullptr: the provider's own line

    [[nodiscard]] event_name name() const {
        return {provider->name, event == nullptr ? std::string() : event->name};
    }
};

/// The size of the screen's variable part.
struct visible_page {
    std::size_t rows = 1;        // of the list, or lines of fields
    std::size_t scroll_max = 0;  // most lines of fields that can be scrolled away
};

enum class top_order { name, rate, total, lost };

class top_view {
  public:
    /// The effect of a key depends on what is shown.
    void press(key pressed, const top_statistics& shown, const visible_page& page);

    /// Providers in the current order, each followed by its events in that order. Valid until
    /// `shown` changes.
    [[nodiscard]] std::vector<top_row> rows_of(const top_statistics& shown) const;
    /// Index of the chosen row; 0 if it no longer exists or none was chosen.
    [[nodiscard]] std::size_t chosen_row(const std::vector<top_row>& all) const;
    /// Index of the first visible row, so that the chosen one is visible.
    [[nodiscard]] std::size_t first_row(std::size_t chosen, std::size_t all,
                                        std::size_t rows) const noexcept;

    /// The event whose fields are shown; nullopt: the list is shown.
    [[nodiscard]] const std::optional<event_name>& opened() const noexcept { return opened_; }
    [[nodiscard]] top_order order() const noexcept { return order_; }
    /// The display does not change.
    [[nodiscard]] bool is_frozen() const noexcept { return frozen_; }
    /// Programs drop events. A key requests it; the caller does it, and corrects this if it cannot.
    [[nodiscard]] bool is_paused() const noexcept { return paused_; }
    void set_paused(bool is_paused) noexcept { paused_ = is_paused; }
    [[nodiscard]] bool is_over() const noexcept { return over_; }
    /// Number of lines of fields scrolled away.
    [[nodiscard]] std::size_t scrolled() const noexcept { return scrolled_; }

  private:
    void press_in_list(key pressed, const top_statistics& shown, std::size_t rows);
    void press_in_fields(key pressed, const visible_page& page);
    void sort_by(int step);

    top_order order_ = top_order::rate;
    std::optional<event_name> chosen_;
    std::optional<event_name> opened_;
    std::size_t scrolled_ = 0;
    bool frozen_ = false;
    bool paused_ = false;
    bool over_ = false;
};

}  // namespace elog
