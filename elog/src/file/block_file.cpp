// SPDX-License-Identifier: MIT
#include "file/block_file.hpp"

#include <fcntl.h>
#include <linux/eventlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/crc32c.hpp"
#include "base/read_at.hpp"
#include "file/block_contents.hpp"
#include "file/read_observer.hpp"

namespace elog {
namespace {

constexpr std::size_t window_size = 4096;
constexpr std::size_t search_size = std::size_t{64} << 10U;

template <class Header>
bool has_checksum(const Header& header) noexcept {
    return header.checksum ==
           crc32c({reinterpret_cast<const std::uint8_t*>(&header), offsetof(Header, checksum)});
}

bool is_block(const block_header& header) noexcept {
    return header.magic == block_magic && header.size <= block_payload_max && has_checksum(header);
}

/// Distinguishes the blocks of one file.
std::uint64_t key_of(const block_header& header) noexcept {
    return header.number << 32U ^ header.checksum;
}

/// The largest size of a decompressed body; nullopt for types that are never compressed.
std::optional<std::size_t> body_size_max(block_type type) noexcept {
    switch (type) {
        case block_type::schema:
            return EVENTLOG_SCHEMA_SIZE_MAX;
        case block_type::records:
            return records_size_max;
        default:
            return std::nullopt;
    }
}

// Blocks of other identities, before one of the file's, that are tried.
constexpr unsigned identities_max = 16;

// A walk verifies payloads of this many times the size of the file, to find wrong sizes.
constexpr std::uint64_t verified_max = 4;

// Without the header and the first blocks, another block is searched in this part of the file. It
// is longer than a block.
constexpr std::uint64_t identity_search_max = block_payload_max + (std::uint64_t{64} << 10U);

}  // namespace

block_file::block_file(std::string path, growth_check is_growing)
    : path_(std::move(path)),
      is_growing_(std::move(is_growing)),
      file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
        const int error = errno;
        throw user_error("The file {} cannot be opened ({}). {}", path_, std::strerror(error),
                         error == EMFILE ? "Allow more open files, with ulimit -n, or pass fewer."
                                         : "Check its name and permissions.");
    }
    if (!S_ISREG(status.st_mode)) {
        throw user_error("{} is not a file. Give the name of one that elog record -o has written.",
                         path_);
    }
    window_.resize(window_size);
    refresh();
    check_header();
}

