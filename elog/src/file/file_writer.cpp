// SPDX-License-Identifier: MIT
#include "file/file_writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/crc32c.hpp"
#include "base/unnamed_file.hpp"
#include "base/user_error.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

template <class Block>
std::span<const std::uint8_t> bytes_of(const Block& block) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(&block), sizeof block};
}

/// Covers all bytes before the checksum, which is the last member.
template <class Header>
void set_checksum(Header& header) noexcept {
    header.checksum = crc32c(bytes_of(header).first(offsetof(Header, checksum)));
}

// Smaller payloads are not worth compressing.
constexpr std::size_t compressible_size = 128;

[[noreturn]] void throw_write_error(const std::string& path, int error) {
    if (const std::optional<std::string> folder = folder_of_unnamed_file(path)) {
        throw user_error("A temporary file in {} cannot be written any further ({}). Set TMPDIR to "
                         "a folder with more space.",
                         *folder, std::strerror(error));
    }
    throw user_error("The file {} cannot be written any further ({}). Free some space, or write it "
                     "elsewhere.",
                     path, std::strerror(error));
}

}  // namespace

host_block this_host(std::uint32_t clock, std::uint32_t ring_count) {
    utsname names{};
    static_cast<void>(::uname(&names));
    host_block host{};
    host.clock = clock;
    host.ring_count = ring_count;
    copy_text(host.host_name, static_cast<const char*>(names.nodename));
    copy_text(host.kernel, static_cast<const char*>(names.release));
    copy_text(host.machine, static_cast<const char*>(names.machine));
    host.version = file_version;
    return host;
}

std::uint64_t generate_identity() {
    std::uint64_t drawn = 0;
    // getrandom() returns up to 256 bytes completely once the kernel's generator is initialized.
    if (::getrandom(&drawn, sizeof drawn, 0) != static_cast<ssize_t>(sizeof drawn)) {
        throw user_error("No random number is available ({}). Use a kernel with getrandom.",
                         std::strerror(errno));
    }
    return drawn == 0 ? 1 : drawn;
}

file_writer::file_writer(file_options options) : options_(std::move(options)) {
    if (options_.descriptor < 0) {
        open();
    } else {
        open_descriptor();
    }
    if (options_.compression != 0) {
        compressor_.emplace(options_.compression);
    }
    host_block host = this_host(options_.clock, options_.ring_count);
    host.recording = options_.recording != 0 ? options_.recording : generate_identity();
    host.part = options_.part;
    write_header(host);
}

file_writer::file_writer(std::string path, const host_block& host) {
    options_.path = std::move(path);
    open();
    write_header(host);
}

/// A lock belongs to the open file, which other processes may keep open if the caller opened it.
file_writer::~file_writer() {
    if (file_ && options_.descriptor >= 0) {
        static_cast<void>(::flock(file_.get(), LOCK_UN));
    }
}

void file_writer::open() {
    const std::string& path = options_.path;
    const int mode = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK;
    file_ = eventlog::core::unique_fd(
        ::open(path.c_str(), options_.must_be_new ? mode | O_EXCL : mode, 0644));
    if (!file_ && errno == EEXIST) {
        throw user_error(
            "The file {} exists. Give another name with -o, or replace it with --force.", path);
    }
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
        throw user_error("The file {} cannot be made ({}). Give another name with -o.", path,
                         std::strerror(errno));
    }
    // Opening a pipe or socket without O_NONBLOCK would block; a terminal cannot hold gapless
    // blocks.
    if (!S_ISREG(status.st_mode)) {
        throw user_error("{} is not a file. Give another name with -o.", path);
    }
    lock();
    if (::ftruncate(file_.get(), 0) != 0) {
        throw user_error("The file {} cannot be emptied ({}). Give another name with -o.", path,
                         std::strerror(errno));
    }
}

void file_writer::open_descriptor() {
    file_ = eventlog::core::unique_fd(::fcntl(options_.descriptor, F_DUPFD_CLOEXEC, 0));
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
        throw user_error("The file {} cannot be written ({}). Give a name with -o.", options_.path,
                         std::strerror(errno));
    }
    is_regular_ = S_ISREG(status.st_mode);
    if (!is_regular_) {
        return;
    }
    // Positions in an index count from the beginning of the file.
    if (status.st_size != 0) {
        throw user_error("The file {} is not empty, and a recording cannot follow other data. "
                         "Redirect to another file, or give a name with -o.",
                         options_.path);
    }
    lock();
}

/// Readers test this lock to learn whether the file is still being written.
void file_writer::lock() {
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        throw user_error(
            "The file {} is being written by another recording. Give another name with "
            "-o.",
            options_.path);
    }
}

void file_writer::compress(int level) {
    options_.compression = level;
    if (level != 0 && !compressor_) {
        compressor_.emplace(level);
    }
}

void file_writer::write_header(const host_block& host) {
    identity_ = static_cast<std::uint32_t>(generate_identity());
    file_header header{};
    header.magic = file_magic;
    header.version = file_version;
    header.identity = identity_;
    set_checksum(header);
    write_all(bytes_of(header), {}, {}, 0);
    // Written twice: without this block nothing can be read, and one copy may be damaged.
    index_.add(write_block(block_type::host, bytes_of(host)));
    index_.add(write_block(block_type::host, bytes_of(host)));
}

