// SPDX-License-Identifier: MIT
#include "file/records_decoder.hpp"

#include <algorithm>
#include <iterator>

#include "compact/compact_decoder.hpp"

namespace elog {
namespace {

static_assert(compact_payload_max == payload_size_max);

// A record without payload has 2 bytes when compacted, and these are more in a ring. No other
// record grows by a larger factor.
constexpr std::size_t growth_max = ring_size(0) / 2;

// Numbers of a schema's events have 16 bits in a ring.
constexpr std::uint32_t events_max = std::uint32_t{UINT16_MAX} + 1;

}  // namespace

void records_decoder::clear() {
    ranges_.clear();
    is_used_.reset();
    unused_ = record_provider_max;
}

void records_decoder::add_provider(const provider_block& provider) {
    if (is_used_.test(provider.id)) {
        return;
    }
    is_used_.set(provider.id);
    while (unused_ && is_used_.test(*unused_)) {
        unused_ = *unused_ == 0 ? std::nullopt : std::optional(*unused_ - 1);
    }
    const event_range range{provider.first_event, std::min(provider.event_count, events_max),
                            provider.id};
    const auto after = ranges_.lower_bound(range.first);
    const bool overlaps_next = after != ranges_.end() && range.contains(after->first);
    const bool overlaps_previous =
        after != ranges_.begin() && std::prev(after)->second.contains(range.first);
    if (range.count != 0 && !overlaps_next && !overlaps_previous) {
        ranges_.emplace_hint(after, range.first, range);
    }
}

std::optional<records_decoder::event_range> records_decoder::range_of(std::uint32_t event) const {
    const auto after = ranges_.upper_bound(event);
    if (after != ranges_.begin() && std::prev(after)->second.contains(event)) {
        return std::prev(after)->second;
    }
    return unused_ ? std::optional(event_range{event, 1, static_cast<std::uint16_t>(*unused_)})
                   : std::nullopt;
}

decoded_records records_decoder::decode_compacted(const records_block& head,
                                                  std::span<const std::uint8_t> body,
                                                  std::vector<std::uint8_t>& decoded) const {
    const std::size_t size_max = std::min<std::size_t>(head.decoded_size, records_size_max);
    decoded.resize(std::min(size_max, body.size() * growth_max));
    decoded_records found;
    std::size_t size = 0;
    std::optional<event_range> range;
    compact_decoder decoder;
    decoder.begin(body);
    compact_record record;
    while (found.count < head.count && decoder.next(record) == compact_result::record) {
        if (!range || !range->contains(record.event)) {
            range = range_of(record.event);
        }
        const std::size_t its_size = ring_size(record.payload.size());
        if (!range || its_size > decoded.size() - size) {
            break;
        }
        store_record({range->provider, static_cast<std::uint16_t>(record.event - range->first),
                      record.cpu, record.flags, record.thread, record.time, record.payload},
                     decoded.data() + size);
        size += its_size;
        ++found.count;
    }
    found.is_whole = found.count == head.count && size == head.decoded_size &&
                     decoder.next(record) == compact_result::end;
    decoded.resize(size);
    found.bytes = decoded;
    return found;
}

std::optional<decoded_records> records_decoder::decode(const records_block& head,
                                                       std::span<const std::uint8_t> body,
                                                       std::vector<std::uint8_t>& decoded) const {
    switch (static_cast<record_encoding>(head.encoding)) {
        case record_encoding::verbatim: {
            const checked_records sound =
                check_records(body.first(std::min<std::size_t>(body.size(), records_size_max)));
            return decoded_records{body.first(sound.size), sound.count,
                                   sound.size == body.size() && sound.count == head.count};
        }
        case record_encoding::compacted:
            return decode_compacted(head, body, decoded);
    }
    return std::nullopt;
}

}  // namespace elog
