// SPDX-License-Identifier: MIT
//
// What libelog throws.
#pragma once

#include <stdexcept>

#include <elog/api.hpp>

namespace elog {

/// Something that cannot be done: one sentence that says what is wrong and what to do. What is
/// wrong with a record or with a part of a file is no error, see value and source::complaints.
class ELOG_API error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    error(const error&) = default;
    error& operator=(const error&) = default;
    ~error() override;
};

}  // namespace elog
