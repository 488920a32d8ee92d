// SPDX-License-Identifier: MIT
#include <string_view>

#include <eventlog/log.hpp>

extern const int attempt;
extern const std::string_view host;
extern const unsigned count;
