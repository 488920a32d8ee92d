// SPDX-License-Identifier: MIT
//
// What most tests include, of other projects only: builds with clang read it once (see
// cmake/precompile.cmake). No source relies on it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
