// SPDX-License-Identifier: MIT
#include "top/top_view.hpp"

#include <algorithm>

namespace elog {
namespace {

/// Descending; equal elements are ordered by name.
template <class Counted>
bool comes_before(const Counted& one, const Counted& other, top_order order) {
    switch (order) {
        case top_order::name:
            break;
        case top_order::rate:
            if (one.events.rate() != other.events.rate()) {
                return one.events.rate() > other.events.rate();
            }
            break;
        case top_order::total:
            if (one.events.total() != other.events.total()) {
                return one.events.total() > other.events.total();
            }
            break;
        case top_order::lost:
            if (one.lost.total() != other.lost.total()) {
                return one.lost.total() > other.lost.total();
            }
            break;
    }
    return one.name < other.name;
}

template <class Counted>
std::vector<const Counted*> sorted(const std::vector<Counted>& all, top_order order) {
    std::vector<const Counted*> result;
    for (const Counted& each : all) {
        result.push_back(&each);
    }
    std::sort(result.begin(), result.end(), [order](const Counted* one, const Counted* other) {
        return comes_before(*one, *other, order);
    });
    return result;
}

/// The position from 0 to `last` after a key that moves; nullopt for other keys.
std::optional<std::size_t> moved(std::size_t at, key pressed, std::size_t page, std::size_t last) {
    switch (pressed) {
        case key::up:
            return at - std::min<std::size_t>(at, 1);
        case key::down:
            return std::min(at + 1, last);
        case key::page_up:
            return at - std::min(at, page);
        case key::page_down:
            return std::min(at + page, last);
        case key::home:
            return 0;
        case key::end:
            return last;
        default:
            return std::nullopt;
    }
}

}  // namespace

std::vector<top_row> top_view::rows_of(const top_statistics& shown) const {
    std::vector<top_row> all;
    for (const top_provider* provider : sorted(shown.providers(), order_)) {
        all.push_back({provider, nullptr});
        for (const top_event* event : sorted(provider->seen, order_)) {
            all.push_back({provider, event});
        }
    }
    return all;
}

std::size_t top_view::chosen_row(const std::vector<top_row>& all) const {
    const auto found = std::find_if(all.begin(), all.end(), [this](const top_row& each) {
        return chosen_ && each.name() == *chosen_;
    });
    return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin());
}

std::size_t top_view::first_row(std::size_t chosen, std::size_t all,
                                std::size_t rows) const noexcept {
    if (all <= rows) {
        return 0;
    }
    // In the middle, so that rows around it are visible.
    const std::size_t wanted = chosen > rows / 2 ? chosen - rows / 2 : 0;
    return std::min(wanted, all - rows);
}

void top_view::sort_by(int step) {
    constexpr int orders = static_cast<int>(top_order::lost) + 1;
    const int next = std::clamp(static_cast<int>(order_) + step, 0, orders - 1);
    order_ = static_cast<top_order>(next);
}

void top_view::press(key pressed, const top_statistics& shown, const visible_page& page) {
    if (pressed == key::quit) {
        over_ = true;
    } else if (pressed == key::space) {
        frozen_ = !frozen_;
    } else if (pressed == key::pause) {
        paused_ = !paused_;
    } else if (opened_) {
        press_in_fields(pressed, page);
    } else {
        press_in_list(pressed, shown, page.rows);
    }
}

void top_view::press_in_list(key pressed, const top_statistics& shown, std::size_t rows) {
    const std::vector<top_row> all = rows_of(shown);
    if (pressed == key::left || pressed == key::right) {
        sort_by(pressed == key::left ? -1 : 1);
        return;
    }
    if (all.empty()) {
        return;
    }
    const std::size_t last = all.size() - 1;
    std::size_t chosen = chosen_row(all);
    if (const std::optional<std::size_t> next = moved(chosen, pressed, rows, last)) {
        chosen = *next;
    } else if (pressed == key::enter) {
        // Opening a provider opens its first event.
        chosen += all[chosen].event == nullptr && chosen != last ? 1 : 0;
        if (all[chosen].event != nullptr) {
            opened_ = all[chosen].name();
            scrolled_ = 0;
        }
    } else {
        return;
    }
    chosen_ = all[chosen].name();
}

void top_view::press_in_fields(key pressed, const visible_page& page) {
    if (pressed == key::escape || pressed == key::left) {
        opened_.reset();
    }
    scrolled_ = moved(scrolled_, pressed, page.rows, page.scroll_max).value_or(scrolled_);
    scrolled_ = std::min(scrolled_, page.scroll_max);
}

}  // namespace elog
