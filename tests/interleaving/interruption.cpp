// SPDX-License-Identifier: MIT
//
// The part of the stage that comes in between.
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include <gtest/gtest.h>

#include "stage.hpp"

namespace eventlog::test {
namespace {

// A thread may lose its CPU by itself, and not come to the instruction in this attempt, or come to
// it on another way.
constexpr int attempts_max = 1000;

}  // namespace

void stage::interrupt(const scenario& way, std::size_t size, const trace& usual,
                      std::uint64_t address, interruption what) {
    const bool done = usual.is_done_before(address);
    const sequence* const inside = sequence_at(address);
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        prepare(way);
        const std::uint64_t known = known_to_ring();
        const std::uint64_t number = tell(way.kind, size);
        emitter_->plant(address);
        const stop reached = emitter_->run();
        if (reached == stop::ended) {
            throw std::runtime_error("the emitter ended by itself");
        }
        // A sequence that starts over by itself has code behind it run that otherwise runs only
        // when the event is done.
        const bool as_usual = (known_to_ring() != known) == done;
        if (reached == stop::ready || !as_usual) {
            emitter_->remove();
            if (reached != stop::ready) {
                finish();
            }
            ledger_.expect(number, emitter_->pid());
            conclude(way, std::nullopt);
            continue;
        }
        if (done) {
            ledger_.expect(number, emitter_->pid());
        }
        strike(way, inside, address, what);
        if (what == interruption::narrowed) {
            attempts_ -= done ? 0 : 1;  // nobody has asked for it
            end_subscription();
            begin_listening();
        } else if (!done && what != interruption::killed) {
            ledger_.expect(number, emitter_->pid());
        }
        conclude(way, what);
        return;
    }
    ADD_FAILURE() << "no event came to the instruction";
}

/// Behind it the emitter has gone on and is ready, or is another one.
void stage::strike(const scenario& way, const sequence* inside, std::uint64_t address,
                   interruption what) {
    const std::uint64_t returns_to = inside == nullptr ? address : inside->abort_handler;
    const auto nested = [this](event_kind kind) {
        const std::uint64_t number = next_number(kind);
        ledger_.expect(number, emitter_->pid());
        ++attempts_;
        return number;
    };
    switch (what) {
        case interruption::preempted:
            see_abort(inside);
            break;
        case interruption::signalled:
            run_handler({}, inside, returns_to);
            return;
        case interruption::nested:
            run_handler({nested(event_kind::brief), nested(event_kind::block),
                         nested(event_kind::neighbour)},
                        inside, returns_to);
            return;
        case interruption::moved:
            go_on_elsewhere(inside);
            return;
        case interruption::displaced:
            emit_from_another_process();
            go_on_elsewhere(inside);
            return;
        case interruption::succeeded:
            end_subscription();
            begin_listening();
            check_gate(way.kind);
            see_abort(inside);
            break;
        case interruption::replaced:
            end_subscription();
            begin_listening();
            check_gate(way.kind);
            run_handler({0, 0, nested(event_kind::neighbour)}, inside, returns_to);
            return;
        case interruption::narrowed: {
            // The other event of its provider, which attaches that, too.
            const bool is_small_event = way.kind == event_kind::brief;
            const event_kind other = is_small_event ? event_kind::block : event_kind::brief;
            end_subscription();
            begin_listening(is_small_event ? all_but_brief : all_but_block);
            const std::uint64_t number = nested(other);
            run_handler({is_small_event ? 0 : number, is_small_event ? number : 0,
                         nested(event_kind::neighbour)},
                        inside, returns_to);
            return;
        }
        case interruption::read:
            ledger_.read(*ears_);
            see_abort(inside);
            break;
        case interruption::killed:
            emitter_->kill();
            emit_from_another_process();
            begin_emitter();
            return;
    }
    finish();
}

/// The subscription that has just begun has the slot of the one that has just ended.
void stage::check_gate(event_kind kind) const {
    EXPECT_EQ(emitter_->read(gate_address(kind)) & EVENTLOG_GATE_SUBSCRIPTIONS, 1U)
        << "only the first slot's bit is to be seen";
}

/// Runs a handler, and then all the rest.
void stage::run_handler(const interlude& meanwhile, const sequence* inside,
                        std::uint64_t returns_to) {
    exchange_->meanwhile = meanwhile;
    exchange_->interrupted_at = 0;
    if (emitter_->run(SIGUSR1) != stop::ready) {
        throw std::runtime_error("the emitter did not go on behind a signal handler: status " +
                                 std::to_string(emitter_->status()));
    }
    EXPECT_EQ(exchange_->interrupted_at, returns_to);
    aborted_ += inside != nullptr && exchange_->interrupted_at == inside->abort_handler ? 1 : 0;
}

/// And does everything there: what it finds out about the CPU that it was on is of no use any more.
void stage::go_on_elsewhere(const sequence* inside) {
    const std::uint64_t counter = counter_address(cpus_.front());
    const std::uint64_t counted = emitter_->read(counter);
    const eventlog_ring before = ring();
    keep_on(emitter_->pid(), cpus_.at(1));
    see_abort(inside);
    finish();
    const eventlog_ring after = ring();
    EXPECT_EQ(emitter_->read(counter), counted) << "it counted for a CPU that it was not on";
    EXPECT_EQ(after.control, before.control) << "it wrote to the ring of a CPU that it was not on";
    EXPECT_EQ(after.lost, before.lost) << "it counted a loss in the ring of another CPU";
}

/// Whatever it stands in front of, the next instruction that runs is that of the abort handler.
void stage::see_abort(const sequence* inside) {
    if (inside == nullptr) {
        return;
    }
    emitter_->plant(inside->abort_handler);
    const bool seen = emitter_->step() == stop::breakpoint;
    emitter_->remove();
    EXPECT_TRUE(seen) << "the thread went on inside of a sequence";
    aborted_ += seen ? 1 : 0;
}

void stage::emit_from_another_process() {
    cpu_set_t before;
    CPU_ZERO(&before);
    static_cast<void>(::sched_getaffinity(0, sizeof before, &before));
    keep_on(0, cpus_.front());
    for (const event_kind kind : {event_kind::brief, event_kind::block, event_kind::neighbour}) {
        const std::uint64_t number = next_number(kind);
        ledger_.expect(number, ::gettid());
        emit(kind, number, 19);
    }
    static_cast<void>(::sched_setaffinity(0, sizeof before, &before));
}

}  // namespace eventlog::test
