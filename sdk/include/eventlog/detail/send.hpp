// SPDX-License-Identifier: MIT
//
// Sends an event from a call site to the encoder. No function allocates, throws or waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <eventlog/abi.h>
#include <eventlog/detail/encode.hpp>
#include <eventlog/detail/event_site.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/members.hpp>
#include <eventlog/detail/packed_args.hpp>
#include <eventlog/detail/push_emit.h>

namespace eventlog {
inline namespace v0 {
namespace detail {

template <std::size_t Index, std::size_t Words, std::size_t VarFields, std::size_t Arrays>
[[gnu::always_inline]] inline std::uint64_t word_or_zero(
    const packed_args<Words, VarFields, Arrays>& packed) noexcept {
    if constexpr (Index < Words) {
        return packed.words[Index];
    } else {
        return 0;
    }
}

template <class Event, class Members, class Words, class VarFields, class Arrays>
struct [[gnu::visibility("hidden")]] sender;

/// Packs the members of an event and calls the encoder, on the unlikely side of a call site's
/// branch. A single function, because compilers optimize each function before they inline it.
template <class Event, std::size_t... Member, std::size_t... Word, std::size_t... VarField,
          std::size_t... Array>
struct [[gnu::visibility("hidden")]] sender<Event, indices<Member...>, indices<Word...>,
                                            indices<VarField...>, indices<Array...>> {
    const event_site& at;
    std::uint64_t session;

    template <class... Members>
    [[gnu::always_inline]] void operator()(const Members&... member) const noexcept {
        using layout = event_layout<Event>;
        using to = encoder<indices<Word...>, indices<VarField...>, layout::has_only_texts>;
        packed_args<sizeof...(Word), sizeof...(VarField), sizeof...(Array)> packed;
        if constexpr (layout::session_bound) {
            packed.words[0] = session;
        }
        if constexpr (fields_of<Event>::is_flat) {
            (pack_field(packed, layout::in_words.packed[Member], member), ...);
        } else {
            (pack_member<Event, fields_of<Event>::first_field(Member)>(packed, member), ...);
        }
        if constexpr (is_small_event<Event>) {
            constexpr var_field_location text = var_field_locations_of<Event>.locations[0];
            packed.words[text.offset / 8] |=
                std::uint64_t{static_cast<std::uint32_t>(packed.sizes[0] << 16U | text.distance)}
                << text.offset % 8 * 8;
            eventlog_emit_raw_text(&at.common, word_or_zero<0>(packed), word_or_zero<1>(packed),
                                   word_or_zero<2>(packed), packed.data[0], packed.sizes[0]);
        } else if constexpr (sizeof...(Array) != 0) {
            to::template emit_arrays<Event, Array...>(
                at, packed.words[Word]..., packed.data[VarField]..., packed.sizes[VarField]...,
                packed.arrays_by_address[Array]...);
        } else if constexpr (layout::has_c_strings) {
            to::emit_measured(at, packed.words[Word]..., packed.data[VarField]...,
                              packed.sizes[VarField]...);
        } else {
            to::emit(at, packed.words[Word]..., packed.data[VarField]...,
                     packed.sizes[VarField]...);
        }
    }
};

template <class Event>
using send = sender<Event, std::make_index_sequence<member_count<Event>>,
                    std::make_index_sequence<event_layout<Event>::word_count>,
                    std::make_index_sequence<event_layout<Event>::var_field_count>,
                    std::make_index_sequence<event_layout<Event>::array_count>>;

/// Emits an object whose bytes are its payload (memcpy_payload.hpp).
[[gnu::noinline, gnu::visibility("hidden")]] inline void emit_memcpy_payload(
    const event_site& at, const void* event) noexcept {
    eventlog_emit_raw(at.handle(), at.event, event, at.common.fixed_size);
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
