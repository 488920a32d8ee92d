// SPDX-License-Identifier: MIT
#include "aggregate/one_liner.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

#include <fmt/core.h>

#include "aggregate/aggregation.hpp"
#include "base/characters.hpp"
#include "base/user_error.hpp"

namespace elog {
namespace {

constexpr const char* called = "one-liner";
constexpr std::string_view blanks = " \t\n";
constexpr std::string_view example = "shop:* /items > 2/ { @[customer] = count() }";

[[noreturn]] void reject(std::size_t at, std::string_view reason) {
    throw user_error("{}, column {}: {}", called, at + 1, reason);
}

/// A part of the text with its position.
struct piece {
    std::string_view text;
    std::size_t at = 0;

    [[nodiscard]] piece behind(std::size_t size) const {
        return {text.substr(std::min(size, text.size())), at + std::min(size, text.size())};
    }
    [[nodiscard]] piece trimmed() const {
        const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
        const std::size_t last = text.find_last_not_of(blanks);
        return {first == text.size() ? text.substr(first) : text.substr(first, last + 1 - first),
                at + first};
    }
};

/// The position of the closing quote of the text that begins at `at`.
std::size_t end_of_text(std::string_view text, std::size_t at) {
    for (std::size_t next = at + 1; next < text.size(); ++next) {
        if (text[next] == '\\') {
            ++next;
        } else if (text[next] == text[at]) {
            return next;
        }
    }
    return text.size();
}

/// The first position outside of quotes, parentheses and brackets for which `fits` is true.
template <class Fits>
std::size_t find_outside(std::string_view text, const Fits& fits) {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char found = text[at];
        if (found == '"' || found == '\'') {
            at = end_of_text(text, at);
        } else if (depth == 0 && fits(at)) {
            return at;
        } else if (found == '(' || found == '[') {
            ++depth;
        } else if ((found == ')' || found == ']') && depth > 0) {
            --depth;
        }
    }
    return std::string_view::npos;
}

std::size_t find_outside(std::string_view text, char wanted) {
    return find_outside(text, [&](std::size_t at) { return text[at] == wanted; });
}

/// Whether a word is the sampling rate of the pattern before it, such as 1/100.
bool is_rate(std::string_view word) noexcept {
    return is_digit(word.front()) && word.find('/') != std::string_view::npos;
}

/// Removes the leading patterns, with their rates: words up to a predicate or an action.
std::vector<std::string> take_patterns(piece& left) {
    std::vector<std::string> patterns;
    for (left = left.trimmed(); !left.text.empty(); left = left.trimmed()) {
        if (left.text.front() == '/' || left.text.front() == '{') {
            break;
        }
        std::string_view word = left.text.substr(0, left.text.find_first_of(" \t\n{"));
        const bool is_of_last = !patterns.empty() && is_rate(word);
        if (!patterns.empty() && !is_of_last && word.find(':') == std::string_view::npos) {
            reject(left.at, "the events are followed by '/PREDICATE/', after a blank, "
                            "or '{ ACTION }'.");
        }
        if (word.front() == '-') {
            reject(left.at, fmt::format("options follow the one-liner, and {} is no event.", word));
        }
        left = left.behind(word.size());
        if (word.back() == ',') {
            word.remove_suffix(1);
        }
        if (is_of_last) {
            patterns.back() += fmt::format(" {}", word);
        } else if (!word.empty()) {
            patterns.emplace_back(word);
        }
    }
    if (patterns.empty()) {
        reject(left.at, fmt::format("it begins with PROVIDER:EVENT. For example: {}", example));
    }
    return patterns;
}

/// Removes a leading "/PREDICATE/". The closing slash is one at the end or before an action; other
/// slashes may belong to network addresses.
std::string take_predicate(piece& left) {
    if (left.text.empty() || left.text.front() != '/') {
        return {};
    }
    const std::string_view text = left.text.substr(1);
    const std::size_t end = find_outside(text, [&](std::size_t at) {
        const std::size_t next = text.find_first_not_of(blanks, at + 1);
        return text[at] == '/' && (next == std::string_view::npos || text[next] == '{');
    });
    if (end == std::string_view::npos) {
        reject(left.at, "the predicate that begins here does not end: write /PREDICATE/.");
    }
    std::string predicate(piece{text.substr(0, end), 0}.trimmed().text);
    if (predicate.empty()) {
        reject(left.at,
               "there is nothing between the slashes: leave them out, or write a predicate.");
    }
    left = left.behind(end + 2).trimmed();
    return predicate;
}

/// The contents of the braces, which must be last.
piece take_action(const piece& left) {
    if (left.text.empty()) {
        return left;
    }
    if (left.text.front() != '{') {
        reject(left.at, "only '{ ACTION }' can follow the predicate.");
    }
    const piece inside = left.behind(1);
    const std::size_t end = find_outside(inside.text, '}');
    if (end == std::string_view::npos) {
        reject(left.at, "the brace is not closed.");
    }
    const piece rest = inside.behind(end + 1).trimmed();
    if (!rest.text.empty()) {
        reject(rest.at, "nothing can follow '}': a command has one action. For another one, "
                        "run elog once more.");
    }
    return {inside.text.substr(0, end), inside.at};
}

/// Skips the name after '@'. Names have no effect, because all aggregations are shown as one.
piece skip_name(const piece& from) {
    constexpr std::string_view characters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return from.behind(std::min(from.text.find_first_not_of(characters), from.text.size()));
}

/// Collects the calls, keys and limit of all statements.
class computation {
  public:
    void add(const piece& statement) {
        ++statements_;
        if (statement.text.front() == '@') {
            add_calls(statement);
        } else if (statement.text.substr(0, 6) == "trunc(") {
            set_top(statement);
        } else {
            reject(statement.at, fmt::format("an action is '@ = CALL', '@[FIELD, ...] = CALL' or "
                                             "'trunc(@, NUMBER)'. For example: {}",
                                             example));
        }
    }