void block_file::refresh() {
    // The lock is tested before the size is read: a file whose writer has closed it does not grow
    // any more, so a block that is incomplete then is damage.
    is_being_written_ = is_growing_
                            ? is_growing_()
                            : ::flock(file_.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat status {};
    if (::fstat(file_.get(), &status) == 0) {
        size_ = static_cast<std::uint64_t>(status.st_size);
    }
    window_size_ = 0;
    searched_size_ = 0;
}

void check_features(const std::string& path, std::uint32_t version, std::uint64_t required) {
    if (version != file_version) {
        throw user_error(
            "The file {} has version {} of the format; this elog knows version {}. Use an elog "
            "that knows it.",
            path, version, file_version);
    }
    if (const std::uint64_t unknown = required & ~file_features_known; unknown != 0) {
        throw user_error(
            "The file {} requires feature {} of the format, which this elog does not have. Use a "
            "newer elog.",
            path, std::countr_zero(unknown));
    }
}

void check_block_type(const std::string& path, std::uint16_t type) {
    if ((type & block_type_required) != 0) {
        throw user_error(
            "The file {} has a block of type {}, which a reader must know, and this elog does not. "
            "Use a newer elog.",
            path, type);
    }
}

void check_segment_number(const std::string& path, std::uint16_t number) {
    if (number != 0) {
        throw user_error(
            "The file {} has several segments, and this elog reads files with one. Use a newer "
            "elog.",
            path);
    }
}

void block_file::check_header() {
    file_header header{};
    const bool is_there = read(&header, sizeof header, 0);
    const bool is_elog = size_ >= sizeof header.magic && read(&header, sizeof header.magic, 0);
    if (is_elog && header.magic == __builtin_bswap64(file_magic)) {
        throw user_error(
            "The file {} begins like an .elog file whose numbers are big-endian. There "
            "is none: they are little-endian on every machine. Record again, with elog.",
            path_);
    }
    const bool has_magic = is_elog && header.magic == file_magic;
    if (is_there && has_magic && has_checksum(header)) {
        check_features(path_, header.version, header.required_features);
        identity_ = header.identity;
        has_identity_ = true;
        has_header_ = true;
        check_identity();
        return;
    }
    // The first block follows directly and has the same identity. Other versions may have a header
    // of another size.
    const bool has_first = block_at(sizeof header).has_value();
    find_identity();
    if (is_there && has_magic && !has_first && header.version != file_version &&
        !has_host_of_this_version()) {
        check_features(path_, header.version, 0);
    }
    if (!is_there || (!has_magic && !has_identity_)) {
        throw user_error("{} is not an .elog file. Give the name of one that elog record -o has "
                         "written.",
                         path_);
    }
    report("the file's header, at 0, is damaged");
}

bool block_file::has_host_of_this_version() {
    for (std::optional<block_location> place = find_block(sizeof(file_header), identity_search_max);
         place; place = find_block(behind(*place), identity_search_max)) {
        const auto payload = place->type() == block_type::host
                                 ? load_quietly(*place)
                                 : std::optional<std::vector<std::uint8_t>>();
        const auto host = payload ? block_head<host_block>(*payload) : std::nullopt;
        if (host && host->version == file_version) {
            return true;
        }
    }
    return false;
}

/// Takes the blocks' identity if the one in the header is that of no block.
void block_file::check_identity() {
    if (block_at(sizeof(file_header)) || find_block(sizeof(file_header))) {
        return;
    }
    const std::uint32_t stated = identity_;
    find_identity();
    if (has_identity_ && identity_ != stated) {
        report("the file's header, at 0, has another identity than the blocks");
        return;
    }
    identity_ = stated;
    has_identity_ = true;
}

/// The identity of the first block that another one shares; without one, of the first block.
void block_file::find_identity() {
    std::optional<std::uint32_t> first;
    std::uint64_t offset = sizeof(file_header);
    for (unsigned left = identities_max; left > 0; --left) {
        has_identity_ = false;
        const std::optional<block_location> place = find_block(offset, identity_search_max);
        if (!place) {
            break;
        }
        first = first.value_or(place->header.identity);
        identity_ = place->header.identity;
        has_identity_ = true;
        offset = place->offset + block_alignment;
        if (find_block(offset, identity_search_max)) {
            return;
        }
    }
    has_identity_ = first.has_value();
    identity_ = first.value_or(0);
}

bool block_file::read(void* data, std::size_t size, std::uint64_t offset) {
    bytes_read_ += size;
    notify_read(size);
    return offset <= size_ && size_ - offset >= size && read_at(file_, data, size, offset);
}

std::span<const std::uint8_t> block_file::window(std::uint64_t offset, std::size_t size) {
    if (offset > size_ || size_ - offset < size || size > window_size) {
        return {};
    }
    const bool is_in = offset >= window_offset_ && size <= window_size_ &&
                       offset - window_offset_ <= window_size_ - size;
    if (!is_in) {
        window_size_ = 0;
        const std::size_t length = std::min<std::uint64_t>(window_size, size_ - offset);
        if (!read(window_.data(), length, offset)) {
            return {};
        }
        window_offset_ = offset;
        window_size_ = length;
    }
    return std::span<const std::uint8_t>(window_).subspan(offset - window_offset_, size);
}

std::optional<block_location> block_file::block_at(std::uint64_t offset) {
    block_location place;
    place.offset = offset;
    const std::span<const std::uint8_t> bytes = window(offset, sizeof place.header);
    if (bytes.empty()) {
        return std::nullopt;
    }
    std::memcpy(&place.header, bytes.data(), sizeof place.header);
    const bool is_ours = !has_identity_ || place.header.identity == identity_;
    return is_ours && is_block(place.header) ? std::optional(place) : std::nullopt;
}

std::optional<block_location> block_file::find_block(std::uint64_t offset) {
    return find_block(offset, UINT64_MAX);
}

/// The next bytes of the file, at least a header. They are kept, because in a file with much damage
/// each search ends after a few of them. Empty after an error.
std::span<const std::uint8_t> block_file::bytes_to_search(std::uint64_t offset) {
    const bool is_in = offset >= searched_offset_ && searched_size_ >= sizeof(block_header) &&
                       offset - searched_offset_ <= searched_size_ - sizeof(block_header);
    if (!is_in) {
        searched_.resize(search_size);
        searched_size_ = 0;
        const std::size_t length = std::min<std::uint64_t>(search_size, size_ - offset);
        if (!read(searched_.data(), length, offset)) {
            return {};
        }
        searched_offset_ = offset;
        searched_size_ = length;
    }
    return std::span<const std::uint8_t>(searched_)
        .first(searched_size_)
        .subspan(offset - searched_offset_);
}

std::optional<block_location> block_file::find_block(std::uint64_t offset, std::uint64_t limit) {
    offset = padded_payload_size(offset);
    while (offset < std::min(size_, limit) && size_ - offset >= sizeof(block_header)) {
        const std::span<const std::uint8_t> searched = bytes_to_search(offset);
        if (searched.empty()) {
            break;
        }
        for (std::size_t at = 0; at + sizeof(block_magic) <= searched.size();
             at += block_alignment) {
            std::uint32_t magic = 0;
            std::memcpy(&magic, searched.data() + at, sizeof magic);
            if (magic == block_magic) {
                if (const std::optional<block_location> found = block_at(offset + at)) {
                    return found;
                }
            }
        }
        offset += searched.size() / block_alignment * block_alignment;
    }
    return std::nullopt;
}

std::span<const std::uint8_t> block_file::peek(const block_location& place, std::size_t size) {
    return place.header.size < size ? std::span<const std::uint8_t>{}
                                    : window(place.offset + sizeof(block_header), size);
}

/// The payload with its padding, as far as that is there; false if the payload is damaged.
bool block_file::read_payload(const block_location& place, std::vector<std::uint8_t>& payload) {
    const std::uint64_t at = place.offset + sizeof(block_header);
    payload.assign(padded_payload_size(place.header.size), 0);
    // The last block may be cut off within its padding.
    const std::uint64_t there = at > size_ ? 0 : size_ - at;
    const std::size_t size = std::min<std::uint64_t>(payload.size(), there);
    return size >= place.header.size && read(payload.data(), size, at) &&
           crc32c(std::span(payload).first(place.header.size)) == place.header.payload_checksum;
}

std::optional<std::vector<std::uint8_t>> block_file::load_quietly(const block_location& place) {
    std::vector<std::uint8_t> payload;
    if (!read_payload(place, payload) || (place.header.flags & block_compressed) != 0) {
        return std::nullopt;
    }
    payload.resize(place.header.size);
    return payload;
}

bool block_file::has_sound_payload(const block_location& place) {
    std::vector<std::uint8_t> payload;
    return read_payload(place, payload);
}

std::uint64_t block_file::behind(const block_location& place) {
    return place.end() >= size_ || block_at(place.end()) ? place.end()
                                                         : place.offset + block_alignment;
}

std::optional<std::vector<std::uint8_t>> block_file::load(const block_location& place) {
    std::vector<std::uint8_t> payload;
    if (!read_payload(place, payload)) {
        report("the block at {} is damaged", place.offset);
        return std::nullopt;
    }
    const auto padding = payload.begin() + place.header.size;
    if (std::any_of(padding, payload.end(), [](std::uint8_t byte) { return byte != 0; })) {
        report("the padding of the block at {} is damaged; the block is whole", place.offset);
    }
    payload.resize(place.header.size);
    if ((place.header.flags & block_compressed) == 0) {
        return payload;
    }
    const std::optional<std::size_t> size_max = body_size_max(place.type());
    const std::size_t head = head_size_of(payload);
    if (size_max && head != 0) {
        std::vector<std::uint8_t> content(payload.begin(),
                                          payload.begin() + static_cast<std::ptrdiff_t>(head));
        if (decompressor_.decompress(std::span(payload).subspan(head), *size_max, content)) {
            return content;
        }
    }
    report("the block at {} cannot be decompressed", place.offset);
    return std::nullopt;
}

/// Returns to a block that the wrong size of the one before offset_ has covered.
bool block_walker::return_to_covered() {
    const std::optional<block_location> previous = std::exchange(previous_, std::nullopt);
    // Each payload may cover many others of a hostile file.
    if (!previous || verified_ > verified_max * file_->size()) {
        return false;
    }
    verified_ += previous->header.size;
    if (file_->has_sound_payload(*previous)) {
        return false;
    }
    const std::optional<block_location> found =
        file_->find_block(previous->offset + block_alignment);
    if (!found || found->offset >= offset_) {
        return false;
    }
    file_->report("the size of the block at {} is damaged", previous->offset);
    offset_ = found->offset;
    return true;
}

bool block_walker::skip_to_block() {
    if (return_to_covered()) {
        return true;
    }
    const std::uint64_t begin = offset_;
    // What a file that grows had at the last call is not searched again.
    const std::optional<block_location> found =
        file_->find_block(std::max(begin + block_alignment, searched_until_));
    searched_until_ = 0;
    if (found) {
        file_->report("bytes {} to {} are not a whole block", begin, found->offset);
        offset_ = found->offset;
        return true;
    }
    // A block that a live writer has not finished is no damage.
    if (!file_->is_being_written()) {
        file_->report("bytes {} to {} are not a whole block: the file ends in the middle of the "
                      "block at {}",
                      begin, file_->size(), begin);
        offset_ = file_->size();
    } else if (file_->size() > sizeof(block_header)) {
        searched_until_ =
            (file_->size() - sizeof(block_header)) / block_alignment * block_alignment;
    }
    return false;
}

/// Reports an unexpected number, and returns false for a block that is there twice. A wrong number
/// of one block is no reason to leave out the blocks behind it.
bool block_walker::is_first_copy(const block_location& place) {
    const std::uint64_t number = place.header.number;
    if (number < expected_ && !seen_) {
        remember_blocks(place.offset);
    }
    if (seen_ && !remember(place)) {
        file_->report("the block at {} repeats an earlier one and is left out", place.offset);
        return false;
    }
    if (number < expected_) {
        file_->report("the block at {} is out of order", place.offset);
    } else if (number > expected_) {
        file_->report("{} blocks are missing before the one at {}", number - expected_,
                      place.offset);
    }
    expected_ = number + 1;
    return true;
}

/// Returns false for a copy of an earlier block. A damaged block is none: its copy may be whole.
bool block_walker::remember(const block_location& place) {
    const std::uint64_t key = key_of(place.header);
    if (seen_->contains(key)) {
        return false;
    }
    if (verified_ <= verified_max * file_->size()) {
        verified_ += place.header.size;
        if (!file_->has_sound_payload(place)) {
            return true;
        }
    }
    seen_->insert(key);
    return true;
}

/// Reads the headers again, which is necessary only in a damaged file.
void block_walker::remember_blocks(std::uint64_t until) {
    seen_.emplace();
    std::optional<block_location> place = file_->find_block(begin_);
    while (place && place->offset < until) {
        static_cast<void>(remember(*place));
        place = file_->find_block(file_->behind(*place));
    }
}

std::optional<block_location> block_walker::next() {
    while (offset_ < file_->size()) {
        const std::optional<block_location> place = file_->block_at(offset_);
        const bool is_whole =
            place && file_->size() - offset_ >= sizeof(block_header) + place->header.size;
        if (!is_whole) {
            if (!skip_to_block()) {
                return std::nullopt;
            }
            continue;
        }
        if (place->header.number > expected_ && return_to_covered()) {
            continue;
        }
        offset_ = place->end();
        previous_ = place;
        if (!is_first_copy(*place)) {
            continue;
        }
        check_block_type(file_->path(), place->header.type);
        return place;
    }
    return std::nullopt;
}

}  // namespace elog
