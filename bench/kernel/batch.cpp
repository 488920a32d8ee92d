// SPDX-License-Identifier: MIT
//
// Emits events of libeventlog one by one and in a batch, for a listener of the device, and prints
// their times: bench/kernel.py, in a virtual machine, as root.
//
// usage: batch_bench TURNS
//
// Prints a line for each turn of each kind, in the form of kernel_bench.
#include <cstdint>

#include <eventlog/eventlog.hpp>

#include "listening.h"

namespace {

constexpr std::uint64_t emitted = 1000;

// The size that kernel_bench writes.
struct written {
    std::uint64_t first;
    std::uint64_t second;
    std::uint64_t third;
    std::uint64_t fourth;
};
using batches = eventlog::provider<"batches", written>;

void emit_all() {
    for (std::uint64_t number = 0; number < emitted; ++number) {
        batches::emit(written{number, 2, 3, 4});
    }
}

template <class Emit>
void measure(const char* name, Emit emit) {
    const std::uint64_t before = count_recorded();
    const std::uint64_t begin = now();
    emit();
    const std::uint64_t taken = now() - begin;
    report(name, static_cast<double>(taken) / static_cast<double>(emitted),
           emitted - (count_recorded() - before));
}

}  // namespace

int main(int argc, char** argv) {
    const long turns = read_turns(argc, argv);
    subscribe("batches", "written", "no other");
    check(batches::enabled<written>(), "the event has no listener");
    for (long turn = 0; turn < turns; ++turn) {
        measure("emit_alone", emit_all);
        measure("emit_in_batch", [] {
            const eventlog::kernel_batch batch;
            emit_all();
        });
    }
    return 0;
}
