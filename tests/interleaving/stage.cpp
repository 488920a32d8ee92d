// SPDX-License-Identifier: MIT
#include "stage.hpp"

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

exchange* share_memory() {
    void* const shared = ::mmap(nullptr, sizeof(exchange), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        throw std::runtime_error("cannot share memory with a child");
    }
    return static_cast<exchange*>(shared);
}

[[noreturn]] void obey_until_killed(void* context) {
    obey(*static_cast<exchange*>(context));
}

}  // namespace

std::string stage::obstacle() {
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

bool stage::has_two_cpus() {
    return allowed_cpus().size() >= 2;
}

stage::stage(const char* tsc)
    : tsc_("EVENTLOG_TSC", tsc), cpus_(allowed_cpus()), exchange_(share_memory()) {
    begin_listening();
    begin_emitter();
}

stage::~stage() {
    emitter_.reset();
    ::munmap(exchange_, sizeof *exchange_);
}

void stage::begin_listening(std::string_view pattern) {
    ears_ = std::make_unique<listener>(pattern);
    // In a directory of its own: nobody else takes this slot.
    EXPECT_TRUE(std::filesystem::exists(eventlog_directory() + "/subscriptions/00"));
    ledger_.forget_rings();
}

void stage::end_subscription() {
    ears_->source().end();
    ledger_.read(*ears_);
    static_cast<void>(ears_->reader().finish());
    EXPECT_EQ(ears_->totals().damaged, 0U);
    lost_before_ += ears_->totals().lost;
    leave_ended();
    ended_ = std::make_unique<ended_region>(std::move(ears_));
}

/// What happened in the subscription that ended before this one.
void stage::leave_ended() {
    if (ended_ != nullptr) {
        ended_->expect_untouched();
        lost_before_ += ended_->lost_since();
        ended_.reset();
    }
}

void stage::begin_emitter() {
    emitter_ = std::make_unique<tracee>(obey_until_killed, exchange_);
    attempts_ = 0;
    unattached_ = 0;
    unattached_neighbours_ = 0;
}

void stage::keep_on(pid_t process, unsigned cpu) const {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (::sched_setaffinity(process, sizeof set, &set) != 0) {
        throw std::runtime_error(std::string("cannot move a process: ") + std::strerror(errno));
    }
}

/// Tells the emitter what to emit next; it does so when it is let run.
std::uint64_t stage::tell(event_kind kind, std::size_t size) {
    exchange_->kind = kind;
    exchange_->number = next_number(kind);
    exchange_->size = size;
    ++attempts_;
    return exchange_->number;
}

/// Lets the emitter do all that it was told.
void stage::finish() {
    if (emitter_->run() != stop::ready) {
        throw std::runtime_error("the emitter did not go on: status " +
                                 std::to_string(emitter_->status()));
    }
}

void stage::order(event_kind kind, std::size_t size) {
    ledger_.expect(tell(kind, size), emitter_->pid());
    finish();
}

template <class Part>
Part stage::read_region(std::uint64_t offset) const {
    Part found{};
    if (::pread(ears_->source().file().get(), &found, sizeof found, static_cast<off_t>(offset)) !=
        sizeof found) {
        throw std::runtime_error("cannot read the region");
    }
    return found;
}

/// As it is in memory now, of the emitter's CPU.
eventlog_ring stage::ring() const {
    return read_region<eventlog_ring>(ears_->source().geometry().ring_offset(cpus_.front()));
}

/// How many events the ring has recorded or lost, all in all.
std::uint64_t stage::known_to_ring() const {
    const core::region_geometry& geometry = ears_->source().geometry();
    const eventlog_ring head = ring();
    const core::control_word control{head.control};
    const auto active = read_region<eventlog_buffer>(
        geometry.ring_offset(cpus_.front()) + sizeof head +
        control.generation() % geometry.buffer_count * sizeof(eventlog_buffer));
    return active.records_before + control.count() + head.lost;
}

/// How many bytes are left in its buffer.
std::uint64_t stage::room() const {
    const core::control_word control{ring().control};
    return control.is_sealed() ? 0 : ears_->source().geometry().buffer_size - control.position();
}

/// Up to the last byte.
void stage::fill_buffer() {
    constexpr std::uint64_t smallest = filler_head + 64;
    for (std::uint64_t left = room(); left != 0; left = room()) {
        std::uint64_t record = std::min<std::uint64_t>(left, EVENTLOG_RECORD_SIZE_MAX);
        if (left != record && left - record < smallest) {
            record -= smallest;
        }
        order(event_kind::filler, record - filler_head);
    }
}

/// As the event is to find it: the emitter on its CPU, attached, the ring as it should be.
void stage::prepare(const scenario& way) {
    keep_on(emitter_->pid(), cpus_.front());
    order(way.kind, 30);
    ledger_.read(*ears_);
    if (way.ring == ring_state::roomy) {
        return;
    }
    fill_buffer();
    ledger_.read(*ears_);
    if (way.ring == ring_state::exhausted) {
        // Two buffers are all that there are.
        order(event_kind::filler, EVENTLOG_RECORD_SIZE_MAX - filler_head);
        fill_buffer();
    }
}

trace stage::follow(const scenario& way, std::size_t size) {
    prepare(way);
    ledger_.expect(tell(way.kind, size), emitter_->pid());
    emitter_->plant(way.entry());
    if (emitter_->run() != stop::breakpoint) {
        throw std::runtime_error("the emitter does not come to the library's function");
    }
    const std::uint64_t behind = emitter_->read(emitter_->stack());
    std::vector<traced_step> steps;
    for (std::uint64_t at = way.entry(); at != behind;) {
        // A sequence that the kernel does not know of goes on behind each stop. There is nobody
        // else on this CPU who emits.
        const sequence* const in = sequence_at(at);
        if (in != nullptr && at == in->start) {
            emitter_->write(told_sequence_address(), 0);
        }
        if (emitter_->step() != stop::step) {
            throw std::runtime_error("the emitter does not come to the end of an event");
        }
        const std::uint64_t next = emitter_->instruction();
        // What repeats itself is one instruction.
        if (next != at) {
            steps.push_back({at, next});
        }
        at = next;
    }
    finish();
    conclude(way, std::nullopt);
    return {std::move(steps), way.counted};
}

void stage::conclude(const scenario& way, std::optional<interruption> what) {
    ledger_.read(*ears_);
    if (way.ring != ring_state::roomy) {
        // Losses are told in front of the ring's next record.
        keep_on(emitter_->pid(), cpus_.front());
        order(event_kind::block, 0);
        ledger_.read(*ears_);
    }
    leave_ended();
    EXPECT_EQ(ears_->totals().damaged, 0U);
    EXPECT_EQ(ears_->lost_by_providers(), 0U);
    const std::uint64_t lost = lost_before_ + ears_->totals().lost;
    const std::uint64_t lost_now = lost - lost_told_ + check_counters(what);
    lost_told_ = lost;
    if (way.ring == ring_state::roomy) {
        EXPECT_EQ(lost_now, 0U) << "there was room";
    }
    ledger_.settle(lost_now);
}

/// The emitter's own account of what it has attempted. Returns how many events no ring knows of: a
/// thread that is interrupted while it makes room keeps its region mapped, and there is no place
/// for another one in that slot until it goes on.
std::uint64_t stage::check_counters(std::optional<interruption> what) {
    exchange_->number = 0;
    finish();
    EXPECT_EQ(exchange_->accounted, attempts_) << "the providers have not counted their events";
    const std::uint64_t own = exchange_->unattached - unattached_;
    const std::uint64_t neighbours = exchange_->unattached_neighbours - unattached_neighbours_;
    if (what != interruption::narrowed) {
        EXPECT_EQ(own, 0U);
        EXPECT_TRUE(neighbours == 0 || what == interruption::replaced);
    }
    unattached_ += own;
    unattached_neighbours_ += neighbours;
    return own + neighbours;
}

}  // namespace eventlog::test
