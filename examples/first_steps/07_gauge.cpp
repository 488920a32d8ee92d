// SPDX-License-Identifier: MIT
//
// Gauge: a number that emits its event whenever it changes.
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct queue_length {
    std::int64_t jobs;
};
using printer = eventlog::provider<"printer", eventlog::gauge<queue_length>>;

static constinit printer::gauge<queue_length> queue;

int main() {
    queue.add(1);
    queue.add(2);
    queue.add(-1);
    queue.set(0);
}
