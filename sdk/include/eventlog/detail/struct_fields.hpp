// SPDX-License-Identifier: MIT
//
// Flattens a struct into the row of fields of its payload: members of nested structs take the place
// of the struct, `peer.port` as `peer_port`.
#pragma once

#include <cstddef>
#include <type_traits>

#include <eventlog/detail/fields.hpp>
#include <eventlog/detail/members.hpp>
#include <eventlog/detail/names.hpp>
#include <eventlog/schema_format.hpp>
#include <eventlog/wrappers.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// Converts to a base of the struct, and to nothing else.
template <class Struct>
struct any_base {
    template <class Base>
    requires(__is_base_of(Base, Struct) && !__is_same(Base, Struct)) operator Base() const;
};

/// Whether a struct has a base: the first initializer of an aggregate is that of its first base.
template <class Struct>
concept has_base = !__is_empty(Struct) && requires {
    Struct{any_base<Struct>{}};
};

/// Rejects an unsupported event type with a message. Instantiated before any other use of the type.
template <class Event>
struct check_event {
    static_assert(!is_std_array<Event>, "eventlog: a std::array is not an event: its elements have "
                                        "no names. Make it the field of a struct.");
    static_assert(__is_class(Event) && __is_aggregate(Event),
                  "eventlog: an event must be a plain struct: no constructors, no private members, "
                  "no virtual functions. Make it an aggregate.");
    static_assert(!has_base<Event>,
                  "eventlog: an event is derived from another struct. Make that a member.");
    static_assert(
        __is_empty(Event) || has_base<Event> || member_count<Event> != 0,
        "eventlog: a field of this event is a reference, or its type has no default constructor, "
        "as a std::span of fixed length has none. Use a value of a supported type.");
    static constexpr bool usable = true;
};

/// A wrapper is as its event.
template <class Entry>
requires(unwrapped<Entry>::is_wrapper) struct check_event<Entry> {
    using event = typename unwrapped<Entry>::type;
    static_assert(!unwrapped<event>::is_wrapper,
                  "eventlog: an eventlog::timed or eventlog::gauge contains another one. Write "
                  "the event's struct in it.");
    static_assert(check_event<event>::usable);
    static constexpr bool usable = true;
};

/// The length of an array, because arrays of no elements are not allowed.
constexpr std::size_t at_least_one(std::size_t count) {
    return count == 0 ? 1 : count;
}

/// The name of a struct, and its fields in declared order.
template <std::size_t Count>
struct field_table {
    name_view type{};
    name_view names[at_least_one(Count)]{};
    const field_kind* kinds[at_least_one(Count)]{};
};

/// The fields of a member of a struct that is not flat.
struct member_part {
    bool is_nested;
    const field_kind* kind;  // of a member that is a field
    const name_view* names;
    const field_kind* const* kinds;
    std::size_t count;
};

constexpr std::size_t count_fields(const member_part* parts, std::size_t members) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < members; ++i) {
        count += parts[i].count;
    }
    return count;
}

/// The number of characters of all joined names: outer_inner.
constexpr std::size_t count_joined(const member_part* parts, const name_view* members,
                                   std::size_t count) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; parts[i].is_nested && j < parts[i].count; ++j) {
            size += members[i].size + 1 + parts[i].names[j].size;
        }
    }
    return size;
}

constexpr char* append(char* end, const name_view& name) {
    for (std::size_t i = 0; i < name.size; ++i) {
        *end++ = name.begin[i];
    }
    return end;
}

template <std::size_t Size>
struct characters {
    char text[at_least_one(Size)]{};
};

template <class Struct, class Types>
struct fields_in;

/// The fields of a struct.
template <class Struct>
using fields_of = fields_in<Struct, member_types<Struct>>;

template <class Member>
constexpr member_part part_of() {
    if constexpr (nested_field<Member>) {
        static_assert(!has_base<Member>,
                      "eventlog: a struct in an event is derived from another one. Make that a "
                      "member.");
        using inside = fields_of<Member>;
        static_assert(!inside::has_c_array,
                      "eventlog: a struct in an event has a C array as field. Use std::array, or "
                      "std::string_view for text.");
        return {true, nullptr, inside::table.names, inside::table.kinds, inside::count};
    } else {
        return {false, &kind_of<Member>, nullptr, nullptr, 1};
    }
}

