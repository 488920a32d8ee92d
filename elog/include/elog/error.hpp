// SPDX-License-Identifier: MIT
//
// The exception of libelog.
#pragma once

#include <stdexcept>

#include <elog/api.hpp>

namespace elog {

/// An operation failed. The message is one sentence with the reason and the remedy. A damaged
/// record or a damaged part of a file is not an error, see value and source::complaints.
class ELOG_API error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    error(const error&) = default;
    error& operator=(const error&) = default;
    ~error() override;
};

}  // namespace elog
