// SPDX-License-Identifier: MIT
#include "output/record_counts.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/core.h>

#include "record/ring_records.hpp"

namespace elog {
namespace {

void add(event_counts& to, const event_counts& counts) noexcept {
    to.events += counts.events;
    to.bytes += counts.bytes;
}

const process_name unknown_process{"<unknown>", 0};
const provider_name provider_without_schema{"<unknown>", unknown_process};

}  // namespace

provider_name record_counts::name_of(std::uint32_t provider, const provider_map& providers) {
    const auto found = providers.find(provider);
    return found == providers.end() ? provider_without_schema
                                    : provider_name{found->second.schema.name,
                                                    {found->second.process, found->second.pid}};
}

record_counts::numbered& record_counts::counts_of(const record_view& record,
                                                  const provider_map& providers) {
    const std::uint64_t number = event_key(record.provider, record.event);
    if (latest_ != nullptr && latest_number_ == number) {
        return *latest_;
    }
    const auto [found, is_new] = by_number_.try_emplace(number);
    latest_ = &found->second;
    latest_number_ = number;
    if (is_new) {
        const auto instance = providers.find(record.provider);
        const bool is_known =
            instance != providers.end() && record.event < instance->second.schema.events.size();
        latest_->event = "<unknown>";
        latest_->process = unknown_process;
        if (is_known) {
            const provider_instance& provider = instance->second;
            latest_->event = fmt::format("{}:{}", provider.schema.name,
                                         provider.schema.events[record.event].name);
            latest_->process = name_of(record.provider, providers).second;
        }
    }
    return *latest_;
}

void record_counts::write(const merged_record& record, const provider_map& providers,
                          const clock_converter& clock, std::uint32_t shared_ring) {
    const record_view& decoded = record.record;
    write_gap(record, shared_ring);
    if (!is_supported(decoded)) {
        ++not_understood_;
        return;
    }
    const std::int64_t time = clock.realtime(decoded.time);
    first_ = all_.events == 0 ? time : std::min(first_, time);
    last_ = all_.events == 0 ? time : std::max(last_, time);
    const std::int64_t monotonic = clock.monotonic(decoded.time);
    first_monotonic_ = all_.events == 0 ? monotonic : std::min(first_monotonic_, monotonic);
    last_monotonic_ = all_.events == 0 ? monotonic : std::max(last_monotonic_, monotonic);
    const event_counts one{1, usual_ring_size(decoded)};
    add(all_, one);
    add(counts_of(decoded, providers).counts, one);
}

void record_counts::write_gap(const merged_record& record, std::uint32_t /*shared_ring*/) {
    add_saturating(record.overwritten ? overwritten_ : lost_.full, record.lost_before);
}

void record_counts::write_loss(const loss_report& loss, const provider_map& providers,
                               std::uint32_t /*shared_ring*/) {
    if (loss.scope == loss_scope::ring) {
        add_saturating(lost_.full, loss.full - overwritten_count(loss));
        add_saturating(overwritten_, overwritten_count(loss));
        add_saturating(lost_.damaged, loss.damaged);
        add_saturating(lost_.unwritten, loss.unwritten);
    } else if (loss.full != 0 || lost_count(loss) != 0) {
        // A report without losses replaces an earlier one with the same number.
        // loss.full of a provider is already included in the losses of the rings.
        add_saturating(lost_.too_large, loss.too_large);
        add_saturating(lost_.busy, loss.busy);
        add_saturating(lost_.unattached, loss.unattached);
        add_saturating(lost_.refused, loss.refused);
        add_saturating(lost_.no_memory, loss.no_memory);
        provider_name name = name_of(loss.index, providers);
        if (name == provider_without_schema && !(loss.provider.empty() && loss.process.empty())) {
            name.first = loss.provider.empty() ? name.first : loss.provider;
            name.second = {loss.process, loss.pid};
        }
        add_saturating(by_process_[name.second].lost, saturating_sum(loss.full, lost_count(loss)));
        loss_counts& of_provider = lost_by_provider_[name];
        add_saturating(of_provider.full, loss.full);
        add_saturating(of_provider.too_large, loss.too_large);
        add_saturating(of_provider.busy, loss.busy);
        add_saturating(of_provider.unattached, loss.unattached);
        add_saturating(of_provider.refused, loss.refused);
        add_saturating(of_provider.no_memory, loss.no_memory);
    }
}

void record_counts::finish() {
    for (const auto& [number, each] : by_number_) {
        add(by_event_[each.event], each.counts);
        add(by_process_[each.process], each.counts);
    }
}

}  // namespace elog
