// SPDX-License-Identifier: MIT
//
// Emits the events of three sessions through the header of elog schema gen --lang c for
// tour.schema. The programs beside this one emit the same in their languages.
#include "tour.h"

int main(void) {
    const uint64_t sessions[] = {1, 2, 0xfedcba9876543210};
    tour_weather(true);
    for (uint32_t i = 0; i < 3; ++i) {
        tour_session_begin(sessions[i]);
        tour_step(sessions[i], i * 10, "bridge");
        tour_glance(sessions[i], "river");
        tour_glance(sessions[i], NULL);
        tour_session_end(sessions[i]);
    }
    return 0;
}
