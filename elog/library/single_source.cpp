// SPDX-License-Identifier: MIT
//
// The common part of a file source and a live source: see source_state.hpp.
#include <utility>

#include "base/saturating.hpp"
#include "file/file_writer.hpp"
#include "source_state.hpp"

namespace elog::library {

single_source::single_source(wanted_events::options wanted,
                             std::function<void(const loss&)> on_loss)
    : known_events(place, std::move(wanted)), on_loss_(std::move(on_loss)) {
    place.number = generate_identity();
}

const event_info* single_source::find(std::uint64_t origin, std::uint32_t provider,
                                      std::uint16_t event) const noexcept {
    return origin == place.number ? known_events.find(provider, event) : nullptr;
}

std::optional<user_error> single_source::add_provider(const provider_instance& provider) {
    try {
        known_events.add(provider);
        return std::nullopt;
    } catch (const user_error& mistake) {
        return mistake;
    }
}

source_totals single_source::totals() const noexcept {
    source_totals now = totals_;
    const type_mismatches* mismatches = known_events.mismatches();
    now.left_out = mismatches == nullptr ? 0 : mismatches->counted();
    if (sampler) {
        now.omitted_by_sampling = sampler->totals().by_sampling;
        now.omitted_by_rate = sampler->totals().by_rate;
    }
    return now;
}

std::vector<std::string> single_source::complaints() const {
    const type_mismatches* mismatches = known_events.mismatches();
    return mismatches == nullptr ? std::vector<std::string>() : mismatches->sentences(true);
}

void single_source::note(loss missing) {
    if (missing.count == 0) {
        return;
    }
    missing.source = place.number;
    add_saturating(totals_.lost, missing.count);
    add_saturating(lost_before_, missing.count);
    if (on_loss_) {
        unreported_losses_.push_back(missing);
    }
}

std::optional<record> single_source::take_pending() {
    while (!unreported_losses_.empty()) {
        const loss missing = unreported_losses_.front();
        unreported_losses_.pop_front();
        on_loss_(missing);
    }
    totals_.records += pending_ ? 1 : 0;
    return std::exchange(pending_, std::nullopt);
}

std::optional<record> single_source::select_record(const merged_record& merged) {
    loss missing{merged.lost_before,
                 merged.overwritten ? loss_reason::overwritten : loss_reason::full};
    if (merged.ring != place.shared_ring) {
        missing.cpu = merged.ring;
    }
    note(missing);
    const record_view& decoded = merged.record;
    const event_info* event = known_events.find(decoded.provider, decoded.event);
    if (event == nullptr || !is_supported(decoded)) {
        ++totals_.not_understood;
    } else if (!event->is_excluded && known_events.wants(decoded, *place.clock) &&
               (!sampler || sampler->keeps(decoded, merged.ring, *place.clock))) {
        pending_.emplace(record_parts{.event = event,
                                      .payload = decoded.payload,
                                      .ticks = decoded.time,
                                      .place = merged.place,
                                      .lost_before = std::exchange(lost_before_, 0),
                                      .thread = decoded.thread,
                                      .ring = merged.ring,
                                      .cpu = decoded.cpu,
                                      .flags = decoded.flags});
    }
    return take_pending();
}

void single_source::take_loss(const loss_report& block) {
    if (block.scope == loss_scope::ring) {
        const std::uint64_t overwritten = overwritten_count(block);
        loss missing{block.full - overwritten, loss_reason::full};
        if (block.index != place.shared_ring) {
            missing.cpu = block.index;
        }
        note(missing);
        missing.count = overwritten;
        missing.reason = loss_reason::overwritten;
        note(missing);
        missing.count = block.damaged;
        missing.reason = loss_reason::damaged;
        note(missing);
        missing.count = block.unwritten;
        missing.reason = loss_reason::unwritten;
        note(missing);
        return;
    }
    const auto provider = place.providers->find(block.index);
    loss missing;
    if (provider != place.providers->end()) {
        missing.provider = provider->second.schema.name;
    } else if (!block.provider.empty()) {
        missing.provider = *names_.insert(block.provider).first;
    }
    // Losses for lack of room are already in the numbers of the rings.
    for (const auto& [count, reason] : {std::pair(block.too_large, loss_reason::too_large),
                                        std::pair(block.busy, loss_reason::busy),
                                        std::pair(block.unattached, loss_reason::unattached),
                                        std::pair(block.refused, loss_reason::refused)}) {
        missing.count = count;
        missing.reason = reason;
        note(missing);
    }
}

}  // namespace elog::library
