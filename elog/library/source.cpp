// SPDX-License-Identifier: MIT
//
// Implements elog/source.hpp on the interface of source_state.hpp.
#include <algorithm>
#include <cstring>
#include <utility>

#include <elog/source.hpp>

#include "convert_errors.hpp"
#include "copied_record.hpp"
#include "record/ring_records.hpp"
#include "source_state.hpp"

namespace elog {

namespace library {

int source_state::open_descriptor() {
    is_noted_ready_ = is_noted_ready_ || !ready.is_open();
    return ready.open();
}

void source_state::note_ready() noexcept {
    if (!std::exchange(is_noted_ready_, true)) {
        ready.set_now();
    }
}

/// stop() sets its mark before the descriptor: either its setting is the later one, or due() below
/// has the mark.
void source_state::note_not_ready() {
    is_noted_ready_ = false;
    ready.set(due());
    if (due() <= std::chrono::steady_clock::now()) {
        note_ready();
    }
}

std::optional<record> source_state::next_and_note() {
    if (!ready.is_open()) {
        return next();
    }
    try {
        std::optional<record> found = next();
        if (found || is_over()) {
            note_ready();
        } else {
            note_not_ready();
        }
        return found;
    } catch (...) {
        note_ready();
        throw;
    }
}

}  // namespace library

namespace {

using std::chrono::steady_clock;

// Length of one wait without a deadline. A source without anything to wait for returns earlier.
constexpr std::chrono::seconds long_wait{1};

}  // namespace

source::source(std::unique_ptr<library::source_state> state) noexcept : state_(std::move(state)) {}
source::~source() = default;
source::source(source&& other) noexcept = default;
source& source::operator=(source&& other) noexcept = default;

std::optional<record> source::try_get() {
    return library::convert_errors([this] { return state_->next_and_note(); });
}

std::optional<record> source::get() {
    return get(steady_clock::time_point::max());
}

std::optional<record> source::get(std::chrono::nanoseconds wait) {
    const steady_clock::time_point now = steady_clock::now();
    const bool is_endless = wait > steady_clock::time_point::max() - now;
    return get(is_endless ? steady_clock::time_point::max() : now + wait);
}

std::optional<record> source::get(steady_clock::time_point deadline) {
    return library::convert_errors([&]() -> std::optional<record> {
        while (true) {
            if (std::optional<record> found = state_->next_and_note()) {
                return found;
            }
            if (state_->is_over()) {
                return std::nullopt;
            }
            const steady_clock::time_point now = steady_clock::now();
            if (now >= deadline) {
                return std::nullopt;
            }
            state_->wait(deadline - now > long_wait ? long_wait : deadline - now);
        }
    });
}

bool source::is_over() const noexcept {
    return state_->is_over();
}

void source::stop() noexcept {
    state_->stop();
    state_->ready.set_now();
}

int source::descriptor() {
    return library::convert_errors([this] { return state_->open_descriptor(); });
}

std::optional<record> source::view(std::span<const std::byte> copied) const noexcept {
    library::copied_record head;
    if (copied.size() < sizeof head) {
        return std::nullopt;
    }
    std::memcpy(&head, copied.data(), sizeof head);
    const library::event_info* event = state_->find(head.origin, head.provider, head.event);
    if (event == nullptr || head.payload_size > payload_size_max ||
        head.payload_size > copied.size() - sizeof head || !is_supported(head.flags)) {
        return std::nullopt;
    }
    // unsigned char may alias any object.
    const auto* payload = reinterpret_cast<const std::uint8_t*>(copied.data() + sizeof head);
    return record(library::record_parts{.event = event,
                                        .payload = {payload, head.payload_size},
                                        .ticks = head.ticks,
                                        .place = 0,
                                        .lost_before = head.lost_before,
                                        .thread = head.thread,
                                        .ring = head.ring,
                                        .cpu = head.cpu,
                                        .flags = head.flags});
}

std::vector<event> source::events() const {
    return state_->events();
}

source_totals source::totals() const noexcept {
    return state_->totals();
}

std::vector<std::string> source::complaints() const {
    return library::convert_errors([this] { return state_->complaints(); });
}

}  // namespace elog
