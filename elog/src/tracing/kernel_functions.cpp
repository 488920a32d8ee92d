// SPDX-License-Identifier: MIT
#include "tracing/kernel_functions.hpp"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/proc_file.hpp"
#include "platform/unique_fd.hpp"

namespace elog {
namespace {

// Four times the file of a kernel with many modules.
constexpr std::size_t file_size_max = std::size_t{64} << 20U;
// The file has no sizes. Code at a larger distance from a name belongs to another function, which
// has none.
constexpr std::uint64_t function_size_max = 65536;

constexpr std::string_view code_types = "tTwW";

}  // namespace

/// A line has an address, a type and a name; a module's name may follow behind a tab.
void kernel_functions::add(std::string_view line) {
    const std::string_view digits = take_until(line, ' ');
    const std::string_view type = take_until(line, ' ');
    const std::string_view name = take_until(line, '\t');
    std::uint64_t address = 0;
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
    const bool is_code = type.size() == 1 && code_types.find(type) != std::string_view::npos;
    if (problem != std::errc{} || end != digits.data() + digits.size() || address == 0 ||
        !is_code || name.empty()) {
        return;
    }
    functions_.push_back({address, static_cast<std::uint32_t>(names_.size())});
    names_.append(name);
    std::replace(names_.end() - static_cast<std::ptrdiff_t>(name.size()), names_.end(), ';', ':');
    names_ += '\n';
}

void kernel_functions::read() {
    if (std::exchange(is_read_, true)) {
        return;
    }
    const eventlog::core::unique_fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    const std::optional<std::string> text = read_text(file, file_size_max);
    if (!text) {
        return;
    }
    for (std::string_view left = *text; !left.empty();) {
        add(take_until(left, '\n'));
    }
    // Of several names for one address, the first in the file is used.
    std::stable_sort(functions_.begin(), functions_.end(), [](const auto& one, const auto& other) {
        return one.address < other.address;
    });
    functions_.erase(std::unique(functions_.begin(), functions_.end(),
                                 [](const auto& one, const auto& other) {
                                     return one.address == other.address;
                                 }),
                     functions_.end());
}

std::string kernel_functions::name_of(std::uint64_t address) {
    read();
    const auto behind = std::upper_bound(
        functions_.begin(), functions_.end(), address,
        [](std::uint64_t wanted, const function& each) { return wanted < each.address; });
    if (behind == functions_.begin() || address - behind[-1].address >= function_size_max) {
        return fmt::format("{:#x}_[k]", address);
    }
    const std::string_view name = std::string_view(names_).substr(behind[-1].name);
    return fmt::format("{}_[k]", name.substr(0, name.find('\n')));
}

}  // namespace elog