    [[nodiscard]] std::string text() const {
        if (calls_.empty()) {
            if (top_) {
                reject(*top_at_, "there is nothing that could be truncated.");
            }
            return {};
        }
        if (alone_at_ && (statements_ > 1 || !keys_->empty())) {
            reject(*alone_at_,
                   "this contains fields or a number, so it must be the only statement.");
        }
        std::string all = calls_;
        all += keys_.value_or("").empty() ? "" : " by " + *keys_;
        all += top_ ? " | top " + *top_ : "";
        return all;
    }

  private:
    void add_calls(const piece& statement) {
        piece left = skip_name(statement.behind(1)).trimmed();
        std::string keys;
        if (!left.text.empty() && left.text.front() == '[') {
            const piece inside = left.behind(1);
            const std::size_t end = find_outside(inside.text, ']');
            if (end == std::string_view::npos) {
                reject(left.at, "the bracket is not closed.");
            }
            const piece fields = piece{inside.text.substr(0, end), inside.at}.trimmed();
            if (!fields.text.empty()) {
                aggregation::check_keys(called, fields.text, fields.at + 1);
            }
            keys = fields.text;
            left = inside.behind(end + 1).trimmed();
        }
        if (left.text.empty() || left.text.front() != '=' || left.text.substr(0, 2) == "==") {
            reject(left.at, "'= CALL' must follow '@' or '@[FIELD, ...]'.");
        }
        const piece calls = left.behind(1).trimmed();
        if (calls.text.empty()) {
            reject(calls.at, "a call such as count() must follow '='.");
        }
        const aggregation parsed = aggregation::parse(called, calls.text, calls.at + 1);
        if (!parsed.keys.empty() || parsed.top != 0) {
            alone_at_ = calls.at;
        }
        if (keys_ && *keys_ != keys) {
            reject(statement.at, "all that one command computes has the same keys in brackets. For "
                                 "others, run elog once more.");
        }
        keys_ = keys;
        calls_ += (calls_.empty() ? "" : ", ") + std::string(calls.text);
    }

    void set_top(const piece& statement) {
        const piece inside = statement.behind(6).trimmed();
        const std::size_t end = inside.text.find(')');
        if (inside.text.empty() || inside.text.front() != '@' || end == std::string_view::npos ||
            !inside.behind(end + 1).trimmed().text.empty()) {
            reject(statement.at, "write 'trunc(@, NUMBER)'.");
        }
        const piece behind_name = skip_name(inside.behind(1)).trimmed();
        if (behind_name.text.empty() || behind_name.text.front() != ',') {
            reject(behind_name.at, "write 'trunc(@, NUMBER)'.");
        }
        const std::size_t number_at = behind_name.at + 1 - inside.at;
        const piece number =
            piece{inside.text.substr(number_at, end - number_at), behind_name.at + 1}.trimmed();
        std::uint64_t rows = 0;
        const char* const number_end = number.text.data() + number.text.size();
        const auto [read, mistake] = std::from_chars(number.text.data(), number_end, rows);
        if (mistake != std::errc{} || read != number_end || rows == 0 ||
            rows > aggregate_rows_max) {
            reject(number.at, fmt::format("a number from 1 to {} is needed here: the rows to show.",
                                          aggregate_rows_max));
        }
        if (top_) {
            reject(statement.at, "the number of rows can be given only once.");
        }
        top_ = number.text;
        top_at_ = statement.at;
    }

    std::string calls_;
    std::optional<std::string> keys_;  // set with the first call
    std::optional<std::string> top_;
    std::optional<std::size_t> top_at_;
    std::optional<std::size_t> alone_at_;
    std::size_t statements_ = 0;
};

std::string computation_of(piece left) {
    computation wanted;
    for (;;) {
        const std::size_t end = std::min(find_outside(left.text, ';'), left.text.size());
        const piece statement = piece{left.text.substr(0, end), left.at}.trimmed();
        if (!statement.text.empty()) {
            wanted.add(statement);
        }
        if (end == left.text.size()) {
            return wanted.text();
        }
        left = left.behind(end + 1);
    }
}

}  // namespace

one_liner one_liner::parse(std::string_view text) {
    if (text.size() > one_liner_size_max) {
        throw user_error("The one-liner has {} characters, and may have {}.", text.size(),
                         one_liner_size_max);
    }
    piece left{text, 0};
    one_liner found;
    found.patterns = take_patterns(left);
    found.predicate = take_predicate(left);
    found.aggregation = computation_of(take_action(left));
    return found;
}

std::vector<std::string> one_liner::words() const {
    std::vector<std::string> all;
    if (aggregation.empty()) {
        all = {"record"};
    } else {
        all = {"agg", aggregation};
    }
    for (const std::string& pattern : patterns) {
        all.insert(all.end(), {"-e", pattern});
    }
    if (!predicate.empty()) {
        all.push_back("--where=" + predicate);
    }
    return all;
}

}  // namespace elog
