// SPDX-License-Identifier: MIT
//
// expect: a value cannot be converted to this type. Use a number, an enumeration, std::string_view
#include <optional>
#include <string>

#include <elog/elog.hpp>

bool is_sent_to_ann(const elog::record& record) {
    return record["recipient"].as<std::string>() == "ann@example.org";
}
