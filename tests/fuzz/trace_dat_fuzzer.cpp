// SPDX-License-Identifier: MIT
//
// Whatever bytes claim to be trace.dat: they are refused, or all that is made of them can be read.
#include "recorded_file_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    eventlog::test::check_recorded_file(data, size);
    return 0;
}
