// SPDX-License-Identifier: MIT
#include "file_writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "crc32c.hpp"
#include "failure.hpp"

namespace elog {
namespace {

template <class Block>
std::span<const std::uint8_t> bytes_of(const Block& block) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(&block), sizeof block};
}

/// Over everything before the checksum, which is the last member.
template <class Header>
void sign(Header& header) noexcept {
    header.checksum = crc32c(bytes_of(header).first(offsetof(Header, checksum)));
}

template <std::size_t Size>
void copy_text(char (&target)[Size], std::string_view text) noexcept {
    std::memcpy(target, text.data(), std::min(text.size(), Size - 1));
}

std::uint64_t time_of(std::span<const std::uint8_t> record) noexcept {
    std::uint64_t time = 0;
    std::memcpy(&time, record.data() + offsetof(eventlog_record, time), sizeof time);
    return time;
}

}  // namespace

file_writer::file_writer(std::string path, std::uint32_t clock, std::uint32_t ring_count)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644)) {
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
        throw failure("The file {} cannot be made ({}). Give another name with -o.", path_,
                      std::strerror(errno));
    }
    // A pipe or a socket would block; and what writes blocks without gaps can be no terminal.
    if (!S_ISREG(status.st_mode)) {
        throw failure("{} is not a file. Give another name with -o.", path_);
    }
    // While it is held, readers know that the end is still to come.
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        throw failure("The file {} is being written by another recording. Give another name with "
                      "-o.",
                      path_);
    }
    if (::ftruncate(file_.get(), 0) != 0) {
        throw failure("The file {} cannot be emptied ({}). Give another name with -o.", path_,
                      std::strerror(errno));
    }
    file_header header{};
    header.magic = file_magic;
    header.version = file_version;
    sign(header);
    write_all(bytes_of(header), {}, {}, 0);
    write_host(clock, ring_count);
}

void file_writer::write_host(std::uint32_t clock, std::uint32_t ring_count) {
    utsname names{};
    static_cast<void>(::uname(&names));
    host_block host{};
    host.clock = clock;
    host.ring_count = ring_count;
    copy_text(host.host_name, static_cast<const char*>(names.nodename));
    copy_text(host.kernel, static_cast<const char*>(names.release));
    copy_text(host.machine, static_cast<const char*>(names.machine));
    write_block(block_type::host, bytes_of(host), {});
}

void file_writer::write_clock(const eventlog_clock_pair& pair) {
    const clock_block clock{pair.clock, pair.monotonic, pair.realtime};
    write_block(block_type::clock, bytes_of(clock), {});
}

void file_writer::write_provider(const provider_instance& provider) {
    provider_block block{};
    block.id = provider.id;
    block.pid = provider.pid;
    block.uid = provider.uid;
    block.schema_size = static_cast<std::uint32_t>(provider.schema.binary.size());
    copy_text(block.process, provider.process);
    write_block(block_type::provider, bytes_of(block), provider.schema.binary);
}

void file_writer::write_run(const record_run& run) {
    records_block block{};
    block.ring = run.ring;
    block.count = run.count;
    block.sequence = run.sequence;
    block.lost_before = run.lost_before;
    block.first_time = time_of(run.bytes);
    std::span<const std::uint8_t> rest = run.bytes;
    std::uint64_t last = block.first_time;
    while (!rest.empty()) {
        last = take_record(rest).header.time;
    }
    block.last_time = last;
    write_block(block_type::records, bytes_of(block), run.bytes);
}

void file_writer::write_loss(const loss_block& loss) {
    write_block(block_type::loss, bytes_of(loss), {});
}

void file_writer::write_end(const end_block& totals) {
    write_block(block_type::end, bytes_of(totals), {});
}

void file_writer::write_block(block_type type, std::span<const std::uint8_t> head,
                              std::span<const std::uint8_t> body) {
    block_header header{};
    header.magic = block_magic;
    header.type = static_cast<std::uint16_t>(type);
    header.size = static_cast<std::uint32_t>(head.size() + body.size());
    header.payload_checksum = crc32c(body, crc32c(head));
    header.number = next_block_++;
    sign(header);
    write_all(bytes_of(header), head, body,
              (block_alignment - header.size % block_alignment) % block_alignment);
}

void file_writer::write_all(std::span<const std::uint8_t> first,
                            std::span<const std::uint8_t> second,
                            std::span<const std::uint8_t> third, std::size_t padding) {
    static constexpr std::array<std::uint8_t, block_alignment> zeros{};
    std::array<iovec, 4> parts{};
    std::size_t count = 0;
    const auto add = [&](std::span<const std::uint8_t> part) {
        // iovec has no const; writev does not write.
        parts[count++] = {const_cast<std::uint8_t*>(part.data()), part.size()};
    };
    add(first);
    add(second);
    add(third);
    add(std::span(zeros).first(padding));
    std::size_t done = 0;
    while (done < count) {
        if (parts[done].iov_len == 0) {
            ++done;
            continue;
        }
        const ssize_t written = ::writev(file_.get(), &parts[done], static_cast<int>(count - done));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            const int error = errno;
            static_cast<void>(!::ftruncate(file_.get(), static_cast<off_t>(whole_)));
            throw failure("The file {} cannot be written any further ({}). Free some space; what "
                          "is there can be read.",
                          path_, std::strerror(error));
        }
        auto left = static_cast<std::size_t>(written);
        bytes_written_ += left;
        while (left != 0) {
            const std::size_t step = std::min(left, parts[done].iov_len);
            parts[done].iov_base = static_cast<std::uint8_t*>(parts[done].iov_base) + step;
            parts[done].iov_len -= step;
            left -= step;
            done += parts[done].iov_len == 0 ? 1U : 0U;
        }
    }
    whole_ = bytes_written_;
}

}  // namespace elog
