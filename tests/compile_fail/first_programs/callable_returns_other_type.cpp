// SPDX-License-Identifier: MIT
//
// expect: the callable does not return an event of this provider. Return one, or add the type
#include <cstdint>
#include <string>

#include <eventlog/eventlog.hpp>

struct tree_changed {
    std::uint32_t nodes;
    std::string text;
};
using index_tree = eventlog::provider<"index_tree", tree_changed>;

int main() {
    index_tree::emit([] { return std::string("((a b) c)"); });
}
