// SPDX-License-Identifier: MIT
#include "terminal/terminal_key_decoder.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
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

/// Letters as in less and vi.
constexpr std::pair<char, key> single_bytes[] = {
    {'q', key::quit},   {'Q', key::quit},      {' ', key::space},   {'\r', key::enter},
    {'\n', key::enter}, {'k', key::up},        {'j', key::down},    {'h', key::left},
    {'l', key::right},  {'\x7f', key::escape}, {'\b', key::escape}, {'p', key::pause},
};

template <class Bytes, std::size_t Count>
std::optional<key> find_key(const std::pair<Bytes, key> (&keys)[Count], Bytes bytes) {
    const auto* found = std::find_if(std::begin(keys), std::end(keys),
                                     [&](const auto& each) { return each.first == bytes; });
    return found == std::end(keys) ? std::nullopt : std::optional(found->second);
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
                add(find_key(single_bytes, byte));
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
            add(find_key(sequences, sequence));
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
