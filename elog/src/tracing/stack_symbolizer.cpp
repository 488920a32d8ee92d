// SPDX-License-Identifier: MIT
#include "tracing/stack_symbolizer.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "perf/perf_records.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

// Length of a text; outer frames beyond it are replaced by "...".
constexpr std::size_t text_size_max = 8192;
// Beyond these limits entries are forgotten and looked up again.
constexpr std::size_t files_max = 256;
constexpr std::size_t function_names_max = 65536;

struct frame {
    std::uint64_t address = 0;
    bool is_kernel = false;
};

std::vector<frame> frames_in(std::span<const std::uint8_t> bytes) {
    std::vector<frame> frames;
    bool is_kernel = false;
    for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
        std::uint64_t address = 0;
        std::memcpy(&address, bytes.data(), sizeof address);
        if (address >= eventlog::tracefs::perf_context_min) {
            is_kernel = address == eventlog::tracefs::perf_context_kernel;
        } else if (address != 0) {
            frames.push_back({address, is_kernel});
        }
    }
    return frames;
}

/// Opens the file that the process has mapped under that path. The inode excludes files that have
/// replaced it, and S_ISREG excludes devices, which may act when they are opened.
core::unique_fd open_mapped(std::uint32_t process, const code_mapping& mapping) {
    for (const std::string& path :
         {fmt::format("/proc/{}/root{}", process, mapping.path), mapping.path}) {
        const core::unique_fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
        struct stat status {};
        if (place && ::fstat(place.get(), &status) == 0 && S_ISREG(status.st_mode) &&
            (mapping.file == 0 || mapping.file == status.st_ino)) {
            const std::string same = fmt::format("/proc/self/fd/{}", place.get());
            return core::unique_fd(::open(same.c_str(), O_RDONLY | O_CLOEXEC));
        }
    }
    return {};
}

std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

bool is_emit_frame(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 7> calls{
        "write", "writev", "syscall", "__write", "__writev", "__libc_write", "__GI___writev"};
    return name.starts_with("eventlog::") || name.starts_with("eventlog_") ||
           std::find(calls.begin(), calls.end(), name) != calls.end();
}

const std::string& stack_symbolizer::name_in(std::uint32_t process, const code_mapping& mapping,
                                             std::uint64_t offset) {
    file_key key{mapping.path, mapping.file};
    if (files_.size() >= files_max && !files_.contains(key)) {
        files_.clear();
        memory_ = 0;
    }
    known_file& file = files_[std::move(key)];
    if (!file.names) {
        file.names =
            std::make_unique<elf_symbolizer>(open_mapped(process, mapping), memory_max_ - memory_);
        memory_ += file.names->memory();
    }
    if (file.by_offset.size() >= function_names_max) {
        file.by_offset.clear();
    }
    const auto [place, is_new] = file.by_offset.try_emplace(offset);
    if (is_new) {
        place->second = file.names->symbol_at(offset);
        if (place->second.empty()) {
            place->second = fmt::format("{}+{:#x}", last_part(mapping.path), offset);
        }
        // Semicolons separate the functions.
        std::replace(place->second.begin(), place->second.end(), ';', ':');
    }
    return place->second;
}

std::string stack_symbolizer::name_of(std::uint32_t process, std::uint64_t address) {
    const process_mappings::place place = mappings_.find(process, address);
    return place.mapping == nullptr ? fmt::format("{:#x}", address)
                                    : name_in(process, *place.mapping, place.offset);
}

std::string_view stack_symbolizer::text_of(std::uint32_t process,
                                           std::span<const std::uint8_t> addresses) {
    const std::vector<frame> found = frames_in(addresses);
    std::vector<std::string> names;  // innermost first
    std::size_t size = 0;
    for (std::size_t i = 0; i < found.size() && size < text_size_max; ++i) {
        // The first address of the kernel, and of the program, is that of the current instruction.
        // The others are return addresses, which may be behind the calling function.
        const auto [address, is_kernel] = found[i];
        const bool is_first = i == 0 || found[i - 1].is_kernel != is_kernel;
        const std::uint64_t called = address - (is_first ? 0 : 1);
        std::string name = is_kernel ? kernel_.name_of(called) : name_of(process, called);
        if (names.empty() && !is_kernel && i + 1 < found.size() && is_emit_frame(name)) {
            continue;
        }
        size += name.size() + 1;
        names.push_back(std::move(name));
    }
    if (size > text_size_max) {
        names.back() = "...";
    }
    std::reverse(names.begin(), names.end());
    text_ = fmt::format("{}", fmt::join(names, ";"));
    return text_;
}

}  // namespace elog
