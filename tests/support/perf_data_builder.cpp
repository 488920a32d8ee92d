// SPDX-License-Identifier: MIT
#include "perf_data_builder.hpp"

#include <linux/perf_event.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace eventlog::test {
namespace {

constexpr std::uint64_t usual = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                                PERF_SAMPLE_RAW;
constexpr std::uint64_t head_size = 104;
constexpr std::uint64_t first_id = 100;
constexpr std::uint32_t finished_round = 68;
constexpr std::uint32_t id_index = 69;
constexpr std::uint32_t compressed = 81;

void add_string(byte_builder& to, std::string_view text) {
    to.add(static_cast<std::uint32_t>(text.size() + 1)).add_text(text).add_zeros(1);
}

void add_head(byte_builder& to, std::uint32_t type, std::uint16_t misc, std::size_t body) {
    to.add(type).add(misc).add(static_cast<std::uint16_t>(sizeof(perf_event_header) + body));
}

}  // namespace

perf_data_builder::perf_data_builder(std::vector<system_format> formats, perf_data_options options)
    : formats_(std::move(formats)), options_(std::move(options)) {
    if (options_.sample_type == 0) {
        options_.sample_type = usual;
    }
}

void perf_data_builder::record(std::uint32_t type, std::uint16_t misc,
                               std::span<const std::uint8_t> body) {
    byte_builder& to = chunk_size_ == 0 ? data_ : uncompressed_;
    add_head(to, type, misc, body.size());
    to.add_bytes(body);
}

void perf_data_builder::sample(std::uint32_t pid, std::uint32_t thread, std::uint64_t time,
                               std::uint32_t cpu, std::span<const std::uint8_t> raw,
                               std::uint64_t event) {
    const std::uint64_t id = first_id + event * cpus + cpu;
    byte_builder body;
    const auto has = [&](std::uint64_t bit) { return (options_.sample_type & bit) != 0; };
    if (has(PERF_SAMPLE_IDENTIFIER)) {
        body.add(id);
    }
    body.add_zeros(has(PERF_SAMPLE_IP) ? 8 : 0);
    if (has(PERF_SAMPLE_TID)) {
        body.add(pid).add(thread);
    }
    if (has(PERF_SAMPLE_TIME)) {
        body.add(time);
    }
    body.add_zeros(has(PERF_SAMPLE_ADDR) ? 8 : 0);
    if (has(PERF_SAMPLE_ID)) {
        body.add(id);
    }
    body.add_zeros(has(PERF_SAMPLE_STREAM_ID) ? 8 : 0);
    if (has(PERF_SAMPLE_CPU)) {
        body.add(cpu).add<std::uint32_t>(0);
    }
    body.add_zeros(has(PERF_SAMPLE_PERIOD) ? 8 : 0);
    if (has(PERF_SAMPLE_READ)) {
        body.add_zeros(2 * sizeof(std::uint64_t));  // value and number, see file()
    }
    if (has(PERF_SAMPLE_CALLCHAIN)) {
        body.add<std::uint64_t>(1).add<std::uint64_t>(0xffffffff81000000);
    }
    if (has(PERF_SAMPLE_RAW)) {
        body.add(static_cast<std::uint32_t>(raw.size())).add_bytes(raw).pad_to(8);
    }
    record(PERF_RECORD_SAMPLE, 1, body.bytes());
}

void perf_data_builder::add_stamp(byte_builder& to, std::uint32_t pid, std::uint64_t time,
                                  std::uint32_t cpu, std::uint64_t id) const {
    to.add(pid).add(pid).add(time);
    if ((options_.sample_type & PERF_SAMPLE_ID) != 0) {
        to.add(id);
    }
    to.add_zeros((options_.sample_type & PERF_SAMPLE_STREAM_ID) != 0 ? 8 : 0);
    to.add(cpu).add<std::uint32_t>(0);
    if ((options_.sample_type & PERF_SAMPLE_IDENTIFIER) != 0) {
        to.add(id);
    }
}

void perf_data_builder::name(std::uint32_t pid, std::uint32_t thread, std::string_view name,
                             std::uint64_t time, bool has_become) {
    byte_builder body;
    body.add(pid).add(thread).add_text(name).add_zeros(1).pad_to(8);
    add_stamp(body, pid, time, 0, first_id);
    record(PERF_RECORD_COMM, has_become ? PERF_RECORD_MISC_COMM_EXEC : 0, body.bytes());
}

void perf_data_builder::fork(std::uint32_t parent, std::uint32_t pid, std::uint64_t time) {
    byte_builder body;
    body.add(pid).add(parent).add(pid).add(parent).add(time);
    add_stamp(body, parent, time, 0, first_id);
    record(PERF_RECORD_FORK, 0, body.bytes());
}

void perf_data_builder::lost(std::uint64_t count, std::uint64_t time, std::uint32_t cpu) {
    byte_builder body;
    body.add(first_id + cpu).add(count);
    add_stamp(body, 0, time, cpu, first_id + cpu);
    record(PERF_RECORD_LOST, 0, body.bytes());
}

