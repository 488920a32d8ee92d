// SPDX-License-Identifier: MIT
#include "import/seekable_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "base/user_error.hpp"
#include "file/block_contents.hpp"
#include "file/block_file.hpp"
#include "file/file_format.hpp"
#include "file/read_observer.hpp"
#include "files/perf_file.hpp"
#include "files/tracing_data.hpp"
#include "schema/schema_text.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

constexpr std::uint64_t decisive_bytes = sizeof(file_header) + sizeof(block_header);

// A file whose host or first clock is not in its first part is damaged.
constexpr std::uint64_t start_size_max = std::uint64_t{4} << 20U;

constexpr std::chrono::milliseconds forever{-1};

/// Whether an .elog file may begin like this. A damaged header is accepted, as block_file accepts
/// it.
bool may_be_elog(std::span<const std::uint8_t> start) {
    std::uint64_t magic = 0;
    std::uint32_t first_block = 0;
    if (start.size() >= sizeof magic) {
        std::memcpy(&magic, start.data(), sizeof magic);
    }
    if (start.size() >= decisive_bytes) {
        std::memcpy(&first_block, start.data() + sizeof(file_header), sizeof first_block);
    }
    return magic == file_magic || magic == __builtin_bswap64(file_magic) ||
           first_block == block_magic;
}

bool may_be_import(std::span<const std::uint8_t> start) {
    return tracefs::is_perf_data(start) || tracefs::is_tracing_data(start);
}

/// Whether it may be a program or a shared object.
bool may_be_elf(std::span<const std::uint8_t> start) {
    constexpr std::array<std::uint8_t, 4> magic{0x7f, 'E', 'L', 'F'};
    return start.size() >= magic.size() &&
           std::memcmp(start.data(), magic.data(), magic.size()) == 0;
}

bool is_fifo(const struct stat& status) noexcept {
    return S_ISFIFO(status.st_mode);
}

/// Whether the path, such as /dev/stdin, leads to the same file as standard input.
bool is_standard_input(const std::string& path) {
    struct stat named {};
    struct stat own {};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(STDIN_FILENO, &own) == 0 &&
           named.st_dev == own.st_dev && named.st_ino == own.st_ino;
}

/// Searches a file that grows for the blocks without which times cannot be converted. What has
/// been searched is not read again.
class start_search {
  public:
    start_search(std::string path, growth_check is_growing)
        : path_(std::move(path)), is_growing_(std::move(is_growing)) {}

    /// `size`: of the file. Also true if it cannot be read, which is reported by its reader.
    [[nodiscard]] bool is_complete(std::uint64_t size) {
        try {
            if (size >= next_size_) {
                search();
            }
            return has_host_ && has_segment_ && has_clock_;
        } catch (const user_error&) {
            return true;
        }
    }

  private:
    void search() {
        if (!file_) {
            file_.emplace(path_, is_growing_);
            walker_.emplace(*file_, sizeof(file_header), 0);
        }
        file_->refresh();
        while (const std::optional<block_location> place = walker_->next()) {
            const auto segment = load_head<segment_block>(*file_, *place, block_type::segment);
            const auto clock = load_head<clock_block>(*file_, *place, block_type::clock);
            has_host_ = has_host_ || load_head<host_block>(*file_, *place, block_type::host);
            has_segment_ = has_segment_ || (segment && is_valid(*segment));
            has_clock_ = has_clock_ || (clock && clock->reading.realtime != 0);
        }
        const std::optional<block_location> next = file_->block_at(walker_->offset());
        next_size_ = walker_->offset() + sizeof(block_header) + (next ? next->header.size : 0U);
    }

    std::string path_;
    growth_check is_growing_;
    std::optional<block_file> file_;
    std::optional<block_walker> walker_;
    std::uint64_t next_size_ = 0;  // a smaller file has no further block
    bool has_host_ = false;
    bool has_segment_ = false;
    bool has_clock_ = false;
};

}  // namespace

bool is_pipe(const std::string& name) {
    struct stat status {};
    return name == "-" || (::stat(name.c_str(), &status) == 0 && is_fifo(status));
}

