// SPDX-License-Identifier: MIT
//
// expect: a field of this event is a reference, or its type has no default constructor
// expect-pfr: has a type that is not supported
#include <cstdint>

#include <eventlog/eventlog.hpp>

class counted {
  public:
    explicit counted(std::uint32_t number) : number_(number) {}

  private:
    std::uint32_t number_;
};
struct seen {
    counted number;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
