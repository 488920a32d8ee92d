// SPDX-License-Identifier: MIT
//
// Random perf.data files: they are rejected, or the recording made of them can be read.
#include "recorded_file_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    eventlog::test::check_recorded_file(data, size);
    return 0;
}
