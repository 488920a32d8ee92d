// SPDX-License-Identifier: MIT
//
// expect: Write eventlog::gauge<...> around it in the provider's list.
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct queue_length {
    std::int64_t jobs;
};
using printer = eventlog::provider<"printer", queue_length>;

static constinit printer::gauge<queue_length> queue;

int main() {
    queue.add(1);
}
