// SPDX-License-Identifier: MIT
#include "file/recording_host.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "file/block_contents.hpp"

namespace elog {
namespace {

template <std::size_t Size>
std::string text_of(const char (&text)[Size]) {
    const auto* begin = static_cast<const char*>(text);
    return {begin, ::strnlen(begin, Size)};
}

int hex_digit(char digit) noexcept {
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                          : -1;
}

/// The kernel's boot_id, written as in RFC 4122; zeros if it is unknown.
std::array<std::uint8_t, 16> boot_of_this_host() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string text;
    std::getline(file, text);
    text.erase(std::remove(text.begin(), text.end(), '-'), text.end());
    std::array<std::uint8_t, 16> boot{};
    if (text.size() != 2 * boot.size() ||
        std::any_of(text.begin(), text.end(), [](char each) { return hex_digit(each) < 0; })) {
        return boot;
    }
    for (std::size_t i = 0; i < boot.size(); ++i) {
        boot[i] =
            static_cast<std::uint8_t>(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
    }
    return boot;
}

void take_host(recording_host& host, const host_block& block,
               std::span<const std::uint8_t> payload) {
    host.part = block.part;
    host.recording = block.recording;
    std::copy(std::begin(block.boot), std::end(block.boot), host.boot.begin());
    host.host_name = text_of(block.host_name);
    host.kernel = text_of(block.kernel);
    host.machine = text_of(block.machine);
    const std::span<const std::uint8_t> command = body_of(payload);
    host.command.assign(command.begin(), command.end());
}

void take_segment(recording_host& host, const segment_block& block) {
    host.clock = block.clock;
    host.ring_count = block.ring_count;
    host.origin = static_cast<segment_origin>(block.origin);
    host.serial = block.serial;
}

}  // namespace

recording_host this_host(std::uint32_t clock, std::uint32_t ring_count) {
    utsname names{};
    static_cast<void>(::uname(&names));
    recording_host host;
    host.clock = clock;
    host.ring_count = ring_count;
    host.host_name = static_cast<const char*>(names.nodename);
    host.kernel = static_cast<const char*>(names.release);
    host.machine = static_cast<const char*>(names.machine);
    host.boot = boot_of_this_host();
    return host;
}

namespace {

struct found_blocks {
    recording_host host;
    bool has_host = false;
    bool has_segment = false;
};

void take_block(found_blocks& found, block_file& file, block_type type,
                std::span<const std::uint8_t> payload) {
    if (type == block_type::host && !found.has_host) {
        const auto host = block_head<host_block>(payload);
        if (host && !contradicts_header(file.has_header(), *host)) {
            check_features(file.path(), host->version, host->required_features);
            take_host(found.host, *host, payload);
            found.has_host = true;
        }
    } else if (type == block_type::segment && !found.has_segment) {
        const auto segment = block_head<segment_block>(payload);
        if (segment) {
            check_segment_number(file.path(), segment->segment);
        }
        if (segment && is_valid(*segment)) {
            take_segment(found.host, *segment);
            found.has_segment = true;
        }
    }
}

found_blocks find_blocks(block_file& file) {
    found_blocks found;
    std::optional<block_location> place = file.find_block(sizeof(file_header));
    while (place && !(found.has_host && found.has_segment)) {
        const bool is_wanted =
            place->type() == block_type::host || place->type() == block_type::segment;
        if (is_wanted && !has_unknown_flags(place->header)) {
            if (const auto payload = file.load_quietly(*place)) {
                take_block(found, file, place->type(), *payload);
            }
        }
        place = file.find_block(file.behind(*place));
    }
    return found;
}

/// CLOCK_MONOTONIC is the clock whose readings equal those of the file's clock.
class clock_deduction {
  public:
    void add(const clock_reading& reading) noexcept {
        differs_ = differs_ || reading.clock != reading.monotonic;
    }
    [[nodiscard]] std::uint32_t clock() const noexcept {
        return differs_ ? EVENTLOG_CLOCK_TSC : EVENTLOG_CLOCK_MONOTONIC;
    }

  private:
    bool differs_ = false;
};

}  // namespace

std::optional<recording_host> find_recording_host(block_file& file) {
    found_blocks found = find_blocks(file);
    return found.has_segment ? std::optional(std::move(found.host)) : std::nullopt;
}

std::optional<recording_host> deduce_recording_host(const std::string& path) {
    block_file file(path);
    recording_host host = find_blocks(file).host;
    clock_deduction clock;
    std::optional<std::uint32_t> last_ring;
    block_walker walker(file, sizeof(file_header), 0);
    while (const std::optional<block_location> place = walker.next()) {
        if (const auto records = load_head<records_block>(file, *place, block_type::records)) {
            const std::uint32_t ring = records->ring;
            last_ring =
                ring < EVENTLOG_RINGS_MAX ? std::max(last_ring.value_or(0), ring) : last_ring;
        } else if (const auto read = load_head<clock_block>(file, *place, block_type::clock)) {
            clock.add(read->reading);
        }
    }
    if (!last_ring) {
        return std::nullopt;
    }
    host.clock = clock.clock();
    // One more: which ring is the shared one is unknown, so that each is shown by its number.
    host.ring_count = std::min<std::uint32_t>(*last_ring + 2, EVENTLOG_RINGS_MAX);
    host.origin = segment_origin::recovered;
    return host;
}

}  // namespace elog
