// SPDX-License-Identifier: MIT
//
// Prints the result of publishing a provider: the code on one line, the sentence on the next.
#include <cstdint>
#include <cstdio>

#include <eventlog/eventlog.hpp>

namespace {

struct question {
    std::uint32_t number;
};
using asker = eventlog::provider<"asker", question>;

}  // namespace

int main() {
    asker::emit(question{1});
    const eventlog::provider_status status = asker::status();
    std::printf("%d\n%s\n", static_cast<int>(status.code), status.text.data());
}
