// SPDX-License-Identifier: MIT
//
// Detects slow builds by both compilers' macros, and emulation by the environment, so that tests do
// less work there.
#pragma once

#include <cstdlib>

namespace eventlog::test {

#if defined(__has_feature)
inline constexpr bool has_address_sanitizer = __has_feature(address_sanitizer);
inline constexpr bool has_thread_sanitizer = __has_feature(thread_sanitizer);
#else
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool has_address_sanitizer = true;
#else
inline constexpr bool has_address_sanitizer = false;
#endif
#ifdef __SANITIZE_THREAD__
inline constexpr bool has_thread_sanitizer = true;
#else
inline constexpr bool has_thread_sanitizer = false;
#endif
#endif

#ifdef __OPTIMIZE__
inline constexpr bool is_optimised = true;
#else
inline constexpr bool is_optimised = false;
#endif

/// Everything takes about ten times as long.
inline constexpr bool is_slow = has_address_sanitizer || has_thread_sanitizer || !is_optimised;

/// is_slow, or the environment has EVENTLOG_TEST_EMULATED: a fast build that runs on an emulated
/// processor.
inline bool is_slow_run() noexcept {
    return is_slow || std::getenv("EVENTLOG_TEST_EMULATED") != nullptr;
}

}  // namespace eventlog::test
