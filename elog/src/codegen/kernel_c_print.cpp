// SPDX-License-Identifier: MIT
//
// Generates TP_printk, with which the kernel, perf and trace-cmd show a trace event.
//
// The kernel compiles the arguments; the tools parse them as text and know only operators, ?: and
// the kernel's __print_ and __get_ macros. The arguments use nothing else.
#include <algorithm>
#include <iterator>

#include "codegen/kernel_c.hpp"
#include "schema/schema_values.hpp"

namespace elog::kernel_c {
namespace {

using eventlog::field_type;
using eventlog::format;

constexpr std::size_t printed_bytes_max = 64;
constexpr std::size_t printed_elements_max = 16;

// Errors of all architectures. Names, because the numbers differ between architectures.
constexpr std::string_view error_names =
    "EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT "
    "EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC "
    "ESPIPE EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP "
    "ENOMSG EIDRM ENODATA ETIME ENOLINK EPROTO EBADMSG EOVERFLOW EILSEQ EUSERS ENOTSOCK "
    "EDESTADDRREQ EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT EOPNOTSUPP EPFNOSUPPORT "
    "EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET "
    "ENOBUFS EISCONN ENOTCONN ESHUTDOWN ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY "
    "EINPROGRESS ESTALE EUCLEAN EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE ECANCELED ENOKEY "
    "EKEYEXPIRED EKEYREVOKED EKEYREJECTED EOWNERDEAD ENOTRECOVERABLE ERFKILL EHWPOISON";

/// A part of the format and its arguments.
struct printk_expression {
    std::string format;
    std::vector<std::string> arguments;
};

bool is_eight_bytes(const field_schema& field) noexcept {
    return eventlog::size_of(field.type) == 8;
}

/// The format of a decimal number.
std::string_view number_format(const field_schema& field) noexcept {
    if (is_signed(field.type)) {
        return is_eight_bytes(field) ? "%lld" : "%d";
    }
    return is_eight_bytes(field) ? "%llu" : "%u";
}

/// Removes the bits that sign extension adds.
std::string mask_text(const field_schema& field) {
    const std::size_t size = eventlog::size_of(field.type);
    return !is_signed(field.type) || size >= 4 ? "" : size == 1 ? " & 0xff" : " & 0xffff";
}

class field_printer {
  public:
    field_printer(const provider_schema& schema, const names& all, const field_names& field)
        : schema_(schema),
          all_(all),
          names_(field),
          field_(*field.field),
          value_("__entry->" + field_.name) {}

    [[nodiscard]] printk_expression print() const {
        printk_expression made = print_value();
        made.format = field_.name + "=" + made.format;
        for (const char c : field_.unit) {
            made.format += c == '%' ? "%%" : std::string(1, c);
        }
        return made;
    }

  private:
    /// The string, or "-" if the field is absent.
    [[nodiscard]] std::string or_absent(const std::string& text) const {
        return names_.presence.empty()
                   ? text
                   : fmt::format("__entry->{} ? {} : \"-\"", names_.presence, text);
    }
    /// A number and "(none)" if the field is absent: no format can omit the number.
    [[nodiscard]] printk_expression with_absence_marker(printk_expression made) const {
        if (!names_.presence.empty()) {
            made.format += "%s";
            made.arguments.push_back(
                fmt::format(R"-(__entry->{} ? "" : "(none)")-", names_.presence));
        }
        return made;
    }
    [[nodiscard]] printk_expression print_value() const;
    [[nodiscard]] printk_expression print_single() const;
    [[nodiscard]] printk_expression print_array() const;
    [[nodiscard]] printk_expression print_text() const;
    [[nodiscard]] printk_expression print_bytes() const;
    [[nodiscard]] printk_expression print_sequence() const;
    [[nodiscard]] printk_expression print_seconds() const;
    [[nodiscard]] printk_expression print_error() const;
    [[nodiscard]] printk_expression print_address() const;

