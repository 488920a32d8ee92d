// SPDX-License-Identifier: MIT
//
// elog schema gen --lang kernel-c: a header of trace events in the kernel's coding style.
#include "codegen/generate.hpp"
#include "codegen/kernel_c.hpp"
#include "codegen/kernel_c_templates.hpp"
#include "schema/schema_values.hpp"

namespace elog {
namespace {

using eventlog::field_type;
using kernel_c::event_names;
using kernel_c::field_names;

class kernel_c_generator {
  public:
    kernel_c_generator(const located_schema& source, std::string_view file)
        : schema_(source.schema),
          upper_(upper_case(schema_.name)),
          file_(file),
          names_(kernel_c::make_names(schema_, scope_)) {}

    std::string generate();

  private:
    void write_head();
    void write_types();
    void write_enumeration(std::size_t index);
    void write_helpers();
    void write_assertions();

    const provider_schema& schema_;
    std::string upper_;
    std::string_view file_;
    unique_names scope_;
    kernel_c::names names_;
    source_writer out_;
};

void kernel_c_generator::write_head() {
    namespace templates = kernel_c_templates;
    out_.format(templates::introduction, describe_item(schema_), schema_.hash, file_, schema_.name);
    if (any_field(schema_, is_variable)) {
        out_.append(templates::about_texts);
    }
    if (any_field(schema_, is_optional)) {
        out_.append(templates::about_optional_fields);
    }
    out_.format(templates::begin, schema_.name, upper_);
}

void kernel_c_generator::write_enumeration(std::size_t index) {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    const std::string prefix = upper_case(schema_.name + "_" + enumeration.name);
    const auto type = type_of_enumeration(schema_, index);
    if (fits_int(enumeration)) {
        out_.line("enum {} {{", names_.enumerations[index]);
    } else {
        out_.line("/* {}{} */", enumeration.name,
                  enumeration.is_bitmask ? ": these are combined with |" : "");
    }
    for (const auto& [value, name] : enumeration.values) {
        const std::string constant = scope_.make(prefix + "_" + upper_case(name));
        const auto number = static_cast<std::int64_t>(value);
        const bool wide = !type || eventlog::size_of(*type) == 8;
        if (fits_int(enumeration)) {
            out_.line("\t{} = {},", constant, number);
        } else if (enumeration.is_bitmask || number >= 0 || !type || !is_signed(*type)) {
            const std::uint64_t bits = wide ? value : value & 0xffffffff;
            out_.line("#define {}\t0x{:x}{}", constant, bits, wide ? "ULL" : "U");
        } else if (value == std::uint64_t{1} << 63U) {
            out_.line("#define {}\t({}LL - 1)", constant, number + 1);
        } else {
            out_.line("#define {}\t({}LL)", constant, number);
        }
    }
    if (fits_int(enumeration)) {
        out_.line("}};");
    }
    out_.line();
}

void kernel_c_generator::write_helpers() {
    namespace templates = kernel_c_templates;
    if (any_field(schema_, [](const auto& field) { return field.type == field_type::text; })) {
        out_.format(templates::text_helpers, names_.text_size, names_.copy_text);
    }
    if (any_field(schema_, has_size)) {
        out_.format(templates::bytes_helper, names_.bytes_size);
    }
    if (any_field(schema_, kernel_c::is_address_number)) {
        out_.append(templates::address_helper);
    }
}

/// The part that the compiler must read once; the kernel includes the trace events several times.
void kernel_c_generator::write_types() {
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        if (!schema_.enumerations[i].values.empty()) {
            write_enumeration(i);
        }
    }
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        if (!names_.events[id].fields.empty()) {
            kernel_c::write_struct(out_, schema_, names_, id);
        }
    }
    write_helpers();
    kernel_c::write_show_macros(out_, schema_, names_);
    out_.format(kernel_c_templates::end_of_types, upper_);
}

/// One decoder reads the payloads of all routes, so the compiler must have used the schema's
/// offsets.
void kernel_c_generator::write_assertions() {
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        const event_names& event = names_.events[id];
        for (const field_names* names : in_payload_order(event)) {
            const field_schema& field = *names->field;
            out_.line("EVENTLOG_FIELD_AT({}, {}{}, {}, {});", event.event,
                      is_variable(field) ? "__data_loc_" : "", field.name, field.offset,
                      fixed_size_of(field));
        }
        for (const field_names& names : event.all) {
            if (!names.presence.empty()) {
                out_.line("EVENTLOG_FIELD_AT({}, {}, {}, 1);", event.event, names.presence,
                          names.field->presence);
            }
        }
        out_.line("static_assert(offsetof(struct trace_event_raw_{}, __data) ==", event.event);
        out_.line("\t      sizeof(struct trace_entry) + {});", schema_.events[id].fixed_size);
    }
    out_.line("#endif");
}

std::string kernel_c_generator::generate() {
    write_head();
    write_types();
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        kernel_c::write_trace_event(out_, schema_, names_, id);
    }
    out_.format(kernel_c_templates::end, upper_, file_);
    write_assertions();
    return out_.take();
}

}  // namespace

std::string generate_kernel_c(const located_schema& source, std::string_view file) {
    kernel_c::check(source);
    return kernel_c_generator(source, file).generate();
}

}  // namespace elog
