// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
// expect: has_other
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace other {

/// Has the members of std::optional, and is another type.
template <class Value>
class optional {
  public:
    using value_type = Value;
    bool has_value() const { return false; }
    const Value& operator*() const { return value_; }

  private:
    Value value_{};
};

}  // namespace other

struct has_other {
    other::optional<int> number;
};

void emit_it() {
    eventlog::provider<"bad", has_other>::emit(has_other{});
}
