// SPDX-License-Identifier: MIT
//
// Whether this is built or run in a way that makes it slow, for tests that then have to do less:
// both compilers' ways to say it.
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

#ifdef EVENTLOG_TEST_EMULATED
inline constexpr bool is_emulated = true;  // it runs on a processor that is emulated
#else
inline constexpr bool is_emulated = false;
#endif

/// Everything takes ten times as long.
inline constexpr bool is_slow =
    has_address_sanitizer || has_thread_sanitizer || !is_optimised || is_emulated;

/// The same of a build that is fast where it is made: whoever runs it on a processor that is
/// emulated says so.
inline bool is_slow_run() noexcept {
    return is_slow || std::getenv("EVENTLOG_TEST_EMULATED") != nullptr;
}

}  // namespace eventlog::test
