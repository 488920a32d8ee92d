// SPDX-License-Identifier: MIT
#include "format/payload_plan.hpp"

#include <algorithm>
#include <cstring>

#include "format/byte_reader.hpp"

namespace eventlog::tracefs {
namespace {

constexpr std::uint32_t half_max = 0xffff;

}  // namespace

payload_plan::payload_plan(const event_format& format, std::span<const std::uint16_t> offsets,
                           std::uint16_t fixed_size)
    : fixed_size_(fixed_size), record_size_min_(format.fixed_size()) {
    for (std::size_t i = 0; i < format.fields.size(); ++i) {
        const format_field& field = format.fields[i];
        if (field.where != location::fixed) {
            dynamic_fields_.push_back(
                {field.offset, offsets[i], field.where, field.type == field_type::text});
        } else {
            copy_ranges_.push_back({field.offset, offsets[i], field.size});
        }
    }
    std::sort(copy_ranges_.begin(), copy_ranges_.end(),
              [](const copy_range& a, const copy_range& b) { return a.to < b.to; });
    // Joins ranges that are adjacent on both sides.
    std::vector<copy_range> joined;
    for (const copy_range& next : copy_ranges_) {
        const bool follows = !joined.empty() &&
                             joined.back().from + joined.back().size == next.from &&
                             joined.back().to + joined.back().size == next.to;
        if (follows) {
            joined.back().size += next.size;
        } else {
            joined.push_back(next);
        }
    }
    copy_ranges_ = std::move(joined);
}

bool payload_plan::append_dynamic_field(const dynamic_field& field,
                                        std::span<const std::uint8_t> record, std::size_t begin,
                                        std::vector<std::uint8_t>& out) {
    std::size_t from = field.from;
    std::size_t size = record.size() - from;
    if (field.where != location::rest_of_record) {
        const auto word = value_in<std::uint32_t>(record.subspan(field.from));
        if (word == 0 || (field.where == location::data_loc && field.is_text &&
                          word == null_string_word(field.from))) {
            return true;  // a null pointer stays null
        }
        size = word >> 16U;
        from = word & half_max;
        from += field.where == location::rel_loc ? field.from + sizeof word : 0;
    }
    if (from > record.size() || size > record.size() - from) {
        return false;
    }
    const auto bytes = record.subspan(from, size);
    if (size == 0 && !field.is_text) {
        return true;
    }
    const std::size_t distance = out.size() - (begin + field.to + sizeof(std::uint32_t));
    out.insert(out.end(), bytes.begin(), bytes.end());
    if (field.is_text) {
        // Ends the text at its first NUL: the kernel rounds up some sizes, and texts that it has
        // cut have no NUL.
        const auto text = out.end() - static_cast<std::ptrdiff_t>(size);
        const auto end = std::find(text, out.end(), std::uint8_t{0});
        out.erase(end, out.end());
        out.push_back(0);
        size = out.size() - (begin + field.to + sizeof(std::uint32_t) + distance);
    }
    if (size > half_max || distance > half_max) {
        return false;
    }
    const auto place = static_cast<std::uint32_t>(size << 16U | distance);
    std::memcpy(out.data() + begin + field.to, &place, sizeof place);
    return true;
}

bool payload_plan::append(std::span<const std::uint8_t> record, std::size_t size_max,
                          std::vector<std::uint8_t>& out) const {
    if (record.size() < record_size_min_) {
        return false;
    }
    const std::size_t begin = out.size();
    out.resize(begin + fixed_size_);
    for (const copy_range& each : copy_ranges_) {
        std::memcpy(out.data() + begin + each.to, record.data() + each.from, each.size);
    }
    const bool is_sound =
        std::all_of(dynamic_fields_.begin(), dynamic_fields_.end(), [&](const auto& field) {
            return append_dynamic_field(field, record, begin, out) &&
                   out.size() - begin - fixed_size_ <= record.size() + dynamic_fields_.size();
        });
    if (!is_sound || out.size() - begin > size_max) {
        out.resize(begin);
        return false;
    }
    return true;
}

}  // namespace eventlog::tracefs
