// SPDX-License-Identifier: MIT
//
// Availability of restartable sequences. A folder for each processor has the steps.
#include "ring/rseq.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "ring/rseq_sequence.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {

#if EVENTLOG_HAS_SEQUENCES

[[gnu::used]] constinit std::ptrdiff_t rseq_area = 0;  // emit_small.cpp refers to it in assembly

namespace {

[[EVENTLOG_STARTUP_SECTION]] constinit std::atomic<bool> chosen{false};

}  // namespace

void configure_rseq(bool can_be_restarted) noexcept {
    const char* choice = ::secure_getenv("EVENTLOG_RSEQ");
    const bool forbidden = choice != nullptr && std::strcmp(choice, "off") == 0;
    rseq_area = __rseq_offset;
    chosen.store(__rseq_size != 0 && can_be_restarted && !forbidden, std::memory_order_relaxed);
}

bool rseq_available() noexcept {
    return chosen.load(std::memory_order_relaxed);
}

#else  // other processors and C libraries: all threads write to the shared ring

void configure_rseq(bool /*can_be_restarted*/) noexcept {}
bool rseq_available() noexcept {
    return false;
}
std::uint32_t rseq_cpu() noexcept {
    return UINT32_MAX;
}
void rseq_arm_pieces() noexcept {}
rseq_result rseq_append_pieces(const subscription_slot&, std::uint64_t,
                               const rseq_pieces&) noexcept {
    return rseq_result::elsewhere;
}
rseq_result rseq_append_context(const subscription_slot&, std::uint64_t, std::uint64_t,
                                std::uint64_t, std::uint64_t, const void*) noexcept {
    return rseq_result::elsewhere;
}
rseq_result rseq_switch_buffers(const rseq_target&, const rseq_switch&) noexcept {
    return rseq_result::elsewhere;
}
rseq_result rseq_seal(const rseq_target&, std::uint64_t, eventlog_buffer*, std::uint64_t) noexcept {
    return rseq_result::elsewhere;
}
rseq_result rseq_count_lost(const rseq_target&, std::uint64_t) noexcept {
    return rseq_result::elsewhere;
}

#endif

}  // namespace eventlog::core
