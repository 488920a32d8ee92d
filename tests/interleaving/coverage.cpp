// SPDX-License-Identifier: MIT
#include "coverage.hpp"

#include <iterator>
#include <sstream>

namespace eventlog::test {
namespace {

/// The size of a jump, whose next executed instruction need not follow it; 0 for other
/// instructions.
std::uint64_t size_of_jump(std::uint64_t address) {
    const auto* const code = reinterpret_cast<const std::uint8_t*>(address);
    if ((code[0] & 0xf0U) == 0x70U || code[0] == 0xeb) {
        return 2;
    }
    if (code[0] == 0x0f && (code[1] & 0xf0U) == 0x80U) {
        return 6;
    }
    return code[0] == 0xe9 ? 5 : 0;
}

}  // namespace

void coverage::add(const trace& met) {
    for (const executed_step& step : met.steps()) {
        const std::uint64_t jump = size_of_jump(step.address);
        sizes_[step.address] = jump == 0 ? step.next - step.address : jump;
    }
}

std::string coverage::first_uncovered_in(const sequence& of) const {
    for (std::uint64_t at = of.start; at != of.end();) {
        const auto found = sizes_.find(at);
        if (found == sizes_.end()) {
            std::ostringstream text;
            text << "sequence " << &of - sequences().data() << ", at 0x" << std::hex << of.start
                 << ": no run has executed offset 0x" << at - of.start;
            return text.str();
        }
        at += found->second;
    }
    return "";
}

std::size_t coverage::count(const sequence& of) const {
    return static_cast<std::size_t>(
        std::distance(sizes_.lower_bound(of.start), sizes_.lower_bound(of.end())));
}

}  // namespace eventlog::test
