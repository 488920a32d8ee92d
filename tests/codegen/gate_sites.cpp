// SPDX-License-Identifier: MIT
//
// Call sites whose machine code run.py checks while the event is disabled. Each lies between the
// calls of begin() and end(), of which the compiler knows nothing, so that the instructions between
// the two calls are the cost of the site.
//
// The comment above a function states what run.py expects:
//     // expect: gate              one load, one test, one jump, and no instruction before begin()
//     // expect complaint: TEXT    more instructions, and TEXT in what run.py reports
// The latter are sites that need a callable; they also prove that run.py detects the cost.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

#include "sites.hpp"

using namespace sites;

extern "C" {

// emit: present values, and values computed from them --------------------------------------------

// expect: gate
int emit_values(std::uint64_t sequence, std::uint32_t bytes, std::uint32_t window) {
    begin();
    site::emit(numbers{sequence, bytes, window});
    return end() + 1;
}

// expect: gate
int emit_constants() {
    begin();
    site::emit(described{1, "timeout", 1448});
    return end() + 1;
}

// expect: gate
int emit_small(std::uint64_t sequence, std::string_view reason, std::uint32_t bytes) {
    begin();
    site::emit(described{sequence, reason, bytes});
    return end() + 1;
}

// expect: gate
int emit_part_of_text(std::uint64_t sequence, const char* text, std::size_t size) {
    begin();
    site::emit(described{sequence, std::string_view(text, size).substr(size / 2), 0});
    return end() + 1;
}

// expect: gate
int emit_c_string(const char* name, std::uint64_t sequence) {
    begin();
    site::emit(named{name, sequence});
    return end() + 1;
}

// expect: gate
int emit_arithmetic(std::uint64_t sequence, std::uint32_t bytes) {
    begin();
    site::emit(numbers{mix(mix(sequence)), bytes * bytes + 7,
                       static_cast<std::uint32_t>(mix(sequence) % 1000)});
    return end() + 1;
}

// expect: gate
int emit_wide(std::uint64_t number, std::string_view text, double ratio) {
    begin();
    site::emit(wide{number, static_cast<std::int64_t>(number >> 3U), 1, -1, text, ratio * 3,
                    static_cast<float>(ratio), static_cast<std::uint16_t>(number), 5, number > 5,
                    'c', text.substr(text.size() / 2), mix(number)});
    return end() + 1;
}

// expect: gate
int emit_named_first(std::uint64_t sequence, std::string_view reason) {
    const described event{mix(sequence), reason, 3};
    begin();
    site::emit(event);
    return end() + 1;
}

// Not copied before the branch, whatever its size.
// expect: gate
int emit_block(const block* event) {
    begin();
    site::emit(*event);
    return end() + 1;
}

// expect: gate
int emit_long_row(std::uint64_t number, std::string_view reason, std::string_view peer) {
    begin();
    site::emit(long_row{number, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, reason, peer});
    return end() + 1;
}

// expect: gate
int emit_long_row_in_memory(const long_row& event) {
    begin();
    site::emit(event);
    return end() + 1;
}

// expect: gate
int emit_long_row_at(const long_row* event) {
    begin();
    site::emit(*event);
    return end() + 1;
}

// expect: gate
int emit_sampled(const sampled& event) {
    begin();
    site::emit(event);
    return end() + 1;
}

// expect: gate
int emit_sampled_view(const sampled_view& event) {
    begin();
    site::emit(event);
    return end() + 1;
}

// expect: gate
int emit_owning_in_memory(const owning& event) {
    begin();
    site::emit(event);
    return end() + 1;
}

// expect: gate
int emit_changed(std::uint64_t sequence, std::uint32_t code, state now) {
    begin();
    site::emit(changed{sequence, code, std::nullopt, now});
    return end() + 1;
}

// expect: gate
int emit_changed_in_memory(const changed& event) {
    begin();
    site::emit(event);
    return end() + 1;
}

// expect: gate
int emit_in_session(const eventlog::session<site>& session, std::uint32_t bytes,
                    std::string_view from) {
    begin();
    session.emit(received{bytes, from});
    return end() + 1;
}

// expect: gate
int lazily_in_session(const eventlog::session<site>& session, std::string_view from) {
    begin();
    session.emit([&] { return received{static_cast<std::uint32_t>(compute(from.size())), from}; });
    return end() + 1;
}

// emit of a callable: any computation ------------------------------------------------------------

// expect: gate
int lazily_values(std::uint64_t sequence, std::string_view reason, std::uint32_t bytes) {
    begin();
    site::emit([&] { return described{sequence, reason, bytes}; });
    return end() + 1;
}

// expect: gate
int lazily_arithmetic(std::uint64_t sequence, std::uint32_t bytes) {
    begin();
    site::emit([&] { return numbers{mix(mix(sequence)), bytes * bytes, bytes / 3}; });
    return end() + 1;
}

// expect: gate
int lazily_call(std::uint64_t sequence) {
    begin();
    site::emit([&] { return numbers{compute(sequence), 1, 2}; });
    return end() + 1;
}

// expect: gate
int lazily_loop(std::string_view text) {
    begin();
    site::emit([&] { return described{hash(text), text, 2}; });
    return end() + 1;
}

// expect: gate
int lazily_memory(const std::uint64_t* numbers_read, const std::string& text) {
    begin();
    site::emit([&] { return described{numbers_read[0], text, 2}; });
    return end() + 1;
}

// expect: gate
int lazily_allocation(std::uint64_t sequence, const std::string& text) {
    begin();
    site::emit([&] { return owning{sequence, text + ": gone"}; });
    return end() + 1;
}

// expect: gate
int lazily_wide(std::uint64_t number, std::string_view text, double ratio) {
    begin();
    site::emit([&] {
        return wide{number, -1, 1, -1, text, ratio * 3, 1, 2, 5, true, 'c', text, compute(number)};
    });
    return end() + 1;
}

// expect: gate
int lazily_block(const block& event, std::uint64_t sequence) {
    begin();
    site::emit([&] { return block{sequence, event.samples}; });
    return end() + 1;
}

// Longer than what compilers inline on an unlikely path.
// expect: gate
int lazily_long(std::uint64_t number, std::string_view text) {
    begin();
    site::emit([&] {
        const std::uint64_t mixed = mix(mix(mix(hash(text)))) ^ mix(mix(number));
        return wide{mixed,
                    static_cast<std::int64_t>(mix(mixed)),
                    1,
                    -1,
                    text.substr(text.size() / 3),
                    static_cast<double>(mixed),
                    1,
                    2,
                    5,
                    mixed > 5,
                    'c',
                    text,
                    mix(hash(text))};
    });
    return end() + 1;
}

// Sites that need a callable ---------------------------------------------------------------------

// expect complaint: call compute
int emit_call(std::uint64_t sequence) {
    begin();
    site::emit(numbers{compute(sequence), 1, 2});
    return end() + 1;
}

// expect complaint: call compute
int emit_call_before_begin(std::uint64_t sequence) {
    const std::uint64_t computed = compute(sequence);
    begin();
    site::emit(numbers{computed, 1, 2});
    return end() + 1;
}

// expect complaint: beside the gate: mov
int emit_volatile_read(const volatile std::uint64_t* sequence) {
    begin();
    site::emit(numbers{*sequence, 1, 2});
    return end() + 1;
}

// expect complaint: beside the gate: mov
int emit_twice(std::uint64_t sequence) {
    begin();
    site::emit(numbers{sequence, 1, 2});
    site::emit(numbers{sequence, 1, 3});
    return end() + 1;
}

// expect complaint: beside the gate: cmp
int emit_conditionally(std::uint64_t sequence) {
    begin();
    if (sequence > 5) {
        site::emit(numbers{sequence, 1, 2});
    }
    return end() + 1;
}

// expect complaint: no gate
int emit_nothing() {
    begin();
    return end() + 1;
}
}
