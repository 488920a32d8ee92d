// SPDX-License-Identifier: MIT
//
// When the gate bits of a slot without a subscription are cleared.
#pragma once

namespace eventlog::core {

enum class attach_outcome {
    attached,
    no_match,     // no subscription, or it does not want this provider or has no room for it
    retry_later,  // a temporary failure
};

/// Looks of one attach. More are needed only if a subscription ends during each of them; this
/// bounds the time of an emit when subscriptions come and go all the time.
inline constexpr int attach_looks_max = 8;

/// The result of looking for a slot's subscription.
struct attach_look {
    attach_outcome outcome = attach_outcome::no_match;
    bool has_set_bits = false;
};

/// look() looks for the subscription of a slot with gate bits, and clear() clears these. A new
/// subscription is published before its consumer sets bits, so that either a look after clear()
/// finds it, or its bits are set after clear(). Therefore nothing is cleared after a look that has
/// set no bits: they would be those of a subscription that no look has seen. After the last look
/// the bits stay, so that an emit tries again.
template <class Look, class Clear>
attach_outcome attach_or_clear(const Look& look, const Clear& clear) noexcept {
    attach_look found = look();
    bool may_have_old_bits = true;
    for (int looks = 1; looks < attach_looks_max; ++looks) {
        if (found.outcome != attach_outcome::no_match || !may_have_old_bits) {
            return found.outcome;
        }
        clear();
        found = look();
        may_have_old_bits = found.has_set_bits;
    }
    return found.outcome == attach_outcome::no_match && may_have_old_bits
               ? attach_outcome::retry_later
               : found.outcome;
}

}  // namespace eventlog::core
