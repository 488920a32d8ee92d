// SPDX-License-Identifier: MIT
//
// Random recordings: they are rejected, or they can be read as a whole and by time ranges, written
// in each format, checked and repaired, and each record of the repaired file can be read again.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/crc32c.hpp"
#include "base/user_error.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_repair.hpp"
#include "file/index_builder.hpp"
#include "fuzz_target.hpp"
#include "output/csv_writer.hpp"
#include "output/json_lines_writer.hpp"
#include "output/text_writer.hpp"
#include "platform/unique_fd.hpp"

namespace {

using bytes = std::vector<std::uint8_t>;

template <class Part>
Part part_at(const bytes& file, std::size_t at) {
    Part part{};
    std::memcpy(&part, file.data() + at, sizeof part);
    return part;
}

/// Corrects all checksums if the first byte requests it: random mutations would never pass them.
void sign_all(bytes& file) {
    if (file.size() < sizeof(elog::file_header)) {
        return;
    }
    auto header = part_at<elog::file_header>(file, 0);
    header.checksum = elog::crc32c({file.data(), offsetof(elog::file_header, checksum)});
    std::memcpy(file.data(), &header, sizeof header);
    for (std::size_t at = sizeof header; at + sizeof(elog::block_header) <= file.size();) {
        auto block = part_at<elog::block_header>(file, at);
        const std::size_t payload = at + sizeof block;
        if (block.magic != elog::block_magic || block.size > file.size() - payload) {
            at += elog::block_alignment;
            continue;
        }
        if (block.type == static_cast<std::uint16_t>(elog::block_type::index) &&
            block.size >= sizeof(elog::index_block)) {
            auto index = part_at<elog::index_block>(file, payload);
            const std::size_t head =
                std::clamp<std::size_t>(index.head_size, sizeof index, block.size);
            index.checksum = elog::index_checksum({file.data() + payload, head});
            std::memcpy(file.data() + payload, &index, sizeof index);
        }
        block.identity = header.identity;
        block.payload_checksum = elog::crc32c({file.data() + payload, block.size});
        std::memcpy(file.data() + at, &block, sizeof block);
        block.checksum = elog::crc32c({file.data() + at, offsetof(elog::block_header, checksum)});
        std::memcpy(file.data() + at, &block, sizeof block);
        at += elog::block_size_in_file(block.size);
    }
}

/// A file in memory, with a name.
class memory_file {
  public:
    memory_file() : file_(::memfd_create("recording", MFD_CLOEXEC)) {
        check(static_cast<bool>(file_));
    }

    void write(const bytes& content) {
        check(::ftruncate(file_.get(), 0) == 0);
        check(::pwrite(file_.get(), content.data(), content.size(), 0) ==
              static_cast<ssize_t>(content.size()));
    }
    [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

  private:
    eventlog::core::unique_fd file_;
};

std::uint64_t read_all(const std::string& path, elog::time_range range) {
    static const eventlog::core::unique_fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    elog::file_reader file(path, range);
    elog::text_writer text(nowhere.get());
    elog::json_lines_writer lines(nowhere.get());
    elog::csv_writer table(nowhere.get());
    for (const auto& [id, provider] : file.providers()) {
        for (std::size_t event = 0; event < provider.schema.events.size(); event += 2) {
            table.add_columns(provider, static_cast<std::uint16_t>(event));
        }
    }
    std::uint64_t records = 0;
    file.read([&](const elog::merged_record& record) {
        ++records;
        check(range.contains(file.clock().realtime(record.record.time)) || range.is_everything());
        for (elog::record_writer* writer :
             {static_cast<elog::record_writer*>(&text), static_cast<elog::record_writer*>(&lines),
              static_cast<elog::record_writer*>(&table)}) {
            writer->write(record, file.providers(), file.clock(), file.shared_ring());
        }
    });
    for (const elog::loss_report& loss : file.losses()) {
        text.write_loss(loss, file.providers(), file.shared_ring());
        lines.write_loss(loss, file.providers(), file.shared_ring());
        table.write_loss(loss, file.providers(), file.shared_ring());
    }
    text.finish();
    lines.finish();
    table.finish();
    return records;
}

}  // namespace

/// Replaces the C library's function, which creates the identity of a repaired file, so that runs
/// are reproducible.
extern "C" ssize_t getrandom(void* buffer, std::size_t length, unsigned /*flags*/) {
    std::memset(buffer, 0x5a, length);
    return static_cast<ssize_t>(length);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    bytes content(data + 1, data + size);
    if ((data[0] & 1U) != 0) {
        sign_all(content);
    }
    static memory_file from;
    static memory_file to;
    from.write(content);
    try {
        static_cast<void>(read_all(from.path(), {}));
        static_cast<void>(read_all(from.path(), {0, INT64_MAX}));
        static_cast<void>(read_all(from.path(), {1'000'001'000, 1'000'001'500}));
        static_cast<void>(elog::check_file(from.path()));
        const elog::repair_summary summary = elog::repair_file(from.path(), to.path());
        check(read_all(to.path(), {}) == summary.records);
    } catch (const elog::user_error&) {
        return 0;
    }
    return 0;
}
