// SPDX-License-Identifier: MIT
//
// Structured events that processes with permission can record at run time.
//
//     struct order_placed { std::uint64_t order; std::string_view customer; std::uint32_t items; };
//     using shop = eventlog::provider<"shop", order_placed>;
//     shop::emit(order_placed{17, "ann", 3});
#pragma once

#include <eventlog/detail/language.hpp>

// Not in an older language, where each of them would add errors.
#if __cplusplus >= 202002L
#include <eventlog/addresses.hpp>
#include <eventlog/clock.hpp>
#include <eventlog/gauge.hpp>
#include <eventlog/kernel_batch.hpp>
#include <eventlog/metadata.hpp>
#include <eventlog/provider.hpp>
#include <eventlog/session.hpp>
#include <eventlog/snapshot.hpp>
#include <eventlog/timed_scope.hpp>
#include <eventlog/wrappers.hpp>
#endif
