// SPDX-License-Identifier: MIT
//
// expect: a field's name needs 1 to 63 letters, digits and _
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes_that_were_lost_on_their_way_from_the_sender_to_the_receivers;
};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
