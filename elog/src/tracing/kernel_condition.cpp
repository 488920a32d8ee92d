// SPDX-License-Identifier: MIT
#include "tracing/kernel_condition.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "schema/schema_values.hpp"

namespace elog {
namespace {

using eventlog::field_type;

// The kernel accepts a page at most, and keeps a compiled filter for each event.
constexpr std::size_t text_max = 2000;
// Length of a text operand; the kernel accepts 255.
constexpr std::size_t literal_max = 200;
constexpr std::uint64_t full_mask = ~std::uint64_t{0};
// Added to signed numbers, so that they sort as unsigned ones.
constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63U;

/// Translation of a part of the predicate.
struct condition {
    enum class form { never, always, text };
    form is = form::always;
    bool is_whole = false;
    std::string text{};
    const char* reason = nullptr;  // why it is not whole
    std::size_t column = 0;
};

condition constant(bool value, bool is_whole) {
    condition made;
    made.is = value ? condition::form::always : condition::form::never;
    made.is_whole = is_whole;
    return made;
}
condition text(std::string what, bool is_whole = true) {
    condition made;
    made.is = condition::form::text;
    made.is_whole = is_whole;
    made.text = std::move(what);
    return made;
}
/// A test that the kernel's filter cannot express.
condition not_expressible(const char* reason) {
    condition made = constant(true, false);
    made.reason = reason;
    return made;
}

constexpr const char* reason_process =
    "whose process an event is the kernel's filter does not know; it knows tid, its thread";
constexpr const char* reason_bits = "of bits the kernel only asks whether any of them is there";
constexpr const char* reason_text =
    "the kernel compares texts only for equality, with printable characters without quotes and "
    "backslashes, up to 200 of them";
constexpr const char* reason_null_text =
    "the kernel takes a null pointer for some text; it only compares texts of a fixed size exactly";
constexpr const char* reason_optional =
    "the kernel does not know whether an optional field has a value";
constexpr const char* reason_type =
    "the kernel's filter compares integers, bools and texts with what is fixed, and nothing else";
constexpr const char* reason_length = "it is too long for the kernel";

/// Orders the numbers of a field, signed or not, as unsigned 64-bit positions.
class number_line {
  public:
    number_line(unsigned bits, bool with_sign) noexcept : bits_(bits), is_signed_(with_sign) {}
    explicit number_line(field_type type) noexcept
        : number_line(static_cast<unsigned>(eventlog::size_of(type)) * 8, is_signed(type)) {}

    [[nodiscard]] std::uint64_t place_of(std::uint64_t bits) const noexcept {
        return is_signed_ ? bits ^ sign_bit : bits;
    }
    [[nodiscard]] std::uint64_t first() const noexcept {
        return is_signed_ ? sign_bit - (std::uint64_t{1} << (bits_ - 1)) : 0;
    }
    [[nodiscard]] std::uint64_t last() const noexcept {
        return is_signed_ ? sign_bit + ((std::uint64_t{1} << (bits_ - 1)) - 1)
                          : full_mask >> (64 - bits_);
    }
    [[nodiscard]] std::string number_at(std::uint64_t place) const {
        return is_signed_ ? fmt::format("{}", static_cast<std::int64_t>(place ^ sign_bit))
                          : fmt::format("{}", place);
    }
    /// Whether the mask has only bits of the field and is a number that the kernel can parse.
    [[nodiscard]] bool holds_mask(std::uint64_t mask) const noexcept {
        return mask <= full_mask >> (64 - bits_) && !(is_signed_ && mask >= sign_bit);
    }

