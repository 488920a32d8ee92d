// SPDX-License-Identifier: MIT
#include "tracing/process_mappings.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/proc_file.hpp"
#include "tracing/process_files.hpp"

namespace elog {
namespace {

// Beyond these limits everything is forgotten, and read again for processes that run.
constexpr std::size_t mapped_processes_max = 4096;
constexpr std::size_t mappings_max = 4096;  // of one process
constexpr std::size_t maps_size_max = std::size_t{16} << 20U;
// An unknown address may be in a library that was loaded since.
constexpr std::chrono::milliseconds mappings_read_interval{200};

/// Removes a number and the character behind it from the front.
bool take_number(std::string_view& text, std::uint64_t& number, int base, char behind) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    const auto size = static_cast<std::size_t>(end - text.data());
    if (error != std::errc{} || size >= text.size() || *end != behind) {
        return false;
    }
    text.remove_prefix(size + 1);
    return true;
}

/// BEGIN-END rwxp OFFSET MAJOR:MINOR FILE    PATH
void take_line(std::string_view line, process_mappings::by_address& found) {
    std::uint64_t begin = 0;
    std::uint64_t major = 0;
    std::uint64_t minor = 0;
    code_mapping mapping;
    if (!take_number(line, begin, 16, '-') || !take_number(line, mapping.end, 16, ' ') ||
        line.size() < 5 || line[2] != 'x') {
        return;
    }
    line.remove_prefix(5);
    const bool is_whole = take_number(line, mapping.offset, 16, ' ') &&
                          take_number(line, major, 16, ':') && take_number(line, minor, 16, ' ') &&
                          take_number(line, mapping.file, 10, ' ');
    const auto path = line.find('/');
    if (is_whole && path != std::string_view::npos && mapping.end > begin &&
        found.size() < mappings_max) {
        mapping.path = line.substr(path);
        found.insert_or_assign(begin, std::move(mapping));
    }
}

}  // namespace

process_mappings::by_address parse_maps(std::string_view text) {
    process_mappings::by_address found;
    while (!text.empty()) {
        take_line(take_until(text, '\n'), found);
    }
    return found;
}

process_mappings::process_mappings()
    : read_([](std::uint32_t process) {
          return read_process_file(process, "maps", maps_size_max);
      }) {}

process_mappings::entry& process_mappings::entry_of(std::uint32_t process) {
    if (processes_.size() >= mapped_processes_max && !processes_.contains(process)) {
        processes_.clear();
    }
    return processes_[process];
}

void process_mappings::add_fork(std::uint32_t process, std::uint32_t parent) {
    const auto known = processes_.find(parent);
    by_address mappings = known != processes_.end() ? known->second.mappings : by_address();
    entry_of(process) = {std::move(mappings), {}};
}

void process_mappings::add_mapping(std::uint32_t process, std::uint64_t address,
                                   code_mapping mapping) {
    by_address& mappings = entry_of(process).mappings;
    // Removes mappings that this one replaces, also those of a program that the process executed
    // before.
    auto next = mappings.lower_bound(address);
    if (next != mappings.begin() && std::prev(next)->second.end > address) {
        --next;
    }
    while (next != mappings.end() && next->first < mapping.end) {
        next = mappings.erase(next);
    }
    if (mappings.size() < mappings_max) {
        mappings.emplace(address, std::move(mapping));
    }
}

void process_mappings::read_again(std::uint32_t process, entry& known) {
    const auto now = steady_clock::now();
    if (now < known.read_due) {
        return;
    }
    known.read_due = now + mappings_read_interval;
    by_address found = parse_maps(read_(process));
    if (!found.empty()) {
        known.mappings = std::move(found);
    }
}

process_mappings::place process_mappings::find(std::uint32_t process, std::uint64_t address) {
    entry& known = entry_of(process);
    for (const bool again : {true, false}) {
        const auto next = known.mappings.upper_bound(address);
        if (next != known.mappings.begin() && std::prev(next)->second.end > address) {
            const auto& [begin, mapping] = *std::prev(next);
            return {&mapping, address - begin + mapping.offset};
        }
        if (again) {
            read_again(process, known);
        }
    }
    return {};
}

}  // namespace elog
