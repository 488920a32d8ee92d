// SPDX-License-Identifier: MIT
//
// The common part of lexers for texts that users write: names, integers, quoted texts, positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace elog {

/// Counted from 1, in lines and characters.
struct text_position {
    std::size_t line = 1;
    std::size_t column = 1;
};

enum class token_kind { word, number, text, character, address, symbol, end };

/// A token's name in an error message: "the number 5", "'='"; `end` is the name of the end.
[[nodiscard]] std::string describe_token(token_kind kind, std::string_view spelling,
                                         std::string_view end);

class text_scanner {
  public:
    text_scanner(const text_scanner&) = default;
    text_scanner& operator=(const text_scanner&) = delete;
    virtual ~text_scanner() = default;

    /// Throws user_error with the position and the reason.
    [[noreturn]] virtual void reject(text_position where, std::string_view reason) const = 0;

  protected:
    /// How positions are counted, and whether a quoted text may continue in the next line.
    enum class layout { lines, single_line };

    /// `quotes` are the characters that a backslash may precede. Both texts must outlive this.
    text_scanner(std::string_view text, std::string_view quotes, layout how, text_position begin)
        : text_(text), quotes_(quotes), how_(how), where_(begin) {}

    [[nodiscard]] bool at_end() const noexcept { return next_ == text_.size(); }
    /// '\0' behind the end.
    [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept {
        return text_.size() - next_ > ahead ? text_[next_ + ahead] : '\0';
    }
    [[nodiscard]] bool is_at_name(std::size_t ahead = 0) const noexcept;
    [[nodiscard]] std::string_view rest() const noexcept { return text_.substr(next_); }
    /// The text that ends here and began with `rest`, an earlier rest().
    [[nodiscard]] std::string_view since(std::string_view rest) const noexcept {
        return rest.substr(0, rest.size() - (text_.size() - next_));
    }
    [[nodiscard]] text_position where() const noexcept { return where_; }

    /// Advances by one character of `bytes` bytes.
    void step(std::size_t bytes = 1) noexcept;
    /// Advances by characters of one byte each, which are no ends of lines.
    std::string_view take(std::size_t count) noexcept;
    /// Letters and digits; may be empty.
    std::string_view take_name() noexcept;
    /// Digits of that base, 10 or 16, up to the end of the name. `begin` is that of the number.
    [[nodiscard]] std::uint64_t take_integer(text_position begin, unsigned base);
    /// The content of a text that begins here with `quote`. With `pattern`, * and ? may follow a
    /// backslash as well, and *pattern becomes the content as a pattern, see platform/glob.hpp.
    [[nodiscard]] std::string take_quoted(char quote, std::string* pattern = nullptr);
    /// The length of the character here. Rejects invisible characters and bytes that are no
    /// characters: they would disguise the text.
    [[nodiscard]] std::size_t visible_length() const;

  private:
    [[nodiscard]] char take_escape(std::string_view more);

    std::string_view text_;
    std::string_view quotes_;
    layout how_;
    std::size_t next_ = 0;
    text_position where_;
};

}  // namespace elog
