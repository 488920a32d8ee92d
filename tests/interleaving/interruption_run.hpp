// SPDX-License-Identifier: MIT
//
// A subscription, a traced process that emits to it, and the interruptions of that process.
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

/// Interruptions of a thread in front of an instruction.
enum class interruption {
    preempted,      // other threads run
    signalled,      // an empty handler runs
    nested,         // a handler runs that emits
    migrated,       // it continues on another CPU
    cpu_contended,  // and another process emits on its previous CPU
    slot_reused,    // the subscription ends, and a new one uses its slot
    slot_remapped,  // and a handler emits an event of the other provider, which maps the new one
    slot_mapped_by_neighbour,  // the new subscription does not match the event, and a handler maps
                               // it
    read,                      // the reader reads all records and releases buffers
    killed,                    // it does not continue; another process emits on its CPU
    overtaken,                 // another process emits, then it continues on the same CPU
};

class interruption_run {
  public:
    /// Subscriptions begin with that value of EVENTLOG_TSC.
    explicit interruption_run(const char* tsc);
    ~interruption_run();
    interruption_run(const interruption_run&) = delete;
    interruption_run& operator=(const interruption_run&) = delete;

    /// The reason why the test cannot run on this machine, or an empty text.
    [[nodiscard]] static std::string skip_reason();
    /// Whether the process may run on two CPUs.
    [[nodiscard]] static bool has_two_cpus();

    /// Steps through one event, instruction by instruction.
    [[nodiscard]] trace follow(const scenario& way, std::size_t size);

    /// Interrupts an event at that instruction, continues it, and checks that no record is missing,
    /// twice, torn or out of order.
    void interrupt(const scenario& way, std::size_t size, const trace& usual, std::uint64_t address,
                   interruption what);

    /// The number of interruptions within a sequence after which the kernel restarted it.
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
