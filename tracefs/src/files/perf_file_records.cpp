// SPDX-License-Identifier: MIT
#include "files/perf_file_records.hpp"

#include <algorithm>

#include "format/byte_reader.hpp"
#include "kernel/error.hpp"

namespace eventlog::tracefs {
namespace {

constexpr std::size_t window_size = std::size_t{1} << 20U;

}  // namespace

perf_file_records::perf_file_records(const recorded_file& file, const perf_file& about)
    : file_(file),
      content_max_(about.content_max()),
      offset_(about.data_offset()),
      end_(about.data_offset() + about.data_size()) {}

void perf_file_records::stop_reading() noexcept {
    offset_ = end_;
    content_.clear();
    content_at_ = 0;
}

/// Up to `size` bytes at offset_, fewer at the end of the data.
std::span<const std::uint8_t> perf_file_records::window(std::uint64_t size) {
    const bool is_in = offset_ >= window_offset_ && offset_ - window_offset_ <= window_.size() &&
                       size <= window_.size() - (offset_ - window_offset_);
    if (!is_in) {
        window_.resize(std::min<std::uint64_t>(window_size, end_ - offset_));
        window_.resize(file_.read_into(window_, offset_));
        window_offset_ = offset_;
    }
    const auto found = std::span<const std::uint8_t>(window_).subspan(offset_ - window_offset_);
    return found.first(std::min<std::size_t>(found.size(), size));
}

std::optional<perf_file_record> perf_file_records::next_in_file() {
    if (offset_ == end_) {
        return std::nullopt;
    }
    const std::uint64_t at = offset_;
    const auto head = value_in<perf_event_header>(window(sizeof(perf_event_header)));
    const auto whole = window(head.size);
    if (head.size < sizeof head || whole.size() < head.size) {
        stop_reading();
        throw error("what stands at {} is no whole record; what follows it is left out", at);
    }
    offset_ += head.size;
    perf_file_record record{head.type, head.misc, whole.subspan(sizeof head)};
    if (record.type == perf_auxtrace) {
        // The only record that is followed by data beyond its own size.
        offset_ += std::min(value_in<std::uint64_t>(record.body), end_ - offset_);
    }
    return record;
}

void perf_file_records::decompress(const perf_file_record& record) {
    auto bytes = record.body;
    if (record.type == perf_compressed_2) {
        std::uint64_t size = 0;
        std::memcpy(&size, bytes.data(), std::min(bytes.size(), sizeof size));
        bytes = bytes.subspan(std::min(bytes.size(), sizeof size));
        bytes = bytes.first(std::min<std::size_t>(bytes.size(), size));
    }
    content_.erase(content_.begin(), content_.begin() + static_cast<std::ptrdiff_t>(content_at_));
    content_at_ = 0;
    if (!stream_) {
        stream_.emplace(content_max_);
    }
    if (!stream_->decompress(bytes, content_max_, content_)) {
        const std::uint64_t at = offset_;
        stop_reading();
        throw error("what ends at {} cannot be decompressed, or becomes more than any recording; "
                    "what follows it is left out",
                    at);
    }
}

/// A record of the decompressed data; nothing if the data ends inside a record, which continues in
/// the next compressed record.
std::optional<perf_file_record> perf_file_records::next_compressed() {
    const auto rest = std::span<const std::uint8_t>(content_).subspan(content_at_);
    if (rest.size() < sizeof(perf_event_header)) {
        return std::nullopt;
    }
    const auto head = value_in<perf_event_header>(rest);
    if (head.size < sizeof head) {
        const std::uint64_t at = offset_;
        stop_reading();
        throw error("what was compressed in front of {} is no record; what follows is left out",
                    at);
    }
    if (head.size > rest.size()) {
        return std::nullopt;
    }
    content_at_ += head.size;
    return perf_file_record{head.type, head.misc,
                            rest.subspan(sizeof head, head.size - sizeof head)};
}

std::optional<perf_file_record> perf_file_records::next() {
    while (true) {
        if (std::optional<perf_file_record> record = next_compressed()) {
            return record;
        }
        std::optional<perf_file_record> record = next_in_file();
        if (!record) {
            if (content_at_ != content_.size()) {
                stop_reading();
                throw error("what is compressed ends in the middle of a record");
            }
            return std::nullopt;
        }
        if (record->type != perf_compressed && record->type != perf_compressed_2) {
            return record;
        }
        decompress(*record);
    }
}

}  // namespace eventlog::tracefs
