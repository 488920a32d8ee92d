// SPDX-License-Identifier: MIT
#include "interruption_run.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "build_kind.hpp"
#include "ring/rseq.hpp"
#include "scratch.hpp"

namespace eventlog::test {
namespace {

std::vector<unsigned> allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    static_cast<void>(::sched_getaffinity(0, sizeof set, &set));
    std::vector<unsigned> cpus;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) {
            cpus.push_back(cpu);
        }
    }
    return cpus;
}

emitter_command* share_memory() {
    void* const shared = ::mmap(nullptr, sizeof(emitter_command), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        throw std::runtime_error("cannot share memory with a child");
    }
    return static_cast<emitter_command*>(shared);
}

[[noreturn]] void obey_until_killed(void* context) {
    run_emitter(*static_cast<emitter_command*>(context));
}

}  // namespace

std::string interruption_run::skip_reason() {
    if (has_thread_sanitizer) {
        return "ThreadSanitizer holds signals back";
    }
    if (!core::rseq_available()) {
        return "there are no restartable sequences here";
    }
    if (!tracee::is_permitted()) {
        return "processes may not trace their children here";
    }
    return "";
}

bool interruption_run::has_two_cpus() {
    return allowed_cpus().size() >= 2;
}

interruption_run::interruption_run(const char* tsc)
    : tsc_("EVENTLOG_TSC", tsc), cpus_(allowed_cpus()), command_(share_memory()) {
    start_subscription();
    start_emitter();
}

interruption_run::~interruption_run() {
    emitter_.reset();
    ::munmap(command_, sizeof *command_);
}

void interruption_run::start_subscription(std::string_view pattern) {
    listener_ = std::make_unique<event_listener>(pattern);
    // In a separate directory, so that no other subscription takes this slot.
    EXPECT_TRUE(std::filesystem::exists(eventlog_directory() + "/subscriptions/00"));
    event_ledger_.reset_rings();
}

void interruption_run::end_subscription() {
    listener_->source().end();
    event_ledger_.read(*listener_);
    static_cast<void>(listener_->reader().finish());
    EXPECT_EQ(listener_->totals().damaged, 0U);
    lost_before_ += listener_->totals().lost;
    check_ended_region();
    ended_ = std::make_unique<ended_region>(std::move(listener_));
}

/// Checks the region of the previous subscription.
void interruption_run::check_ended_region() {
    if (ended_ != nullptr) {
        ended_->expect_untouched();
        lost_before_ += ended_->lost_since();
        ended_.reset();
    }
}

void interruption_run::start_emitter() {
    emitter_ = std::make_unique<tracee>(obey_until_killed, command_);
    attempts_ = 0;
    unattached_ = 0;
    unattached_neighbours_ = 0;
}

void interruption_run::pin_process(pid_t process, unsigned cpu) const {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (::sched_setaffinity(process, sizeof set, &set) != 0) {
        throw std::runtime_error(std::string("cannot move a process: ") + std::strerror(errno));
    }
}

/// Sets the emitter's next event, which it emits when it continues.
std::uint64_t interruption_run::queue_event(event_kind kind, std::size_t size) {
    command_->kind = kind;
    command_->number = next_number(kind);
    command_->size = size;
    ++attempts_;
    return command_->number;
}

/// Runs the emitter until it has emitted the event.
void interruption_run::finish() {
    if (emitter_->run() != stop::ready) {
        throw std::runtime_error("the emitter did not go on: status " +
                                 std::to_string(emitter_->status()));
    }
}

void interruption_run::send_command(event_kind kind, std::size_t size) {
    event_ledger_.expect(queue_event(kind, size), emitter_->pid());
    finish();
}

template <class Part>
Part interruption_run::read_region(std::uint64_t offset) const {
    Part found{};
    if (::pread(listener_->source().file().get(), &found, sizeof found,
                static_cast<off_t>(offset)) != sizeof found) {
        throw std::runtime_error("cannot read the region");
    }
    return found;
}

/// The current ring of the emitter's CPU.
eventlog_ring interruption_run::ring() const {
    return read_region<eventlog_ring>(listener_->source().geometry().ring_offset(cpus_.front()));
}

/// The number of events that the ring has recorded or lost.
std::uint64_t interruption_run::recorded_or_lost() const {
    const core::region_geometry& geometry = listener_->source().geometry();
    const eventlog_ring head = ring();
    const core::control_word control{head.control};
    const auto active = read_region<eventlog_buffer>(
        geometry.ring_offset(cpus_.front()) + sizeof head +
        control.generation() % geometry.buffer_count * sizeof(eventlog_buffer));
    return active.records_before + control.count() + head.lost;
}

/// The number of free bytes in its buffer.
std::uint64_t interruption_run::room() const {
    const core::control_word control{ring().control};
    return control.is_sealed() ? 0
                               : listener_->source().geometry().buffer_size - control.position();
}