seekable_input::seekable_input(std::string name, pipe_copy extent)
    : name_(std::move(name)), path_(name_), extent_(extent) {
    if (name_ == "-") {
        use_standard_input();
        return;
    }
    if (!is_pipe(name_)) {
        return;
    }
    // A FIFO whose writer has ended cannot be opened again.
    if (is_standard_input(name_)) {
        copy_standard_input();
        return;
    }
    eventlog::core::unique_fd pipe(::open(name_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!pipe) {
        throw user_error("The pipe {} cannot be opened ({}). Check its name and permissions.",
                         name_, std::strerror(errno));
    }
    copy(std::move(pipe));
}

void seekable_input::use_standard_input() {
    name_ = "standard input";
    if (::isatty(STDIN_FILENO) == 1) {
        throw user_error("Standard input is a terminal. Connect it to a recording, for example "
                         "with: elog {} - < run.elog",
                         extent_ == pipe_copy::schemas ? "schema show" : "print");
    }
    struct stat status {};
    const bool is_file = ::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
                         ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
    constexpr const char* own_path = "/proc/self/fd/0";
    if (is_file && ::access(own_path, R_OK) == 0) {
        path_ = own_path;
        check_readable();
        return;
    }
    copy_standard_input();
}

void seekable_input::copy_standard_input() {
    eventlog::core::unique_fd own(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!own) {
        throw user_error("Standard input cannot be read ({}). Connect it to a recording.",
                         std::strerror(errno));
    }
    copy(std::move(own));
}

void seekable_input::copy(eventlog::core::unique_fd pipe) {
    pipe_ = std::move(pipe);
    copy_.emplace("To read " + name_);
    while (is_growing() && copied_ < decisive_bytes) {
        grow(forever);
    }
    switch (check_content()) {
        case pipe_copy::growing:
            copy_start();
            break;
        case pipe_copy::schemas:
            copy_schema();
            break;
        case pipe_copy::whole:
            if (is_growing()) {
                copy_->append_from(pipe_.get(), notify_read);
                pipe_ = {};
            }
            break;
    }
    check_readable();
}

/// Copies until the file can be read.
void seekable_input::copy_start() {
    start_search start(path(), [this] { return is_growing(); });
    while (is_growing() && copied_ < start_size_max && !start.is_complete(copied_)) {
        grow(forever);
    }
}

/// A larger file is no schema, which its reader reports.
void seekable_input::copy_schema() {
    while (is_growing() && copied_ <= schema_text_size_max) {
        grow(forever);
    }
    pipe_ = {};
}

void seekable_input::grow(std::chrono::milliseconds patience) {
    const auto note = [this](std::uint64_t bytes) {
        copied_ += bytes;
        notify_read(bytes);
    };
    if (is_growing() && !copy_->append_available(pipe_.get(), patience, note)) {
        pipe_ = {};
    }
}

void seekable_input::release(std::uint64_t size) noexcept {
    if (copy_) {
        copy_->release(size);
    }
}

/// Reports errors of the beginning of an .elog file with the name that the user knows.
void seekable_input::check_readable() const {
    std::uint64_t magic = 0;
    const eventlog::core::unique_fd file(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!file || ::pread(file.get(), &magic, sizeof magic, 0) != sizeof magic ||
        (magic != file_magic && magic != __builtin_bswap64(file_magic))) {
        return;  // of another program, or damaged: its reader reports that
    }
    try {
        static_cast<void>(block_file(path()));
    } catch (const user_error& error) {
        std::string text = error.what();
        const std::size_t at = text.find(path());
        if (at != std::string::npos) {
            text.replace(at, path().size(), name_);
        }
        throw user_error("{}", text);
    }
}

/// Returns how much to copy: endless output of another program must not fill the disk.
pipe_copy seekable_input::check_content() const {
    std::array<std::uint8_t, decisive_bytes> start{};
    const ssize_t size = ::pread(copy_->descriptor(), start.data(), start.size(), 0);
    const auto bytes = std::span(start).first(size < 0 ? 0 : static_cast<std::size_t>(size));
    const bool is_elog = may_be_elog(bytes);
    if (extent_ == pipe_copy::schemas) {
        return is_elog || may_be_elf(bytes) ? pipe_copy::whole : pipe_copy::schemas;
    }
    if (!is_elog && !may_be_import(bytes)) {
        throw user_error("What {} delivers is not an .elog file. Connect it to the output of, for "
                         "example, elog cut -o -.",
                         name_);
    }
    return is_elog ? extent_ : pipe_copy::whole;
}

}  // namespace elog