template <class Struct, class... Members>
struct fields_in<Struct, type_list<Members...>> {
    static constexpr std::size_t member_count = sizeof...(Members);
    static constexpr bool has_c_array = (false || ... || std::is_array_v<Members>);
    static constexpr bool is_flat = (true && ... && (kind_of<Members>.mode != pass_mode::nested));
    /// timed or gauge: it has the name of its event, and the event's fields keep their names.
    static constexpr bool is_wrapper = unwrapped<Struct>::is_wrapper;

  private:
    /// g++ detects this itself. clang binds references to unaligned members.
    static constexpr bool is_packed = !(true && ... && (alignof(Members) <= alignof(Struct)));

    /// Returns the struct's name, and stores its members' names in `members`.
    static constexpr name_view read_names([[maybe_unused]] name_view* members) {
        if constexpr (is_wrapper) {
            read_member_names(spelled_members<member_addresses<Struct>.where, Struct>(),
                              member_count, members);
            return fields_of<typename unwrapped<Struct>::type>::table.type;
        } else if constexpr (member_count == 0) {
            return type_name<Struct>();
        } else if constexpr (is_packed || !has_addresses<Struct>) {
            static_assert(
                is_constexpr_destructible<Struct>,
                "eventlog: an event, or a struct or a field in it, has a destructor of its own "
                "that is not constexpr. Remove it: an event consists of values only.");
            static_assert(!is_packed &&
                              (has_addresses<Struct> || !is_constexpr_destructible<Struct>),
                          "eventlog: a field of this event, or of a struct in it, is a bit-field "
                          "or a reference, or volatile or packed. Use a plain value.");
            return type_name<Struct>();
        } else {
            return read_type_name(find_type(read_member_names(
                spelled_members<member_addresses<Struct>.where, Struct>(), member_count, members)));
        }
    }

    // Only for structs that are not flat.
    struct nesting {
        static constexpr member_part parts[] = {part_of<Members>()...};
        static constexpr auto own = [] {
            field_table<member_count> made;
            made.type = read_names(made.names);
            return made;
        }();
        static constexpr auto joined = [] {
            characters<count_joined(parts, own.names, member_count)> made;
            char* end = made.text;
            for (std::size_t i = 0; i < member_count; ++i) {
                for (std::size_t j = 0; parts[i].is_nested && j < parts[i].count; ++j) {
                    end = append(end, own.names[i]);
                    *end++ = '_';
                    end = append(end, parts[i].names[j]);
                }
            }
            return made;
        }();
    };

    static constexpr std::size_t count_all() {
        if constexpr (is_flat) {
            return member_count;
        } else {
            return count_fields(nesting::parts, member_count);
        }
    }

  public:
    static constexpr std::size_t count = count_all();

  private:
    static constexpr field_table<count> fill() {
        if constexpr (is_flat) {
            field_table<count> made{{}, {}, {&kind_of<Members>...}};
            made.type = read_names(made.names);
            return made;
        } else {
            field_table<count> made{nesting::own.type, {}, {}};
            const char* joined = nesting::joined.text;
            std::size_t next = 0;
            for (std::size_t i = 0; i < member_count; ++i) {
                const member_part& part = nesting::parts[i];
                const name_view& outer = nesting::own.names[i];
                if (!part.is_nested) {
                    made.names[next] = outer;
                    made.kinds[next++] = part.kind;
                    continue;
                }
                for (std::size_t j = 0; is_wrapper && j < part.count; ++j) {
                    made.names[next] = part.names[j];
                    made.kinds[next++] = part.kinds[j];
                }
                for (std::size_t j = 0; !is_wrapper && j < part.count; ++j) {
                    const std::size_t size = outer.size + 1 + part.names[j].size;
                    made.names[next] = {joined, size};
                    made.kinds[next++] = part.kinds[j];
                    joined += size;
                }
            }
            return made;
        }
    }

  public:
    static constexpr field_table<count> table = fill();

    /// The index of the member's first field.
    static constexpr std::size_t first_field(std::size_t member) {
        if constexpr (is_flat) {
            return member;
        } else {
            return count_fields(nesting::parts, member);
        }
    }
};

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