  private:
    unsigned bits_;
    bool is_signed_;
};

/// Numbers from `low` to `high`; if `low` is larger, all except those in between.
condition in_range(const std::string& name, const number_line& line, std::uint64_t low,
                   std::uint64_t high) {
    const bool is_outside = low > high;
    if (!is_outside) {
        low = std::max(low, line.first());
        high = std::min(high, line.last());
        if (low > high) {
            return constant(false, true);
        }
    }
    const bool from_first = low <= line.first();
    const bool to_last = high >= line.last();
    if (is_outside) {
        // Numbers up to `high` and from `low` on. Either bound may be outside of the field's range.
        const bool has_lower = high >= line.first();
        const bool has_upper = low <= line.last();
        if (!has_lower && !has_upper) {
            return constant(false, true);
        }
        if (to_last || from_first) {
            return constant(true, true);
        }
        if (!has_lower) {
            return text(fmt::format("{} >= {}", name, line.number_at(low)));
        }
        if (!has_upper) {
            return text(fmt::format("{} <= {}", name, line.number_at(high)));
        }
        if (low - high == 2) {
            return text(fmt::format("{} != {}", name, line.number_at(high + 1)));
        }
        return text(fmt::format("({0} <= {1} || {0} >= {2})", name, line.number_at(high),
                                line.number_at(low)));
    }
    if (from_first && to_last) {
        return constant(true, true);
    }
    if (low == high) {
        return text(fmt::format("{} == {}", name, line.number_at(low)));
    }
    if (from_first) {
        return text(fmt::format("{} <= {}", name, line.number_at(high)));
    }
    if (to_last) {
        return text(fmt::format("{} >= {}", name, line.number_at(low)));
    }
    return text(
        fmt::format("({0} >= {1} && {0} <= {2})", name, line.number_at(low), line.number_at(high)));
}

condition of_integer(const predicate_instruction& test, const std::string& name,
                     const number_line& line) {
    if (test.mask != full_mask) {
        // The kernel can only test whether any of the bits is set.
        if (test.low != 0 || test.span != 0 || !line.holds_mask(test.mask) || test.mask == 0) {
            return not_expressible(reason_bits);
        }
        return text(test.negated ? fmt::format("{} & {}", name, test.mask)
                                 : fmt::format("!({} & {})", name, test.mask));
    }
    const std::uint64_t low = line.place_of(test.low);
    const std::uint64_t high = low + test.span;
    if (!test.negated) {
        return test.span == full_mask ? constant(true, true) : in_range(name, line, low, high);
    }
    return test.span == full_mask ? constant(false, true) : in_range(name, line, high + 1, low - 1);
}

/// A bool of a program is any byte; all values except 0 are true.
condition of_bool(const predicate_instruction& test, const std::string& name) {
    const auto wants = [&](std::uint64_t value) {
        return ((value & test.mask) - test.low <= test.span) != test.negated;
    };
    if (wants(0) == wants(1)) {
        return constant(wants(0), true);
    }
    return text(fmt::format("{} {} 0", name, wants(0) ? "==" : "!="));
}

/// An array of characters ends at its first NUL or at its end, in the kernel and in elog.
condition of_text(const predicate_instruction& test, const std::string& name,
                  std::string_view literal) {
    const bool is_equal = test.how == (test.negated ? comparison::unequal : comparison::equal);
    const bool is_plain =
        literal.size() <= literal_max && std::all_of(literal.begin(), literal.end(), [](char c) {
            return c >= ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\';
        });
    if (!is_equal || !is_plain) {
        return not_expressible(reason_text);
    }
    condition asked = text(fmt::format("{} == \"{}\"", name, literal), false);
    asked.is_whole = test.left.type == field_type::character && literal.size() <= test.left.size;
    asked.reason = reason_null_text;
    return asked;
}

class condition_translator {
  public:
    condition_translator(const folded_predicate& wanted, const std::vector<kernel_field>& fields)
        : wanted_(wanted), fields_(fields) {}

    [[nodiscard]] condition of(const folded_node& part) const {
        switch (part.is) {
            case folded_node::form::never:
                return constant(false, true);
            case folded_node::form::always:
                return constant(true, true);
            case folded_node::form::process_dependent:
                return placed(not_expressible(reason_process), part);
            case folded_node::form::leaf:
                return placed(of_leaf(part.leaf), part);
            case folded_node::form::all_of:
            case folded_node::form::any_of:
                return of_list(part);
        }
        return not_expressible(reason_type);
    }

