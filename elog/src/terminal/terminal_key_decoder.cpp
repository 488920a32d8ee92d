// SPDX-License-Identifier: MIT
#include "terminal/terminal_key_decoder.hpp"

#include <cstddef>
#include <utility>

namespace elog {
namespace {

constexpr char escape_byte = '\x1b';
// No terminal sends a longer sequence.
constexpr std::size_t sequence_max = 32;

constexpr std::pair<std::string_view, key> sequences[] = {
    {"[A", key::up},       {"[B", key::down},       {"[C", key::right}, {"[D", key::left},
    {"OA", key::up},       {"OB", key::down},       {"OC", key::right}, {"OD", key::left},
    {"[5~", key::page_up}, {"[6~", key::page_down}, {"[H", key::home},  {"[F", key::end},
    {"OH", key::home},     {"OF", key::end},        {"[1~", key::home}, {"[4~", key::end},
    {"[7~", key::home},    {"[8~", key::end},       {"OM", key::enter},
};

std::optional<key> key_of(std::string_view sequence) {
    for (const auto& [bytes, meaning] : sequences) {
        if (bytes == sequence) {
            return meaning;
        }
    }
    return std::nullopt;
}

/// Letters as in less and vi.
std::optional<key> key_of(char byte) {
    switch (byte) {
        case 'q':
        case 'Q':
            return key::quit;
        case ' ':
            return key::space;
        case '\r':
        case '\n':
            return key::enter;
        case 'k':
            return key::up;
        case 'j':
            return key::down;
        case 'h':
            return key::left;
        case 'l':
            return key::right;
        case '\x7f':
        case '\b':
            return key::escape;
        default:
            return std::nullopt;
    }
}

enum class progress { incomplete, complete };

/// `sequence` is what follows an escape byte: "[", parameters and a letter or ~; or O and a letter.
progress progress_of(std::string_view sequence) {
    if (sequence.empty() || (sequence.size() == 1 && (sequence[0] == '[' || sequence[0] == 'O'))) {
        return progress::incomplete;
    }
    if (sequence[0] != '[') {
        return progress::complete;
    }
    const char last = sequence.back();
    const bool has_ended = last >= '@' && last <= '~';
    return has_ended || sequence.size() >= sequence_max ? progress::complete : progress::incomplete;
}

}  // namespace

std::vector<key> terminal_key_decoder::take(std::string_view bytes) {
    std::vector<key> keys;
    const auto add = [&keys](std::optional<key> found) {
        if (found) {
            keys.push_back(*found);
        }
    };
    for (const char byte : bytes) {
        if (pending_.empty()) {
            if (byte == escape_byte) {
                pending_ = byte;
            } else {
                add(key_of(byte));
            }
            continue;
        }
        if (byte == escape_byte) {
            // A new sequence begins; the pending one was the escape key or is incomplete.
            add(finish_sequence());
            pending_ = byte;
            continue;
        }
        pending_ += byte;
        const std::string_view sequence = std::string_view(pending_).substr(1);
        if (progress_of(sequence) == progress::complete) {
            // Alt and a letter arrive like this, too, and are ignored.
            add(key_of(sequence));
            pending_.clear();
        }
    }
    return keys;
}

std::optional<key> terminal_key_decoder::finish_sequence() {
    const bool is_alone = pending_.size() == 1;
    pending_.clear();
    return is_alone ? std::optional(key::escape) : std::nullopt;
}

}  // namespace elog
