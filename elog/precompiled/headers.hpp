// SPDX-License-Identifier: MIT
//
// Headers of other projects that most sources of elog include. Builds with clang read them once
// (see cmake/precompile.cmake). No source relies on this file.
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
