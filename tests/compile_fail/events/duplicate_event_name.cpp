// SPDX-License-Identifier: MIT
//
// expect: two events of this provider have the same name
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace one {
struct fine {
    std::uint64_t number;
};
}  // namespace one
namespace other {
struct fine {
    std::uint64_t number;
};
}  // namespace other

void emit_it() {
    eventlog::provider<"bad", one::fine, other::fine>::emit(one::fine{1});
}
