// SPDX-License-Identifier: MIT
//
// Conversion of elog's exceptions to those of libelog.
#pragma once

#include <utility>

#include <elog/error.hpp>

#include "base/output.hpp"
#include "base/user_error.hpp"

namespace elog::library {

template <class Function>
decltype(auto) convert_errors(Function&& function) {
    try {
        return std::forward<Function>(function)();
    } catch (const user_error& mistake) {
        throw error(mistake.what());
    } catch (const output_closed&) {
        throw error("The reader of the output has closed it.");
    }
}

}  // namespace elog::library
