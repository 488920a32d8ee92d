// SPDX-License-Identifier: MIT
#include "cli/json_document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/json_text.hpp"

namespace elog {

std::string document_text(const nlohmann::ordered_json& document) {
    fmt::memory_buffer text;
    append_visible_json(
        text, document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return fmt::to_string(text);
}

}  // namespace elog
