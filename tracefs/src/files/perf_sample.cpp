// SPDX-License-Identifier: MIT
#include "files/perf_sample.hpp"

#include <algorithm>
#include <bit>

#include "format/byte_reader.hpp"
#include "kernel/error.hpp"

namespace eventlog::tracefs {
namespace {

constexpr std::size_t sample_word = sizeof(std::uint64_t);
constexpr const char* sample_kind = "A sample";

/// Number of parts with one word each.
std::size_t words_of(std::uint64_t sample_type) noexcept {
    return static_cast<std::size_t>(std::popcount(sample_type));
}

/// Skips PERF_SAMPLE_READ.
void skip_counts(byte_reader& from, std::uint64_t read_format) {
    constexpr std::uint64_t format_lost = 1U << 4U;  // not in the headers of Debian 12
    const bool is_group = (read_format & PERF_FORMAT_GROUP) != 0;
    const auto has = [&](std::uint64_t bit) { return (read_format & bit) != 0 ? 1U : 0U; };
    const std::uint64_t times =
        has(PERF_FORMAT_TOTAL_TIME_ENABLED) + has(PERF_FORMAT_TOTAL_TIME_RUNNING);
    const std::uint64_t each = 1 + has(PERF_FORMAT_ID) + has(format_lost);
    const std::uint64_t count = is_group ? from.take<std::uint64_t>() : 1;
    from.skip(times * sample_word);
    if (count > from.left() / sample_word) {
        throw error("A sample counts more than it has room for.");
    }
    from.skip(count * each * sample_word);
}

void skip_words(byte_reader& from, std::uint64_t sample_type,
                std::initializer_list<std::uint64_t> bits) {
    for (const std::uint64_t bit : bits) {
        from.skip((sample_type & bit) != 0 ? sample_word : 0);
    }
}

void take_thread_and_time(byte_reader& from, std::uint64_t sample_type, perf_sample_id& stamp) {
    if ((sample_type & PERF_SAMPLE_TID) != 0) {
        stamp.pid = from.take<std::uint32_t>();
        stamp.thread = from.take<std::uint32_t>();
    }
    if ((sample_type & PERF_SAMPLE_TIME) != 0) {
        stamp.time = from.take<std::uint64_t>();
    }
}

void take_cpu(byte_reader& from, std::uint64_t sample_type, perf_sample_id& stamp) {
    if ((sample_type & PERF_SAMPLE_CPU) != 0) {
        stamp.cpu = from.take<std::uint32_t>();
        from.skip(sizeof(std::uint32_t));
    }
}

perf_sample parse_sample(byte_reader from, const perf_event& event) {
    const auto [sample_type, read_format, sample_id_all] = event.layout;
    perf_sample found;
    found.is_tracepoint = event.is_tracepoint;
    skip_words(from, sample_type, {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP});
    take_thread_and_time(from, sample_type, found.stamp);
    skip_words(from, sample_type, {PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID});
    take_cpu(from, sample_type, found.stamp);
    skip_words(from, sample_type, {PERF_SAMPLE_PERIOD});
    if ((sample_type & PERF_SAMPLE_READ) != 0) {
        skip_counts(from, read_format);
    }
    if ((sample_type & PERF_SAMPLE_CALLCHAIN) != 0) {
        const auto count = from.take<std::uint64_t>();
        if (count > from.left() / sample_word) {
            throw error("A sample has more callers than room for them.");
        }
        from.skip(count * sample_word);
    }
    if ((sample_type & PERF_SAMPLE_RAW) != 0) {
        found.raw = from.take_bytes(from.take<std::uint32_t>());
    }
    return found;
}

/// Position of the event id, which is one of two parts, in the order of perf_event_open(2).
std::optional<std::size_t> id_offset_in_sample(std::uint64_t sample_type) noexcept {
    if ((sample_type & PERF_SAMPLE_IDENTIFIER) != 0) {
        return 0;
    }
    constexpr std::uint64_t before =
        PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
    return (sample_type & PERF_SAMPLE_ID) == 0 ? std::nullopt
                                               : std::optional(words_of(sample_type & before));
}

std::optional<std::size_t> id_offset_in_sample_id(std::uint64_t sample_type) noexcept {
    if ((sample_type & PERF_SAMPLE_IDENTIFIER) != 0) {
        return 1;
    }
    constexpr std::uint64_t behind = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
    return (sample_type & PERF_SAMPLE_ID) == 0 ? std::nullopt
                                               : std::optional(1 + words_of(sample_type & behind));
}

/// The position that all events have in common; nothing if there is none.
template <class Place>
std::optional<std::size_t> common_offset(const std::vector<perf_event>& events,
                                         const Place& place) {
    const std::optional<std::size_t> first = place(events.front().layout.sample_type);
    const auto is_there = [&](const perf_event& event) {
        return place(event.layout.sample_type) == first;
    };
    return std::all_of(events.begin(), events.end(), is_there) ? first : std::nullopt;
}

}  // namespace

perf_sample_layouts::perf_sample_layouts(const std::vector<perf_event>& events)
    : events_(events),
      id_in_sample_(common_offset(events, id_offset_in_sample)),
      id_in_sample_id_(common_offset(events, id_offset_in_sample_id)) {
    const auto is_same = [&](const perf_event& event) {
        return event.layout.sample_type == events.front().layout.sample_type &&
               event.layout.read_format == events.front().layout.read_format;
    };
    if (!id_in_sample_ && !std::all_of(events.begin(), events.end(), is_same)) {
        throw error("Samples of several events are laid out in different ways, and do not say "
                    "which they are of. Record with a newer perf.");
    }
    for (const perf_event& event : events) {
        for (const std::uint64_t id : event.ids) {
            by_id_.emplace_back(id, &event);
        }
    }
    // Stable: of equal ids the first one is found.
    std::stable_sort(by_id_.begin(), by_id_.end(),
                     [](const auto& one, const auto& other) { return one.first < other.first; });
}

const perf_event* perf_sample_layouts::event_of(std::uint64_t id) const {
    const auto found =
        std::lower_bound(by_id_.begin(), by_id_.end(), id,
                         [](const auto& one, std::uint64_t wanted) { return one.first < wanted; });
    return found == by_id_.end() || found->first != id ? nullptr : found->second;
}

std::optional<perf_sample> perf_sample_layouts::sample(const perf_file_record& record) const {
    try {
        const perf_event* event = &events_.front();
        if (id_in_sample_) {
            byte_reader from(record.body, sample_kind);
            from.skip(*id_in_sample_ * sample_word);
            event = event_of(from.take<std::uint64_t>());
        }
        return event == nullptr ? std::nullopt
                                : std::optional(parse_sample({record.body, sample_kind}, *event));
    } catch (const error&) {
        return std::nullopt;
    }
}

perf_sample_id perf_sample_layouts::stamp(std::span<const std::uint8_t>& body) const {
    const perf_event* event = &events_.front();
    if (id_in_sample_id_ && body.size() >= *id_in_sample_id_ * sample_word) {
        // Records that perf itself creates have no id; then the layouts of all events are equal.
        const perf_event* const named =
            event_of(byte_reader(body.last(*id_in_sample_id_ * sample_word), sample_kind)
                         .take<std::uint64_t>());
        event = named == nullptr ? event : named;
    }
    constexpr std::uint64_t parts = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                                    PERF_SAMPLE_IDENTIFIER;
    const std::uint64_t sample_type = event->layout.sample_type & parts;
    const std::size_t size = words_of(sample_type) * sample_word;
    perf_sample_id found;
    if (!event->layout.sample_id_all || size > body.size()) {
        return found;
    }
    byte_reader from(body.last(size), sample_kind);
    take_thread_and_time(from, sample_type, found);
    if ((sample_type & PERF_SAMPLE_ID) != 0) {
        found.id = from.take<std::uint64_t>();
    }
    skip_words(from, sample_type, {PERF_SAMPLE_STREAM_ID});
    take_cpu(from, sample_type, found);
    if ((sample_type & PERF_SAMPLE_IDENTIFIER) != 0) {
        found.id = from.take<std::uint64_t>();
    }
    body = body.first(body.size() - size);
    return found;
}

void perf_sample_layouts::add_id_index(const perf_file_record& record) {
    struct entry {
        std::uint64_t id;
        std::uint64_t place;
        std::uint64_t cpu;
        std::uint64_t thread;
    };
    byte_reader from(record.body, "An index of events");
    from.skip(std::min(sample_word, from.left()));  // the count, which follows from the size
    while (from.left() >= sizeof(entry)) {
        const auto each = from.take<entry>();
        if (each.cpu <= UINT32_MAX && event_of(each.id) != nullptr) {
            cpus_.emplace(each.id, static_cast<std::uint32_t>(each.cpu));
        }
    }
}

std::optional<std::uint32_t> perf_sample_layouts::cpu_of(std::uint64_t id) const {
    const auto found = cpus_.find(id);
    return found == cpus_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace eventlog::tracefs
