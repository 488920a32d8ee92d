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

std::optional<recording_host> find_recording_host(block_file& file) {
    recording_host found;
    bool has_host = false;
    bool has_segment = false;
    std::uint64_t offset = sizeof(file_header);
    while (!has_host || !has_segment) {
        std::optional<block_location> place = file.block_at(offset);
        if (!place) {
            place = file.find_block(offset);
        }
        if (!place) {
            return std::nullopt;
        }
        offset = place->end();
        const bool is_wanted =
            place->type() == block_type::host || place->type() == block_type::segment;
        const auto payload = is_wanted && !has_unknown_flags(place->header)
                                 ? file.load_quietly(*place)
                                 : std::optional<std::vector<std::uint8_t>>();
        if (!payload) {
            continue;
        }
        if (place->type() == block_type::host && !has_host) {
            if (const auto host = block_head<host_block>(*payload)) {
                check_features(file.path(), host->version, host->required_features);
                take_host(found, *host, *payload);
                has_host = true;
            }
        } else if (place->type() == block_type::segment && !has_segment) {
            const auto segment = block_head<segment_block>(*payload);
            if (segment) {
                check_segment_number(file.path(), segment->segment);
            }
            if (segment && is_valid(*segment)) {
                take_segment(found, *segment);
                has_segment = true;
            }
        }
    }
    return found;
}

}  // namespace elog
