// SPDX-License-Identifier: MIT
//
// What elog gen --lang kernel-c is made of. One trace event of the kernel for each event, whose
// entry is the payload behind struct trace_entry, with the texts as __data_loc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/generate.hpp"

namespace elog::kernel_c {

/// What a payload may take. ftrace drops records that do not fit into one page, with the page's
/// header, the record's, a time stamp and struct trace_entry; perf has room for two pages.
inline constexpr std::size_t payload_max = 4000;

/// A text or byte string needs this much, to be cut to something that says so.
inline constexpr std::size_t var_field_size_min = 16;

/// The kernel hands up to twelve arguments of a tracepoint to BPF, and does not compile with more.
inline constexpr std::size_t parameters_max = 12;

/// How one field is called in the code. `field` belongs to the schema.
struct field_names {
    const field_schema* field = nullptr;
    std::string parameter;
    std::string size;      // of a byte string: the parameter with its size
    std::string presence;  // of an optional field: the entry's member that says whether it is there
};

struct event_names {
    std::string event;   // PROVIDER_EVENT
    std::string fields;  // the struct through which it takes its fields; empty: each is a parameter
    std::vector<field_names> all;        // in declared order
    std::size_t var_field_size_max = 0;  // what each text and byte string may take, with its NUL
};

/// Everything that is said with names of the schema's own.
struct names {
    std::vector<std::string> enumerations;  // tags of enums
    std::vector<std::string> show_macros;   // macros that print an enumeration's values
    std::vector<event_names> events;
    std::string show_error;  // macro that prints an error number's name
    std::string text_size;   // functions
    std::string copy_text;
    std::string bytes_size;
};

/// Throws failure, FILE:LINE:COLUMN: reason, for the first thing that the kernel cannot carry.
void check(const located_schema& source);

/// Of a schema that has been checked. `scope` is that of the header.
[[nodiscard]] names make_names(const provider_schema& schema, unique_names& scope);

[[nodiscard]] std::string_view c_type(eventlog::field_type type) noexcept;

/// A list's items behind `head`, with commas, in lines of 80 columns; `tail` follows the last one.
/// Further lines begin with `indent`, and all but the last end with `line_end`. An item of several
/// lines gets a line to itself.
[[nodiscard]] std::string fold(std::string_view head, const std::vector<std::string>& items,
                               std::string_view tail, std::string_view indent,
                               std::string_view line_end = {});

/// TP_printk(...), with every field in declared order.
[[nodiscard]] std::string make_printk(const provider_schema& schema, const names& all,
                                      std::size_t event);

/// The macros that TP_printk uses for enumerations and error numbers.
void write_show_macros(source_writer& out, const provider_schema& schema, const names& all);

/// Whether any field is shown as an error number.
[[nodiscard]] bool has_error_number(const provider_schema& schema) noexcept;

}  // namespace elog::kernel_c
