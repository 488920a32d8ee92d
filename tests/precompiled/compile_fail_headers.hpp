// SPDX-License-Identifier: MIT
//
// What the cases of compile_fail include: eventlog's headers, and what these and the cases take
// from the standard library. Compiled once for all cases. That each of eventlog's headers includes
// what it needs is tested by documents.
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>