/// Fills the buffer up to its last byte.
void interruption_run::fill_buffer() {
    // Payloads over 255 bytes: their records have the longest header.
    constexpr std::uint64_t smallest = filler_overhead + 512;
    for (std::uint64_t left = room(); left != 0; left = room()) {
        std::uint64_t record = std::min<std::uint64_t>(left, EVENTLOG_RECORD_SIZE_MAX);
        if (left != record && left - record < smallest) {
            record -= smallest;
        }
        send_command(event_kind::filler, record - filler_overhead);
    }
}

/// Prepares the scenario: the emitter on its CPU and attached, the ring in the scenario's state.
void interruption_run::prepare(const scenario& way) {
    pin_process(emitter_->pid(), cpus_.front());
    send_command(way.kind, 30);
    event_ledger_.read(*listener_);
    if (way.has_other_route) {
        const std::uint64_t gate = gate_address(way.kind);
        emitter_->write(gate, emitter_->read(gate) | std::uint64_t{1} << EVENTLOG_GATE_DEVICE_BIT);
    }
    if (way.ring == ring_state::other_context) {
        emit_from_another_process();
        return;
    }
    if (way.ring == ring_state::has_space) {
        return;
    }
    fill_buffer();
    event_ledger_.read(*listener_);
    if (way.ring == ring_state::exhausted) {
        // The ring has two buffers.
        send_command(event_kind::filler, EVENTLOG_RECORD_SIZE_MAX - filler_overhead);
        fill_buffer();
    }
}

trace interruption_run::follow(const scenario& way, std::size_t size) {
    prepare(way);
    event_ledger_.expect(queue_event(way.kind, size), emitter_->pid());
    emitter_->plant(way.entry());
    if (emitter_->run() != stop::breakpoint) {
        throw std::runtime_error("the emitter does not reach the library's function");
    }
    const std::uint64_t return_address = emitter_->read(emitter_->stack());
    std::vector<executed_step> steps;
    for (std::uint64_t at = way.entry(); at != return_address;) {
        // A sequence without a descriptor continues after each stop, which is safe because no other
        // thread emits on this CPU.
        const sequence* const in = sequence_at(at);
        if (in != nullptr && at == in->start) {
            emitter_->write(rseq_cs_address(), 0);
        }
        if (emitter_->step() != stop::step) {
            throw std::runtime_error("the emitter does not reach the end of an event");
        }
        std::uint64_t next = emitter_->instruction();
        // An instruction with a repeat prefix is one instruction.
        if (next != at) {
            steps.push_back({at, next});
        }
        if (const std::uint64_t checked = behind_check_at(at); checked != 0) {
            steps.push_back({next, checked});
            emitter_->set_instruction(checked);
            next = checked;
        }
        at = next;
    }
    finish();
    check_result(way, std::nullopt);
    return {std::move(steps), way.last_sequences};
}

void interruption_run::check_result(const scenario& way, std::optional<interruption> what) {
    event_ledger_.read(*listener_);
    if (way.ring != ring_state::has_space && way.ring != ring_state::other_context) {
        // Losses are reported in front of the ring's next record.
        pin_process(emitter_->pid(), cpus_.front());
        send_command(event_kind::block, 0);
        event_ledger_.read(*listener_);
    }
    check_ended_region();
    EXPECT_EQ(listener_->totals().damaged, 0U);
    EXPECT_EQ(listener_->lost_by_providers(), 0U);
    const std::uint64_t lost = lost_before_ + listener_->totals().lost;
    const std::uint64_t lost_now = lost - lost_reported_ + check_counters(what);
    lost_reported_ = lost;
    if (way.ring == ring_state::has_space || way.ring == ring_state::other_context) {
        EXPECT_EQ(lost_now, 0U) << "there was room";
    }
    event_ledger_.expect_all_accounted(lost_now);
}

/// Checks the emitter's counters of its attempts. Returns the number of events that no ring counts:
/// a thread that is interrupted while it makes room keeps its region mapped, and its slot cannot
/// map another one until the thread continues.
std::uint64_t interruption_run::check_counters(std::optional<interruption> what) {
    command_->number = 0;
    finish();
    EXPECT_EQ(command_->accounted, attempts_) << "the providers have not counted their events";
    const std::uint64_t own = command_->unattached - unattached_;
    const std::uint64_t neighbours = command_->unattached_neighbours - unattached_neighbours_;
    if (what != interruption::slot_mapped_by_neighbour) {
        EXPECT_EQ(own, 0U);
        EXPECT_TRUE(neighbours == 0 || what == interruption::slot_remapped);
    }
    unattached_ += own;
    unattached_neighbours_ += neighbours;
    return own + neighbours;
}

}  // namespace eventlog::test
