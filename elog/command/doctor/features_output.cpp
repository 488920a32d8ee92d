// SPDX-License-Identifier: MIT
//
// What recordings and people get.
#include <unistd.h>
#include <zstd.h>

#include <fmt/core.h>

#include "base/zstd_frames.hpp"
#include "doctor/features.hpp"
#include "terminal/terminal.hpp"
#include "text/character_locale.hpp"

namespace elog {
namespace {

feature find_terminal() {
    const terminal_style style = style_of(STDOUT_FILENO);
    if (::isatty(STDOUT_FILENO) != 1) {
        return {"terminal", availability::no, "the output goes elsewhere",
                fmt::format("Run elog on a terminal: else lines have {} columns and no colours.",
                            style.width)};
    }
    if (!style.has_colours) {
        return {"terminal", availability::limited,
                fmt::format("{} columns, no colours", style.width),
                "Unset NO_COLOR, and set TERM to what the terminal is."};
    }
    return {"terminal", availability::yes, fmt::format("{} columns, colours", style.width), {}};
}

feature find_character_encoding() {
    const locale_choice chosen = character_locale();
    if (chosen.is_utf8()) {
        return {
            "utf8", availability::yes, fmt::format("{} ({})", chosen.name, chosen.variable), {}};
    }
    return {"utf8", availability::no,
            chosen.variable == nullptr ? std::string("no locale is chosen")
                                       : fmt::format("{} ({})", chosen.name, chosen.variable),
            "Set LC_ALL=C.UTF-8, if the terminal shows UTF-8. Until then bars are of plain "
            "characters."};
}

}  // namespace

void find_output_features(std::vector<feature>& features) {
    features.push_back({"zstd",
                        availability::yes,
                        fmt::format("{}, levels {} to {}", ::ZSTD_versionString(),
                                    compression_level_min, compression_level_max),
                        {}});
    features.push_back(find_terminal());
    features.push_back(find_character_encoding());
}

}  // namespace elog
