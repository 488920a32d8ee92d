// SPDX-License-Identifier: MIT
//
// Parts of the generator for kernel modules (elog schema gen --lang kernel-c).
//
// Each event becomes a trace event of the kernel. Its entry is struct trace_entry followed by the
// payload, with texts as __data_loc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/source_text.hpp"
#include "schema/schema_text.hpp"

namespace elog::kernel_c {

/// The names of one field in the code. `field` belongs to the schema.
struct field_names {
    const field_schema* field = nullptr;
    std::string parameter;
    std::string size;      // of a byte string or sequence: the parameter with its size or count
    std::string presence;  // of an optional field: the entry's member with its presence
};

struct event_names {
    std::string event;             // PROVIDER_EVENT
    std::string fields;            // the struct with the fields; empty: each field is a parameter
    std::vector<field_names> all;  // in declared order
    std::size_t var_field_size_max = 0;  // limit in bytes of each text, with its NUL, and of others
};

/// All names of the generated code that derive from the schema.
struct names {
    std::vector<std::string> enumerations;  // tags of enums
    std::vector<std::string> show_macros;   // macros that print an enumeration's values
    std::vector<event_names> events;
    std::string show_error;  // macro that prints an error number's name
    std::string text_size;   // functions
    std::string copy_text;
    std::string bytes_size;
};

/// Throws user_error, FILE:LINE:COLUMN: reason, for the first part that a trace event cannot have.
void check(const located_schema& source);

/// `schema` has passed check(). `scope` is the header's.
[[nodiscard]] names make_names(const provider_schema& schema, unique_names& scope);

/// `head`, the items with commas, and `tail`, in lines of 80 columns. Further lines begin with
/// `indent`. An item of several lines gets its own line.
[[nodiscard]] std::string fold(std::string_view head, const std::vector<std::string>& items,
                               std::string_view tail, std::string_view indent);

/// An IPv4 address that is a number in network byte order.
[[nodiscard]] bool is_address_number(const field_schema& field);

/// The fields in the order of the entry.
[[nodiscard]] std::vector<const field_names*> in_payload_order(const event_names& event);

/// Writes the struct with the fields of an event that has one.
void write_struct(source_writer& out, const provider_schema& schema, const names& all,
                  std::size_t event);

/// Writes TRACE_EVENT with its comment.
void write_trace_event(source_writer& out, const provider_schema& schema, const names& all,
                       std::size_t event);

/// TP_printk(...) with all fields in declared order.
[[nodiscard]] std::string make_printk(const provider_schema& schema, const names& all,
                                      std::size_t event);

/// Writes the macros that TP_printk uses for enumerations and error numbers.
void write_show_macros(source_writer& out, const provider_schema& schema, const names& all);

}  // namespace elog::kernel_c