void perf_data_builder::lost_in_all(std::uint64_t count, std::uint32_t cpu) {
    byte_builder body;
    body.add(count);
    add_stamp(body, 0, 0, 0, first_id + cpu);
    record(PERF_RECORD_LOST_SAMPLES, 0, body.bytes());
}

void perf_data_builder::index() {
    byte_builder body;
    body.add<std::uint64_t>(cpus);
    for (std::uint64_t cpu = 0; cpu < cpus; ++cpu) {
        body.add(first_id + cpu).add(cpu).add(cpu).add(UINT64_MAX);
    }
    record(id_index, 0, body.bytes());
}

void perf_data_builder::round() {
    record(finished_round, 0, {});
}

void perf_data_builder::compress(std::size_t piece) {
    chunk_size_ = piece;
}

/// One compression stream without an end, as perf writes it.
void perf_data_builder::flush() {
    if (chunk_size_ == 0) {
        return;
    }
    const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                       ZSTD_freeCCtx);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, options_.window_log);
    const bytes& all = uncompressed_.bytes();
    for (std::size_t at = 0; at < all.size(); at += chunk_size_) {
        const auto piece = std::span(all).subspan(at, std::min(chunk_size_, all.size() - at));
        bytes room(ZSTD_compressBound(piece.size()) + 64);
        ZSTD_inBuffer from{piece.data(), piece.size(), 0};
        ZSTD_outBuffer to{room.data(), room.size(), 0};
        if (ZSTD_compressStream2(context.get(), &to, &from, ZSTD_e_flush) != 0) {
            throw std::logic_error("a piece is too large for a record");
        }
        add_head(data_, compressed, 0, to.pos);
        data_.add_bytes(std::span(room).first(to.pos));
    }
    chunk_size_ = 0;
}

perf_data_builder::bytes perf_data_builder::features(std::uint64_t begin,
                                                     std::uint64_t& bits) const {
    std::vector<std::pair<unsigned, bytes>> all;
    all.emplace_back(1, tracing_data(formats_));
    const auto add_text = [&](unsigned number, std::string_view text) {
        byte_builder made;
        add_string(made, text);
        all.emplace_back(number, made.bytes());
    };
    add_text(3, "guest");
    add_text(4, "6.12.0-test");
    add_text(6, "x86_64");
    all.emplace_back(7, byte_builder().add(cpus).add(cpus).bytes());
    all.emplace_back(27, byte_builder()
                             .add<std::uint32_t>(1)
                             .add<std::uint32_t>(1)
                             .add<std::uint32_t>(1)
                             .add<std::uint32_t>(4)
                             .add(options_.content_max)
                             .bytes());
    if (options_.clock && options_.has_realtime_reference) {
        constexpr std::uint64_t second = 1'000'000'000;
        all.emplace_back(29, byte_builder()
                                 .add<std::uint32_t>(1)
                                 .add(static_cast<std::uint32_t>(*options_.clock))
                                 .add(2'000'000'000 * second)
                                 .add(1000 * second)
                                 .bytes());
    }
    byte_builder made;
    std::uint64_t at = begin + all.size() * 2 * sizeof(std::uint64_t);
    for (const auto& [number, content] : all) {
        bits |= std::uint64_t{1} << number;
        made.add(at).add<std::uint64_t>(content.size());
        at += content.size();
    }
    for (const auto& [number, content] : all) {
        made.add_bytes(content);
    }
    return made.bytes();
}

perf_data_builder::bytes perf_data_builder::file() {
    flush();
    perf_event_attr attribute{};
    attribute.size = sizeof attribute;
    attribute.sample_type = options_.sample_type;
    attribute.read_format = PERF_FORMAT_ID;
    attribute.sample_id_all = 1;
    attribute.use_clockid = options_.clock ? 1 : 0;
    attribute.clockid = options_.clock.value_or(0);
    constexpr std::uint64_t event_size = sizeof attribute + 2 * sizeof(std::uint64_t);
    constexpr std::uint64_t ids_size = cpus * sizeof(std::uint64_t);  // of one event
    const std::uint64_t count = options_.event_types.size();
    const std::uint64_t events = head_size + count * ids_size;
    const std::uint64_t data = events + count * event_size;
    std::uint64_t bits = 0;
    const bytes behind = features(data + data_.size(), bits);
    byte_builder file;
    file.add_text("PERFILE2").add(head_size).add(event_size);
    file.add(events).add(count * event_size).add(data).add<std::uint64_t>(data_.size());
    file.add_zeros(16).add(bits).add_zeros(24);
    for (std::uint64_t id = first_id; id < first_id + count * cpus; ++id) {
        file.add(id);
    }
    for (std::uint64_t event = 0; event < count; ++event) {
        attribute.type = options_.event_types[event];
        file.add(attribute).add(head_size + event * ids_size).add(ids_size);
    }
    return file.add_bytes(data_.bytes()).add_bytes(behind).bytes();
}

}  // namespace eventlog::test
