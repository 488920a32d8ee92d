// SPDX-License-Identifier: MIT
//
// expect: an event has more than 100 fields
// expect: has_many
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

// clang-format off
struct has_many {
    std::uint8_t f0, f1, f2, f3, f4, f5, f6, f7, f8, f9,
        f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
        f20, f21, f22, f23, f24, f25, f26, f27, f28, f29,
        f30, f31, f32, f33, f34, f35, f36, f37, f38, f39,
        f40, f41, f42, f43, f44, f45, f46, f47, f48, f49,
        f50, f51, f52, f53, f54, f55, f56, f57, f58, f59,
        f60, f61, f62, f63, f64, f65, f66, f67, f68, f69,
        f70, f71, f72, f73, f74, f75, f76, f77, f78, f79,
        f80, f81, f82, f83, f84, f85, f86, f87, f88, f89,
        f90, f91, f92, f93, f94, f95, f96, f97, f98, f99,
        f100;
};
// clang-format on

void emit_it() {
    eventlog::provider<"bad", has_many>::emit(has_many{});
}
