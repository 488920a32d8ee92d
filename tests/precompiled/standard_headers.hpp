// SPDX-License-Identifier: MIT
//
// What eventlog's headers and the cases of compile_fail include of the standard library: read once
// for all cases. That each of eventlog's headers includes what it needs, documents finds out.
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
