// SPDX-License-Identifier: MIT
//
// Costly values: emit() calls a callable only if there is a listener; enabled() asks for one.
#include <cstdint>
#include <iostream>
#include <string>

#include <eventlog/eventlog.hpp>

struct tree_changed {
    std::uint32_t nodes;
    std::string text;
};
struct tree_checked {
    bool sorted;
};
using index_tree = eventlog::provider<"index_tree", tree_changed, tree_checked>;

static std::uint32_t calculations = 0;

static std::string print_tree() {
    ++calculations;
    return "((a b) c)";
}
static bool is_sorted() {
    ++calculations;
    return true;
}

int main() {
    index_tree::emit([] { return tree_changed{5, print_tree()}; });
    if (index_tree::enabled<tree_checked>()) {
        const bool sorted = is_sorted();
        index_tree::emit(tree_checked{sorted});
    }
    std::cout << calculations << " calculations\n";
}