void file_writer::write_clock(const eventlog_clock_sample& pair, std::uint64_t watermark) {
    const clock_block clock{pair.clock, pair.monotonic, pair.realtime, watermark};
    index_.add(write_block(block_type::clock, bytes_of(clock)), clock);
    write_index_if_due();
}

void file_writer::write_offsets(const clock_offsets& offsets) {
    const offsets_block block{offsets.clock, offsets.boottime, offsets.tai};
    index_.add(write_block(block_type::offsets, bytes_of(block)));
    write_index_if_due();
}

void file_writer::write_provider(const provider_instance& provider) {
    provider_block block{};
    block.id = static_cast<std::uint16_t>(provider.id);
    block.pid = provider.pid;
    block.uid = provider.uid;
    block.schema_size = static_cast<std::uint32_t>(provider.schema.binary.size());
    copy_text(block.process, provider.process);
    index_.add(write_block(block_type::provider, bytes_of(block), provider.schema.binary));
    write_index_if_due();
}

void file_writer::write_run(const record_run& run) {
    records_block block{};
    block.ring = run.ring;
    block.flags = run.overwritten ? records_overwritten : 0;
    block.count = run.count;
    block.sequence = run.sequence;
    block.lost_before = run.lost_before;
    block.earliest = UINT64_MAX;
    run_reader records(run);
    for (record_view record; records.next(record);) {
        block.earliest = std::min<std::uint64_t>(block.earliest, record.time);
        block.latest = std::max<std::uint64_t>(block.latest, record.time);
    }
    index_.add(write_block(block_type::records, bytes_of(block), run.bytes), block);
    totals_.records += run.count;
    totals_.lost += run.lost_before;
    write_index_if_due();
}

void file_writer::write_loss(const loss_block& loss) {
    index_.add(write_block(block_type::loss, bytes_of(loss)));
    totals_.lost += lost_count(loss);
    write_index_if_due();
}

void file_writer::write_index_if_due() {
    if (index_.is_due()) {
        write_index();
    }
}

void file_writer::write_index() {
    const std::vector<std::uint8_t> payload = index_.take(complete_size_);
    write_block(block_type::index, payload);
}

void file_writer::write_end(std::optional<file_totals> totals) {
    const file_totals said = totals.value_or(totals_);
    if (!index_.empty()) {
        write_index();
    }
    const end_block end{said.records, said.lost, index_.last_index()};
    write_block(block_type::end, bytes_of(end));
}

void file_writer::sync() {
    // Pipes and file systems without fsync report EINVAL or ENOSYS.
    if (::fsync(file_.get()) != 0 && errno != EINVAL && errno != ENOSYS) {
        throw user_error("The file {} could not be written to its end ({}). Write it elsewhere.",
                         options_.path, std::strerror(errno));
    }
}

std::uint64_t file_writer::size_with(std::uint64_t payload) const noexcept {
    // One index before the block and one after it.
    const std::uint64_t index = sizeof(block_header) + sizeof(index_block);
    const std::uint64_t entries = (index_.size() + 1) * sizeof(index_entry);
    return complete_size_ + sizeof(block_header) + padded_payload_size(payload) + 2 * index +
           entries + end_block_size;
}

block_header file_writer::write_block(block_type type, bytes head, bytes body) {
    block_header header{};
    if (options_.compression != 0 && body.size() >= compressible_size) {
        const bytes frame = compressor_->compress(body);
        if (!frame.empty()) {
            body = frame;
            header.flags = block_compressed;
        }
    }
    header.magic = block_magic;
    header.type = static_cast<std::uint16_t>(type);
    header.size = static_cast<std::uint32_t>(head.size() + body.size());
    header.payload_checksum = crc32c(body, crc32c(head));
    header.number = next_block_++;
    header.identity = identity_;
    set_checksum(header);
    write_all(bytes_of(header), head, body, padded_payload_size(header.size) - header.size);
    return header;
}

void file_writer::write_all(std::span<const std::uint8_t> first,
                            std::span<const std::uint8_t> second,
                            std::span<const std::uint8_t> third, std::size_t padding) {
    static constexpr std::array<std::uint8_t, block_alignment> zeros{};
    std::array<iovec, 4> parts{};
    std::size_t count = 0;
    const auto add = [&](std::span<const std::uint8_t> part) {
        // iovec has no const member; writev() does not modify the bytes.
        parts[count++] = {const_cast<std::uint8_t*>(part.data()), part.size()};
    };
    add(first);
    add(second);
    add(third);
    add(std::span(zeros).first(padding));
    if (is_regular_) {
        write_parts(std::span(parts).first(count));
    } else {
        for (const iovec& part : std::span(parts).first(count)) {
            elog::write_all(file_.get(), {static_cast<const char*>(part.iov_base), part.iov_len},
                            options_.should_abort);
            bytes_written_ += part.iov_len;
        }
    }
    complete_size_ = bytes_written_;
}

/// After an error removes the incomplete block.
void file_writer::write_parts(std::span<iovec> parts) {
    std::size_t done = 0;
    while (done < parts.size()) {
        if (parts[done].iov_len == 0) {
            ++done;
            continue;
        }
        const ssize_t written =
            ::writev(file_.get(), &parts[done], static_cast<int>(parts.size() - done));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            const int error = errno;
            static_cast<void>(!::ftruncate(file_.get(), static_cast<off_t>(complete_size_)));
            throw_write_error(options_.path, error);
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
}

}  // namespace elog
