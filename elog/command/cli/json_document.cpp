// SPDX-License-Identifier: MIT
#include "cli/json_document.hpp"

#include <nlohmann/json.hpp>

namespace elog {

std::string document_text(const nlohmann::ordered_json& document) {
    return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace elog
