// SPDX-License-Identifier: MIT
#include "files/perf_file.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "format/byte_reader.hpp"
#include "kernel/error.hpp"

namespace eventlog::tracefs {
namespace {

constexpr std::uint64_t magic = 0x32454c4946524550;      // "PERFILE2"
constexpr std::uint64_t old_magic = 0x454c494646524550;  // "PERFFILE", up to Linux 3.3
constexpr std::uint64_t pipe_head_size = 16;             // of a file written to a pipe

// Bounds for untrusted files.
constexpr std::uint64_t events_max = 65536;
constexpr std::uint64_t event_size_max = 4096;
constexpr std::uint64_t ids_size_max = std::uint64_t{16} << 20U;
constexpr std::uint64_t ids_in_all_max = std::uint64_t{64} << 20U;
constexpr std::uint64_t tracing_size_max = std::uint64_t{64} << 20U;
constexpr std::uint64_t feature_size_max = std::uint64_t{1} << 20U;
// 256 times the size of a compressed record.
constexpr std::uint32_t content_size_max = 16U << 20U;

constexpr unsigned feature_words = 4;
constexpr unsigned bits_of_word = 64;

/// Numbers of the features behind the records.
enum feature : unsigned {
    feature_tracing_data = 1,
    feature_host_name = 3,
    feature_kernel = 4,
    feature_machine = 6,
    feature_cpus = 7,
    feature_compressed = 27,
    feature_clocks = 29,
};

std::string take_string(byte_reader& from) {
    return std::string(
        byte_reader(from.take_bytes(from.take<std::uint32_t>()), "A name in the file").take_text());
}

}  // namespace

struct perf_file::head {
    std::uint64_t magic = 0;
    std::uint64_t size = 0;
    std::uint64_t event_size = 0;
    section events{};
    section data{};
    section event_types{};
    std::uint64_t features[feature_words]{};
};

bool is_perf_data(std::span<const std::uint8_t> bytes) noexcept {
    const auto found = value_in<std::uint64_t>(bytes);
    return found == magic || found == __builtin_bswap64(magic) || found == old_magic;
}

perf_file::perf_file(const recorded_file& file) : file_(file) {
    const std::string& path = file.path();
    const std::vector<std::uint8_t> start =
        file.read(0, pipe_head_size, pipe_head_size, "its first part");
    const auto found = value_in<std::uint64_t>(start);
    if (found == __builtin_bswap64(magic)) {
        throw error("{} is of a machine whose numbers are big-endian, which elog does not read. "
                    "Show it there, with perf script.",
                    path);
    }
    if (found != magic) {
        throw error("{} is not a file of perf's that elog reads. Record it with the perf of Linux "
                    "3.4 or later.",
                    path);
    }
    if (value_in<std::uint64_t>(std::span(start).subspan(sizeof magic)) == pipe_head_size) {
        throw error("{} was written to a pipe, and elog reads what perf has written to a file: "
                    "record it with -o, or make a file of it with: perf inject -i {} -o FILE",
                    path, path);
    }
    const head from = value_in<head>(file.read(0, sizeof(head), sizeof(head), "its header"));
    data_ = from.data;
    if (data_.size == 0) {
        throw error("{} says that it has no records, as files do whose perf was killed. What it "
                    "has cannot be understood without the end that is missing: record again, and "
                    "end perf with Ctrl-C.",
                    path);
    }
    parse_events(from);
    parse_features(from);
    // A file truncated inside of its data has no features, which follow the data.
    if (file.available_bytes(data_.offset, data_.size) < data_.size) {
        throw error("{} was cut off. What says how its events look stood behind them: copy it "
                    "anew, or record it again.",
                    path);
    }
}

void perf_file::parse_events(const head& from) {
    const std::uint64_t size = from.event_size;
    constexpr std::uint64_t event_size_min = PERF_ATTR_SIZE_VER0 + sizeof(section);
    if (size < event_size_min || size > event_size_max || from.events.size % size != 0) {
        throw error(
            "{} says that each of its events is described in {} bytes of {}. It is damaged: "
            "record it again.",
            file_.path(), size, from.events.size);
    }
    const std::vector<std::uint8_t> all =
        file_.read(from.events.offset, from.events.size, events_max * size, "its list of events");
    std::uint64_t ids_in_all = 0;
    for (byte_reader rest(all, "The list of events"); rest.left() != 0;) {
        byte_reader one(rest.take_bytes(size), "An event's description");
        perf_event_attr attribute{};
        const auto bytes = one.take_bytes(size - sizeof(section));
        std::memcpy(&attribute, bytes.data(), std::min(bytes.size(), sizeof attribute));
        const auto ids = one.take<section>();
        perf_event event;
        event.is_tracepoint = attribute.type == PERF_TYPE_TRACEPOINT;
        event.layout = {attribute.sample_type, attribute.read_format, attribute.sample_id_all != 0};
        if (attribute.use_clockid != 0) {
            event.clock = attribute.clockid;
        }
        // Several events may refer to the same bytes.
        ids_in_all += ids.size;
        if (ids_in_all > ids_in_all_max) {
            throw error("{} has more numbers of events than any recording. It is damaged: record "
                        "it again.",
                        file_.path());
        }
        const std::vector<std::uint8_t> numbers =
            file_.read(ids.offset, ids.size, ids_size_max, "the numbers of an event");
        event.ids.resize(numbers.size() / sizeof(std::uint64_t));
        std::copy_n(numbers.begin(), event.ids.size() * sizeof(std::uint64_t),
                    reinterpret_cast<std::uint8_t*>(event.ids.data()));
        events_.push_back(std::move(event));
    }
    if (events_.empty()) {
        throw error("{} has no events. Record again, and say with -e what.", file_.path());
    }
}

/// The features behind the records: a section for each existing one, in the order of numbers.
void perf_file::parse_features(const head& from) {
    if (data_.offset > file_.size() || data_.size > file_.size() - data_.offset) {
        return;  // reported by the constructor
    }
    std::uint64_t at = data_.offset + data_.size;
    for (unsigned number = 0; number < feature_words * bits_of_word; ++number) {
        if ((from.features[number / bits_of_word] >> number % bits_of_word & 1U) == 0) {
            continue;
        }
        const std::vector<std::uint8_t> bytes =
            file_.read(at, sizeof(section), sizeof(section), "its list of features");
        at += sizeof(section);
        const auto place = value_in<section>(bytes);
        constexpr std::array known{feature_tracing_data, feature_host_name, feature_kernel,
                                   feature_machine,      feature_cpus,      feature_compressed,
                                   feature_clocks};
        if (std::find(known.begin(), known.end(), number) != known.end()) {
            parse_feature(number, file_.read(place.offset, place.size,
                                             number == feature_tracing_data ? tracing_size_max
                                                                            : feature_size_max,
                                             "what it says of its machine"));
        }
    }
}

void perf_file::parse_feature(unsigned number, std::span<const std::uint8_t> bytes) {
    byte_reader from(bytes, "What the file says of its machine");
    switch (number) {
        case feature_tracing_data:
            formats_ = parse_tracing_data(bytes);
            break;
        case feature_host_name:
            machine_.host_name = take_string(from);
            break;
        case feature_kernel:
            machine_.kernel = take_string(from);
            break;
        case feature_machine:
            machine_.architecture = take_string(from);
            break;
        case feature_cpus:
            machine_.cpus = from.take<std::uint32_t>();
            break;
        case feature_compressed:
            from.skip(4 * sizeof(std::uint32_t));  // version, type, level, ratio
            content_max_ = std::min(from.take<std::uint32_t>(), content_size_max);
            break;
        case feature_clocks:
            from.skip(sizeof(std::uint32_t));  // version
            // In the order of the braces.
            clocks_ = perf_clock_pair{from.take<std::uint32_t>(), from.take<std::uint64_t>(),
                                      from.take<std::uint64_t>()};
            break;
        default:
            break;
    }
}

}  // namespace eventlog::tracefs
