// SPDX-License-Identifier: MIT
//
// Interrupts the emitter at an instruction.
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include <gtest/gtest.h>

#include "interruption_run.hpp"

namespace eventlog::test {
namespace {

// A thread may lose its CPU, and not reach the instruction in an attempt, or reach it on another
// path.
constexpr int attempts_max = 1000;

}  // namespace

void interruption_run::interrupt(const scenario& way, std::size_t size, const trace& usual,
                                 std::uint64_t address, interruption what) {
    const bool done = usual.is_committed_before(address);
    const sequence* const inside = sequence_at(address);
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        prepare(way);
        const std::uint64_t known = recorded_or_lost();
        const std::uint64_t number = queue_event(way.kind, size);
        emitter_->plant(address);
        const stop reached = emitter_->run();
        if (reached == stop::ended) {
            throw std::runtime_error("the emitter ended by itself");
        }
        // After a restart of the sequence, code that otherwise follows the commit can run before
        // it.
        const bool as_usual = (recorded_or_lost() != known) == done;
        if (reached == stop::ready || !as_usual) {
            emitter_->remove();
            if (reached != stop::ready) {
                finish();
            }
            event_ledger_.expect(number, emitter_->pid());
            check_result(way, std::nullopt);
            continue;
        }
        if (done) {
            event_ledger_.expect(number, emitter_->pid());
        }
        interrupt_at(way, inside, address, what);
        if (what == interruption::slot_mapped_by_neighbour) {
            attempts_ -= done ? 0 : 1;  // no subscription matches the event
            end_subscription();
            start_subscription();
        } else if (!done && what != interruption::killed) {
            event_ledger_.expect(number, emitter_->pid());
        }
        check_result(way, what);
        return;
    }
    ADD_FAILURE() << "no event reached the instruction";
}

/// Afterwards the emitter has finished the event and is ready, or is a new process.
void interruption_run::interrupt_at(const scenario& way, const sequence* inside,
                                    std::uint64_t address, interruption what) {
    const std::uint64_t returns_to = inside == nullptr ? address : inside->abort_handler;
    const auto nested = [this](event_kind kind) {
        const std::uint64_t number = next_number(kind);
        event_ledger_.expect(number, emitter_->pid());
        ++attempts_;
        return number;
    };
    switch (what) {
        case interruption::preempted:
            expect_abort(inside);
            break;
        case interruption::signalled:
            run_handler({}, inside, returns_to);
            return;
        case interruption::nested:
            run_handler({nested(event_kind::small), nested(event_kind::block),
                         nested(event_kind::other_provider)},
                        inside, returns_to);
            return;
        case interruption::migrated:
            continue_on_other_cpu(inside);
            return;
        case interruption::cpu_contended:
            emit_from_another_process();
            continue_on_other_cpu(inside);
            return;
        case interruption::slot_reused:
            end_subscription();
            start_subscription();
            check_gate(way.kind);
            expect_abort(inside);
            break;
        case interruption::slot_remapped:
            end_subscription();
            start_subscription();
            check_gate(way.kind);
            run_handler({0, 0, nested(event_kind::other_provider)}, inside, returns_to);
            return;
        case interruption::slot_mapped_by_neighbour: {
            // The other event of its provider, which attaches the provider, too.
            const bool is_small_event = way.kind == event_kind::small;
            const event_kind other = is_small_event ? event_kind::block : event_kind::small;
            end_subscription();
            start_subscription(is_small_event ? all_but_small : all_but_block);
            const std::uint64_t number = nested(other);
            run_handler({is_small_event ? 0 : number, is_small_event ? number : 0,
                         nested(event_kind::other_provider)},
                        inside, returns_to);
            return;
        }
        case interruption::read:
            event_ledger_.read(*listener_);
            expect_abort(inside);
            break;
        case interruption::overtaken:
            emit_from_another_process();
            expect_abort(inside);
            break;
        case interruption::killed:
            emitter_->kill();
            emit_from_another_process();
            start_emitter();
            return;
    }
    finish();
}

/// Checks that the new subscription has the slot of the ended one.
void interruption_run::check_gate(event_kind kind) const {
    EXPECT_EQ(emitter_->read(gate_address(kind)) & EVENTLOG_GATE_SUBSCRIPTIONS, 1U)
        << "only the first slot's bit must be set";
}

/// Runs a handler, and then the rest of the event.
void interruption_run::run_handler(const handler_events& in_handler, const sequence* inside,
                                   std::uint64_t returns_to) {
    command_->in_handler = in_handler;
    command_->interrupted_at = 0;
    if (emitter_->run(SIGUSR1) != stop::ready) {
        throw std::runtime_error("the emitter did not go on behind a signal handler: status " +
                                 std::to_string(emitter_->status()));
    }
    EXPECT_EQ(command_->interrupted_at, returns_to);
    aborted_ += inside != nullptr && command_->interrupted_at == inside->abort_handler ? 1 : 0;
}

/// Continues on another CPU: the thread must not use what it read for its previous CPU.
void interruption_run::continue_on_other_cpu(const sequence* inside) {
    const std::uint64_t counter = counter_address(cpus_.front());
    const std::uint64_t counted = emitter_->read(counter);
    const eventlog_ring before = ring();
    pin_process(emitter_->pid(), cpus_.at(1));
    expect_abort(inside);
    finish();
    const eventlog_ring after = ring();
    EXPECT_EQ(emitter_->read(counter), counted) << "it counted for a CPU that it was not on";
    EXPECT_EQ(after.control, before.control) << "it wrote to the ring of a CPU that it was not on";
    EXPECT_EQ(after.lost, before.lost) << "it counted a loss in the ring of another CPU";
}

/// Checks that the next instruction is that of the abort handler.
void interruption_run::expect_abort(const sequence* inside) {
    if (inside == nullptr) {
        return;
    }
    emitter_->plant(inside->abort_handler);
    const bool seen = emitter_->step() == stop::breakpoint;
    emitter_->remove();
    EXPECT_TRUE(seen) << "the thread continued within a sequence";
    aborted_ += seen ? 1 : 0;
}

void interruption_run::emit_from_another_process() {
    cpu_set_t before;
    CPU_ZERO(&before);
    static_cast<void>(::sched_getaffinity(0, sizeof before, &before));
    pin_process(0, cpus_.front());
    for (const event_kind kind :
         {event_kind::small, event_kind::block, event_kind::other_provider}) {
        const std::uint64_t number = next_number(kind);
        event_ledger_.expect(number, ::gettid());
        emit(kind, number, 19);
    }
    static_cast<void>(::sched_setaffinity(0, sizeof before, &before));
}

}  // namespace eventlog::test
