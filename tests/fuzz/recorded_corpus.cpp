// SPDX-License-Identifier: MIT
//
// recorded_corpus FOLDER: writes small recordings of each form of perf and trace-cmd to the folders
// perf_data and trace_dat there, as seeds of fuzzers.
#include <linux/perf_event.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "perf_data_builder.hpp"
#include "trace_dat_builder.hpp"

namespace {

using namespace eventlog::test;

constexpr int item = 700;

std::vector<system_format> formats() {
    return {{"user_events", item_format("eventlog_shop_item", item)}};
}

void write(const std::string& path, const std::vector<std::uint8_t>& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

std::vector<std::uint8_t> perf_data(const perf_data_options& options, std::size_t piece) {
    perf_data_builder maker(formats(), options);
    maker.index();
    maker.name(1, 1, "sh", 0, false);
    maker.fork(1, 2, 5);
    if (piece != 0) {
        maker.compress(piece);
    }
    maker.name(2, 2, "shop", 7, true);
    maker.sample(2, 2, 10, 0, item_record(item, 2, 1, "apple"));
    maker.round();
    maker.lost(3, 15, 0);
    maker.sample(2, 3, 20, 1, item_record(item, 3, 2, ""));
    maker.lost_in_all(4, 0);
    return maker.file();
}

std::vector<std::uint8_t> trace_dat(const trace_dat_options& options) {
    trace_dat_builder maker(formats(), options);
    maker.name(2, "shop");
    maker.counted(0, 5);
    maker.page(0);
    maker.event(0, 1000, item_record(item, 2, 1, "apple"));
    maker.page(0, 3);
    maker.event(0, 3000, item_record(item, 2, 3, ""));
    return maker.file();
}

std::vector<std::uint8_t> instances() {
    constexpr std::uint32_t padding = 29;
    constexpr std::uint32_t time_extension = 30;
    trace_dat_builder maker(formats(), {.compressed = false});
    maker.page(1, trace_dat_builder::some);
    maker.entry(1, {time_extension, 1});
    maker.event(1, 5000, item_record(item, 2, 1, "apple"));
    maker.entry(1, {padding, 0});
    maker.instance("mine", "mono");
    maker.page(0);
    maker.event(0, 2000, item_record(item, 2, 2, "pear"));
    return maker.file();
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 2) {
        return 2;
    }
    const std::string folder = arguments[1];
    const std::string perf = folder + "/perf_data";
    const std::string trace = folder + "/trace_dat";
    std::filesystem::create_directories(perf);
    std::filesystem::create_directories(trace);
    write(perf + "/plain", perf_data({}, 0));
    write(perf + "/compressed", perf_data({.content_max = 4096}, 100));
    write(perf + "/own_clock", perf_data({.clock = std::nullopt}, 0));
    // perf's form if the samples of all events have equal layouts.
    write(perf + "/no_identifier",
          perf_data({.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                    PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW},
                    0));
    write(trace + "/version_6", trace_dat({.version = 6}));
    write(trace + "/version_7", trace_dat({.compressed = false}));
    write(trace + "/compressed", trace_dat({.realtime = 1'000'000}));
    write(trace + "/of_guest",
          trace_dat({.compressed = false, .time_offset = "-5", .has_host_clock = true}));
    write(trace + "/instances", instances());
    return 0;
}
