// SPDX-License-Identifier: MIT
#include "platform/error_text.hpp"

#include <algorithm>
#include <cstring>

#include "platform/short_text.hpp"

namespace eventlog::core {
namespace {

/// Behind a placeholder: %s, %u or %zu.
const char* skip_placeholder(const char* at) noexcept {
    ++at;
    return at + (*at == 'z' ? 2 : 1);
}

}  // namespace

error_sentence error_text::text() const noexcept {
    sentence_writer made;
    std::size_t next = 0;
    for (const char* at = format_; *at != '\0';) {
        const std::size_t plain = std::strcspn(at, "%");
        made.put({at, plain});
        at += plain;
        if (*at == '\0' || next == values_.size()) {
            break;
        }
        const value& shown = values_[next];
        switch (kinds_[next]) {
            case kind::text:
                made.put(std::string_view(shown.text));
                break;
            case kind::number:
                made.put(shown.number);
                break;
            case kind::error:
                made.put(std::string_view(std::strerror(static_cast<int>(shown.number))));
                break;
        }
        ++next;
        at = skip_placeholder(at);
    }
    return made.sentence();
}

void error_text::copy_texts(text_copies& copies) noexcept {
    for (std::size_t i = 0; i < values_max; ++i) {
        if (kinds_[i] == kind::text && values_[i].text != nullptr) {
            sentence_writer copy;
            copy.put(std::string_view(values_[i].text));
            copies[i] = copy.sentence();
            values_[i].text = copies[i].c_str();
        }
    }
}

void sentence_writer::put(std::string_view part) noexcept {
    std::array<char, 256>& characters = sentence_.characters;
    const std::size_t size = std::min(part.size(), characters.size() - 1 - used_);
    std::memcpy(characters.data() + used_, part.data(), size);
    used_ += size;
}

void sentence_writer::put(std::uint64_t number) noexcept {
    short_text<24> digits;
    digits.put_number(number);
    put(std::string_view(digits.c_str()));
}

}  // namespace eventlog::core
