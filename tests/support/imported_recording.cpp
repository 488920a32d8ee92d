// SPDX-License-Identifier: MIT
#include "imported_recording.hpp"

#include <cstring>

#include "base/user_error.hpp"
#include "file/file_reader.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace eventlog::test {
namespace {

imported_record to_imported_record(const elog::merged_record& record,
                                   const elog::file_reader& file) {
    const elog::record_view& decoded = record.record;
    const elog::provider_instance& provider = file.providers().at(decoded.provider);
    imported_record one;
    one.process = provider.process;
    one.pid = provider.pid;
    one.thread = decoded.thread;
    one.cpu = decoded.cpu;
    one.time = file.clock().realtime(decoded.time);
    one.lost = record.lost_before;
    const auto payload = decoded.payload;
    std::memcpy(&one.number, payload.data(), sizeof one.number);
    std::uint32_t place = 0;
    std::memcpy(&place, payload.data() + sizeof one.number, sizeof place);
    const std::size_t at = sizeof one.number + sizeof place + (place & 0xffffU);
    const auto text = payload.subspan(at, (place >> 16U) - 1);
    one.word.assign(text.begin(), text.end());
    return one;
}

std::string written(const std::vector<std::uint8_t>& file) {
    std::string path = scratch_directory() + "/recorded";
    replace(path, file);
    return path;
}

}  // namespace

std::vector<std::uint64_t> imported_recording::numbers() const {
    std::vector<std::uint64_t> all;
    for (const imported_record& each : records) {
        all.push_back(each.number);
    }
    return all;
}

imported_recording import_recording(const std::string& path) {
    const elog::input_recording recording(path);
    imported_recording found;
    elog::file_reader file(recording.path());
    file.read([&](const elog::merged_record& record) {
        found.records.push_back(to_imported_record(record, file));
    });
    found.losses = file.losses();
    found.damages = recording.import_details().value().damages;
    found.damages.insert(found.damages.end(), file.damages().begin(), file.damages().end());
    found.notes = recording.import_details().value().notes;
    found.clock = recording.import_details().value().clock;
    return found;
}

imported_recording import_bytes(const std::vector<std::uint8_t>& file) {
    return import_recording(written(file));
}

std::string rejection_of(const std::vector<std::uint8_t>& file) {
    try {
        static_cast<void>(import_bytes(file));
    } catch (const elog::user_error& refused) {
        return refused.what();
    }
    return "it was read";
}

bool is_readable(const std::vector<std::uint8_t>& file) {
    try {
        const elog::input_recording recording(written(file));
        elog::file_reader(recording.path()).read([](const elog::merged_record&) {});
        return true;
    } catch (const elog::user_error&) {
        return false;
    }
}

}  // namespace eventlog::test
