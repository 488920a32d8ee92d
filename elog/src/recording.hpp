// SPDX-License-Identifier: MIT
//
// From a subscription to a sink: what `elog record` does between its first event and its last.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "clock_schedule.hpp"
#include "clock_table.hpp"
#include "file_format.hpp"
#include "record_writer.hpp"
#include "region_reader.hpp"
#include "subscription.hpp"
#include "time_merger.hpp"

namespace elog {

/// Where records go. Called in this order: start, then provider before its first run, then finish.
class record_sink {
  public:
    record_sink() = default;
    record_sink(const record_sink&) = delete;
    record_sink& operator=(const record_sink&) = delete;
    virtual ~record_sink() = default;

    virtual void start(const open_region& source) = 0;
    virtual void take_clock(const eventlog_clock_pair& pair) = 0;
    virtual void take_provider(const provider_instance& provider) = 0;
    virtual void take_run(const record_run& run) = 0;
    virtual void take_loss(const loss_block& loss) = 0;
    /// No record earlier than `time` is to be expected any more, and none can be later than
    /// `present`.
    virtual void advance(std::uint64_t time, std::uint64_t present) = 0;
    virtual void finish() = 0;
};

/// Into lines, of whatever form its writer gives them, in the order of time.
class text_sink : public record_sink {
  public:
    explicit text_sink(std::unique_ptr<record_writer> writer) : writer_(std::move(writer)) {}

    void start(const open_region& source) override;
    void take_clock(const eventlog_clock_pair& pair) override { clock_.add(pair); }
    void take_provider(const provider_instance& provider) override {
        providers_.insert_or_assign(provider.id, provider);
    }
    void take_run(const record_run& run) override { merger_.add(run); }
    void take_loss(const loss_block& loss) override;
    void advance(std::uint64_t time, std::uint64_t present) override;
    void finish() override;

  private:
    std::unique_ptr<record_writer> writer_;
    time_merger merger_{0};
    clock_table clock_;
    provider_map providers_;
    std::uint32_t shared_ring_ = 0;
};

/// What one provider of a program has lost.
struct lossy_provider {
    std::string provider;
    std::string process;
    std::uint32_t pid = 0;
    provider_losses lost{};
};

struct recording_summary {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0;         // all of these:
    std::uint64_t full = 0;         // found no room
    std::uint64_t no_memory = 0;    // of these: the shared ring got no memory
    std::uint64_t too_large = 0;    // over the largest record
    std::uint64_t busy = 0;         // the shared ring was held by others
    std::uint64_t damaged = 0;      // made no sense
    std::uint64_t overwritten = 0;  // not in `lost`: newer ones took their place
    std::uint64_t cut = 0;          // not lost: recorded with shorter texts
    std::uint32_t providers_refused = 0;
    std::chrono::duration<double> elapsed{};
    std::vector<ring_totals> rings{};               // in their order, that of no CPU last
    std::vector<lossy_provider> lossy_providers{};  // at the end, those that have lost any
};

class recording {
  public:
    static constexpr std::chrono::milliseconds default_latency{10};

    /// How often to look, so that nothing is kept for longer: what comes right behind a look is let
    /// out by the look after the next one.
    [[nodiscard]] static std::chrono::nanoseconds interval_of(
        std::chrono::nanoseconds latency) noexcept {
        return std::max<std::chrono::nanoseconds>(latency / 2, std::chrono::microseconds(100));
    }

    /// Says what a clock of a region shows.
    using clock_reader = std::uint64_t (*)(std::uint32_t clock) noexcept;

    /// Of a subscription of ours, or of one that others own: then there is only snapshot.
    recording(subscription& source, record_sink& sink,
              clock_reader reader = eventlog::core::read_clock);
    recording(const open_region& source, record_sink& sink);

    /// Reads until `stop`, asked at least every 10 ms, says so; then ends the subscription and
    /// takes what is left. What comes is let out within the latency. In overwrite mode it reads
    /// only then: what the buffers hold, the newest. Throws failure or output_closed. When the
    /// machine has slept and the region's clock begun anew, it ends, too: the sink is finished with
    /// what came before, then failure is thrown.
    recording_summary run(const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency = default_latency);

    // In place of run(), for who has a loop of its own; not in overwrite mode.
    /// Takes what there is. The sink is told how far that goes: up to the call before. Throws
    /// failure, also whenever the region's clock has begun anew.
    void poll();
    /// Sleeps until a buffer has been switched, which is to be read before its time, or the time is
    /// over. Returns whether it is the former.
    bool wait(std::chrono::nanoseconds at_most) { return reader_.wait(at_most); }
    /// Ends the subscription and takes what is left. Throws as run() does.
    recording_summary end();

    /// Takes what the buffers hold, once, and changes nothing. Throws failure or output_closed.
    recording_summary snapshot();

    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }

    // While it runs, so far.
    /// Losses are those that the programs have counted.
    [[nodiscard]] recording_summary so_far() const;
    [[nodiscard]] provider_losses losses_of(std::uint16_t provider) const {
        return reader_.losses_of(provider);
    }
    [[nodiscard]] std::uint32_t providers_refused() const { return reader_.providers_refused(); }

  private:
    void take_new_providers();
    [[nodiscard]] std::uint64_t read_clock() noexcept;
    void take_run(const record_run& run);
    void take_all();
    [[nodiscard]] std::vector<ring_totals> rings() const;
    [[nodiscard]] std::vector<lossy_provider> lossy_providers() const;
    [[nodiscard]] recording_summary finish();
    void report_losses();

    subscription* own_ = nullptr;
    open_region source_;
    record_sink& sink_;
    region_reader reader_;
    provider_map providers_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    clock_schedule clock_schedule_;
    std::uint64_t last_poll_ = 0;  // on the region's clock
    clock_reader clock_reader_ = eventlog::core::read_clock;
    std::uint64_t latest_ = 0;       // that it has shown
    bool clock_began_anew_ = false;  // since then nothing is handed over:
    std::vector<ring_totals> left_out_ = std::vector<ring_totals>(source_.geometry.ring_count);
};

}  // namespace elog
