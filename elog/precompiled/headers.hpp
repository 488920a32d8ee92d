// SPDX-License-Identifier: MIT
//
// What most sources of elog include: builds with clang read it once. No source relies on it.
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
#include <variant>
#include <vector>

#include <fmt/core.h>