  private:
    static condition placed(condition found, const folded_node& part) {
        found.column = part.column;
        return found;
    }

    [[nodiscard]] condition of_list(const folded_node& list) const {
        const bool all = list.is == folded_node::form::all_of;
        const condition::form deciding = all ? condition::form::never : condition::form::always;
        condition joined = constant(all, true);
        bool is_decided = false;
        bool is_whole_decision = false;
        std::size_t count = 0;
        for (const folded_node& child : list.children) {
            condition part = of(child);
            if (joined.is_whole && !part.is_whole) {
                joined.is_whole = false;
                joined.reason = part.reason;
                joined.column = part.column;
            }
            if (part.is == deciding) {
                is_decided = true;
                is_whole_decision = is_whole_decision || part.is_whole;
            } else if (part.is == condition::form::text) {
                joined.text += (count++ == 0 ? "" : all ? " && " : " || ") + part.text;
            }
        }
        if (is_decided) {
            joined.is = deciding;
            joined.is_whole = is_whole_decision;
            joined.text.clear();
        } else if (count != 0) {
            joined.is = condition::form::text;
            joined.text = count == 1 ? std::move(joined.text) : "(" + joined.text + ")";
        }
        return joined;
    }

    [[nodiscard]] condition of_leaf(const predicate_instruction& test) const {
        const stored_location& place = test.left;
        if (place.source == field_source::thread && test.what == predicate_opcode::integer) {
            return of_integer(test, "common_pid", number_line(31, false));
        }
        const kernel_field* const field = find(place);
        if (field == nullptr) {
            return not_expressible(reason_type);
        }
        condition asked =
            not_expressible(test.what == predicate_opcode::glob ? reason_text : reason_type);
        if (test.what == predicate_opcode::integer && is_integer(place.type)) {
            asked = of_integer(test, field->name, number_line(place.type));
        } else if (test.what == predicate_opcode::integer && place.type == field_type::boolean) {
            asked = of_bool(test, field->name);
        } else if (test.what == predicate_opcode::text) {
            asked =
                of_text(test, field->name,
                        std::string_view(wanted_.texts).substr(test.text_begin, test.text_size));
        }
        // A missing value makes the test false. The kernel does not know that it is missing.
        if (asked.is_whole && place.presence != schema_format::no_index) {
            asked.is_whole = false;
            asked.reason = reason_optional;
        }
        return asked.is == condition::form::never && !asked.is_whole ? constant(false, true)
                                                                     : asked;
    }

    /// Excludes elements of arrays and fields of which the kernel has another type.
    [[nodiscard]] const kernel_field* find(const stored_location& place) const noexcept {
        if (place.source != field_source::payload) {
            return nullptr;
        }
        const auto found =
            std::find_if(fields_.begin(), fields_.end(),
                         [&](const kernel_field& field) { return field.offset == place.offset; });
        if (found == fields_.end() || found->type != place.type) {
            return nullptr;
        }
        const bool is_one = found->count == 1 || place.is == value_class::text;
        return is_one ? &*found : nullptr;
    }

    const folded_predicate& wanted_;
    const std::vector<kernel_field>& fields_;
};

}  // namespace

kernel_condition make_kernel_condition(const folded_predicate& wanted,
                                       const std::vector<kernel_field>& fields) {
    condition found = condition_translator(wanted, fields).of(wanted.whole);
    kernel_condition made;
    if (found.is == condition::form::text && found.text.size() > text_max) {
        found = not_expressible(reason_length);
    }
    // The filter language cannot express "never".
    made.never_matches = found.is == condition::form::never;
    made.is_whole = found.is_whole && !made.never_matches;
    made.text = std::move(found.text);
    if (!made.is_whole && !made.never_matches && found.reason != nullptr) {
        made.reason = found.reason;
        made.column = found.column;
    }
    return made;
}

}  // namespace elog
