// SPDX-License-Identifier: MIT
//
// A large JSON object as the output of a command.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace elog {

/// The indented text. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string document_text(const nlohmann::ordered_json& document);

}  // namespace elog