    const provider_schema& schema_;
    const names& all_;
    const field_names& names_;
    const field_schema& field_;
    std::string value_;
};

printk_expression field_printer::print_value() const {
    if (field_.type == field_type::text) {
        return print_text();
    }
    if (field_.type == field_type::bytes) {
        return print_bytes();
    }
    if (is_sequence(field_)) {
        return print_sequence();
    }
    if (field_.format == format::ip_address || field_.format == format::mac_address) {
        return with_absence_marker(print_address());
    }
    return field_.count == 1 ? print_single() : print_array();
}

printk_expression field_printer::print_text() const {
    const std::string text = fmt::format("__get_str({})", field_.name);
    if (!names_.presence.empty()) {
        return {"%s", {or_absent(text)}};
    }
    return {"%s",
            {fmt::format(R"-(__get_dynamic_array_len({}) ? {} : "(null)")-", field_.name, text)}};
}

printk_expression field_printer::print_bytes() const {
    const std::string size = fmt::format("__get_dynamic_array_len({})", field_.name);
    return {"<%s%s>",
            {or_absent(fmt::format("__print_hex_str(__get_dynamic_array({0}),\n"
                                   "\t\t\t{1} < {2} ?\n\t\t\t{1} : {2})",
                                   field_.name, size, printed_bytes_max)),
             fmt::format(R"({} > {} ? "..." : "")", size, printed_bytes_max)}};
}

/// As an array, with dots behind elements that are not shown.
printk_expression field_printer::print_sequence() const {
    const std::string size = fmt::format("__get_dynamic_array_len({})", field_.name);
    const std::size_t element = element_size(field_);
    const std::size_t size_max = printed_elements_max * element;
    const std::string count = element == 1 ? size : fmt::format("{} / {}", size, element);
    return {
        "%s%s",
        {or_absent(fmt::format("__print_array(__get_dynamic_array({0}),\n"
                               "\t\t\t{1} < {2} ?\n\t\t\t{3} : {4}, {5})",
                               field_.name, size, size_max, count, printed_elements_max, element)),
         fmt::format(R"({} > {} ? "..." : "")", size, size_max)}};
}

printk_expression field_printer::print_address() const {
    if (field_.format == format::mac_address) {
        return {"%pM", {value_}};
    }
    if (field_.count == 16) {
        return {"%pI6c", {value_}};
    }
    if (field_.count == 4) {
        return {"%pI4", {value_}};
    }
    // %pI4 needs a pointer, and perf cannot parse the address of a number.
    return {"%u.%u.%u.%u",
            {fmt::format("{} >> EVENTLOG_IP4_SHIFT(0) & 0xff", value_),
             fmt::format("{} >> EVENTLOG_IP4_SHIFT(1) & 0xff", value_),
             fmt::format("{} >> EVENTLOG_IP4_SHIFT(2) & 0xff", value_),
             fmt::format("{} >> EVENTLOG_IP4_SHIFT(3) & 0xff", value_)}};
}

printk_expression field_printer::print_array() const {
    if (field_.format == format::characters) {
        return {fmt::format("%.{}s", field_.count), {or_absent(value_)}};
    }
    return {"%s",
            {or_absent(fmt::format("__print_array({}, {}, {})", value_, field_.count,
                                   eventlog::size_of(field_.type)))}};
}

/// Nanoseconds as seconds with nine decimals.
printk_expression field_printer::print_seconds() const {
    if (!is_signed(field_.type)) {
        return {"%llu.%09us",
                {fmt::format("__print_ns_to_secs({})", value_),
                 fmt::format("__print_ns_without_secs({})", value_)}};
    }
    const std::string magnitude = fmt::format("{0} < 0 ?\n\t\t\t0 - {0} : {0}", value_);
    return {"%s%llu.%09us",
            {fmt::format(R"({} < 0 ? "-" : "")", value_),
             fmt::format("__print_ns_to_secs({})", magnitude),
             fmt::format("__print_ns_without_secs({})", magnitude)}};
}

printk_expression field_printer::print_error() const {
    const std::string magnitude =
        is_signed(field_.type) ? fmt::format("{0} < 0 ? 0 - {0} : {0}", value_) : value_;
    return {fmt::format("{}(%s)", number_format(field_)),
            {value_, fmt::format("{}({})", all_.show_error, magnitude)}};
}

printk_expression field_printer::print_single() const {
    if (field_.enumeration != schema_format::no_index &&
        !schema_.enumerations[field_.enumeration].values.empty()) {
        return {"%s",
                {or_absent(fmt::format("{}({})", all_.show_macros[field_.enumeration], value_))}};
    }
    if (field_.type == field_type::boolean) {
        const std::string text = fmt::format(R"({} ? "true" : "false")", value_);
        return {"%s", {or_absent(names_.presence.empty() ? text : "(" + text + ")")}};
    }
    if (field_.type == field_type::character) {
        return with_absence_marker(
            {"'%c'", {fmt::format("{0} > 31 && {0} < 127 ? {0} : '?'", value_)}});
    }
    switch (field_.format) {
        case format::hexadecimal:
            return with_absence_marker(
                {is_eight_bytes(field_) ? "0x%llx" : "0x%x", {value_ + mask_text(field_)}});
        case format::error_number:
            return with_absence_marker(print_error());
        case format::duration:
        case format::realtime:
        case format::monotonic:
            return with_absence_marker(print_seconds());
        case format::byte_size:
            return with_absence_marker({fmt::format("{}B", number_format(field_)), {value_}});
        default:
            return with_absence_marker({std::string(number_format(field_)), {value_}});
    }
}

/// A number in code that compares it with unsigned long.
std::string mask_number(std::uint64_t value, bool is_bitmask) {
    const auto number = static_cast<std::int64_t>(value);
    if (is_bitmask || (value >> 62U) == 2) {
        return fmt::format("0x{:x}", value);
    }
    return fmt::format("{}", number);
}

void write_show_enumeration(source_writer& out, const provider_schema& schema, std::size_t index,
                            const std::string& macro) {
    const enumeration_schema& enumeration = schema.enumerations[index];
    const bool is_wide = any_field(schema, [&](const field_schema& field) {
        return field.enumeration == index && is_eight_bytes(field);
    });
    const std::string behind = is_wide ? "_u64" : "";
    const auto type = type_of_enumeration(schema, index);
    // Bits that sign extension adds are no flags.
    const std::uint64_t bits = !type || eventlog::size_of(*type) == 8
                                   ? ~std::uint64_t{0}
                                   : (std::uint64_t{1} << 8 * eventlog::size_of(*type)) - 1;
    std::vector<std::string> items;
    std::string zero = "0x0";
    // An enumeration with only a name for 0 is not a set of flags.
    const bool is_bitmask =
        enumeration.is_bitmask &&
        std::any_of(enumeration.values.begin(), enumeration.values.end(),
                    [&](const auto& value) { return (value.first & bits) != 0; });
    for (const auto& [value, name] : enumeration.values) {
        if (is_bitmask && (value & bits) == 0) {
            zero = name;
            continue;
        }
        items.push_back(fmt::format(
            "{{ {}, \"{}\" }}", mask_number(is_bitmask ? value & bits : value, is_bitmask), name));
    }
    out.line("#define {}(value)\t\\", macro);
    if (!is_bitmask) {
        out.line("\t__print_symbolic{}(value,\t\\", behind);
    } else if (bits != ~std::uint64_t{0} && is_signed(*type)) {
        out.line("\t((value) ? __print_flags{}((value) & 0x{:x}, \"|\",\t\\", behind, bits);
    } else {
        out.line("\t((value) ? __print_flags{}(value, \"|\",\t\\", behind);
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool last = i + 1 == items.size();
        const std::string_view end = !last ? ",\t\\" : is_bitmask ? ")\t\\" : ")";
        out.line("\t\t{}{}", items[i], end);
    }
    if (is_bitmask) {
        out.line("\t\t: \"{}\")", zero);
    }
    out.line();
}

}  // namespace

void write_show_macros(source_writer& out, const provider_schema& schema, const names& all) {
    for (std::size_t i = 0; i < schema.enumerations.size(); ++i) {
        if (!schema.enumerations[i].values.empty()) {
            write_show_enumeration(out, schema, i, all.show_macros[i]);
        }
    }
    const auto is_error_number = [](const field_schema& field) {
        return field.format == format::error_number && field.count == 1;
    };
    if (any_field(schema, is_error_number)) {
        out.line("#define {}(value)\t\\", all.show_error);
        out.line("\t__print_symbolic(value,\t\\");
        out.line("\t\t{{ 0, \"no error\" }},\t\\");
        for (std::string_view rest = error_names; !rest.empty();) {
            const std::string_view name = rest.substr(0, rest.find(' '));
            rest.remove_prefix(std::min(name.size() + 1, rest.size()));
            out.line("\t\t{{ {0}, \"{0}\" }}{1}", name, rest.empty() ? ")" : ",\t\\");
        }
        out.line();
    }
}

std::string make_printk(const provider_schema& schema, const names& all, std::size_t event) {
    constexpr std::size_t line_max = 56;
    if (schema.events[event].fields.empty()) {
        return R"-(TP_printk("%s", ""))-";
    }
    std::string made = "TP_printk(\"";
    std::size_t line = 0;
    std::vector<std::string> arguments;
    for (const field_names& field : all.events[event].all) {
        printk_expression added = field_printer(schema, all, field).print();
        if (line != 0) {
            added.format.insert(0, " ");
        }
        if (line + added.format.size() > line_max && line != 0) {
            made += "\"\n\t\t  \"";
            line = 0;
        }
        made += added.format;
        line += added.format.size();
        std::move(added.arguments.begin(), added.arguments.end(), std::back_inserter(arguments));
    }
    made += "\",\n\t\t  ";
    return fold(made, arguments, ")", "\t\t  ");
}

}  // namespace elog::kernel_c
