// SPDX-License-Identifier: MIT
#include "file/read_observer.hpp"

namespace elog {
namespace {

thread_local read_observer* present = nullptr;

}  // namespace

read_observer::read_observer() noexcept {
    present = this;
}

read_observer::~read_observer() {
    present = nullptr;
}

void notify_read(std::uint64_t bytes) {
    if (present != nullptr) {
        present->note(bytes);
    }
}

}  // namespace elog
