// SPDX-License-Identifier: MIT
//
// A subscription, a process that emits to it and is traced, and what can come in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emitter.hpp"
#include "ended_region.hpp"
#include "event_ledger.hpp"
#include "listener.hpp"
#include "scenario.hpp"
#include "scoped_environment.hpp"
#include "sequences.hpp"
#include "tracee.hpp"

namespace eventlog::test {

/// What happens to a thread that stands in front of an instruction.
enum class interruption {
    preempted,      // others run
    signalled,      // a handler runs that does nothing
    nested,         // a handler runs that emits
    migrated,       // it goes on on another CPU
    cpu_contended,  // and another process emits on the one that it was on
    slot_reused,    // the subscription ends, and another one takes its slot
    slot_remapped,  // and a handler emits another provider's event, which maps the other one
    slot_mapped_by_neighbour,  // the other subscription does not want the event, and a handler maps
                               // it
    read,                      // the reader takes what is there, and gives buffers back
    killed,                    // it never goes on; another process emits on its CPU
};

class interruption_run {
  public:
    /// With subscriptions that begin with that value of EVENTLOG_TSC.
    explicit interruption_run(const char* tsc);
    ~interruption_run();
    interruption_run(const interruption_run&) = delete;
    interruption_run& operator=(const interruption_run&) = delete;

    /// Why nothing can be shown on this machine; empty if it can.
    [[nodiscard]] static std::string skip_reason();
    /// Whether the process may run on two CPUs.
    [[nodiscard]] static bool has_two_cpus();

    /// Goes through one event, instruction by instruction.
    [[nodiscard]] trace follow(const scenario& way, std::size_t size);

    /// Interrupts an event at that instruction, lets it go on, and checks that nothing is lost,
    /// twice, torn or out of order.
    void interrupt(const scenario& way, std::size_t size, const trace& usual, std::uint64_t address,
                   interruption what);

    /// How often a thread was interrupted inside a sequence, and the kernel made it start over.
    [[nodiscard]] std::size_t aborted() const { return aborted_; }

  private:
    void start_subscription(std::string_view pattern = all_events);
    void start_emitter();
    void end_subscription();
    void check_ended_region();
    void pin_process(pid_t process, unsigned cpu) const;

    std::uint64_t queue_event(event_kind kind, std::size_t size);
    void finish();
    void send_command(event_kind kind, std::size_t size);
    void prepare(const scenario& way);
    void fill_buffer();
    void emit_from_another_process();
    void interrupt_at(const scenario& way, const sequence* inside, std::uint64_t address,
                      interruption what);
    void check_gate(event_kind kind) const;
    void run_handler(const handler_events& in_handler, const sequence* inside,
                     std::uint64_t returns_to);
    void continue_on_other_cpu(const sequence* inside);
    void expect_abort(const sequence* inside);
    void check_result(const scenario& way, std::optional<interruption> what);
    std::uint64_t check_counters(std::optional<interruption> what);

    [[nodiscard]] std::uint64_t next_number(event_kind kind) { return number_of(kind, ++serial_); }
    template <class Part>
    [[nodiscard]] Part read_region(std::uint64_t offset) const;
    [[nodiscard]] eventlog_ring ring() const;
    [[nodiscard]] std::uint64_t recorded_or_lost() const;
    [[nodiscard]] std::uint64_t room() const;

    scoped_environment_variable tsc_;
    std::vector<unsigned> cpus_;
    emitter_command* command_;
    std::unique_ptr<event_listener> listener_;
    std::unique_ptr<tracee> emitter_;
    std::unique_ptr<ended_region> ended_;
    event_ledger event_ledger_;
    std::uint64_t serial_ = 0;
    std::uint64_t attempts_ = 0;    // by this emitter
    std::uint64_t unattached_ = 0;  // of these
    std::uint64_t unattached_neighbours_ = 0;
    std::uint64_t lost_before_ = 0;  // in subscriptions that have ended
    std::uint64_t lost_reported_ = 0;
    std::size_t aborted_ = 0;
};

}  // namespace eventlog::test
