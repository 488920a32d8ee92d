// SPDX-License-Identifier: MIT
//
// expect: a value refers to text or bytes, which may not live until the end
#include <cstdint>
#include <string_view>

#include <eventlog/dynamic_provider.hpp>

void measure(const eventlog::dynamic_provider& provider, std::string_view statement) {
    const auto scope = provider.time(0, std::uint32_t{7}, statement);
}
