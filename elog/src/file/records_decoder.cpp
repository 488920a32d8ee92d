// SPDX-License-Identifier: MIT
#include "file/records_decoder.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "compact/compact_decoder.hpp"

namespace elog {
namespace {

static_assert(compact_payload_max == payload_size_max);

// A record without payload has 2 bytes when compacted, and these are more in memory. No other
// record grows by a larger factor.
constexpr std::size_t growth_max = ring_size(0) / 2;

// Positions in a schema have 16 bits in a record.
constexpr std::uint32_t events_max = std::uint32_t{UINT16_MAX} + 1;

}  // namespace

std::string describe_damage(const records_block& head, const decoded_records& found) {
    if (found.count != head.count) {
        return fmt::format("holds {} sound records instead of {}", found.count, head.count);
    }
    if (found.is_whole) {
        return "holds no records";
    }
    return fmt::format("has other bytes behind its {} records, or another size than it states",
                       found.count);
}

void records_decoder::clear() {
    events_ = {};
    is_known_.reset();
}

bool records_decoder::add_provider(const provider_block& provider) {
    if (is_known_.test(provider.id)) {
        return true;
    }
    is_known_.set(provider.id);
    return events_.add(
        event_range{provider.first_event, std::min(provider.event_count, events_max), provider.id});
}

decoded_records records_decoder::decode_compacted(const records_block& head,
                                                  std::span<const std::uint8_t> body,
                                                  std::vector<std::uint8_t>& decoded) const {
    const std::size_t size_max = std::min<std::size_t>(head.decoded_size, records_size_max);
    decoded.resize(std::min(size_max, body.size() * growth_max));
    decoded_records found;
    std::size_t size = 0;
    event_range range;
    compact_decoder decoder;
    decoder.begin(body);
    compact_record record;
    while (found.count < head.count && decoder.next(record) == compact_result::record) {
        if (!range.contains(record.event)) {
            range = events_.find(record.event);
        }
        const std::size_t its_size = ring_size(record.payload.size());
        if (its_size > decoded.size() - size) {
            break;
        }
        store_record({range.count != 0 ? range.provider : unknown_provider,
                      static_cast<std::uint16_t>(record.event - range.first), record.cpu,
                      record.flags, record.thread, record.time, record.payload},
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
            const checked_records sound = check_records(
                body.first(std::min<std::size_t>(body.size(), records_size_max)), head.context);
            return decoded_records{body.first(sound.size), sound.count,
                                   sound.size == body.size() && sound.count == head.count,
                                   head.context};
        }
        case record_encoding::compacted:
            return decode_compacted(head, body, decoded);
    }
    return std::nullopt;
}

}  // namespace elog
