// SPDX-License-Identifier: MIT
#include "text/utf8.hpp"

namespace elog {

utf8_character first_character(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) {
        return {lead, 1};
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) {
        return {};
    }
    std::uint32_t code = lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) {
            return {};
        }
        code = code << 6U | (byte(i) & 0x3fU);
    }
    const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool no_character = code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
    return too_long || no_character ? utf8_character{} : utf8_character{code, length};
}

}  // namespace elog
