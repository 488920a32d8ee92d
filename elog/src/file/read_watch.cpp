// SPDX-License-Identifier: MIT
#include "file/read_watch.hpp"

namespace elog {
namespace {

thread_local read_watch* present = nullptr;

}  // namespace

read_watch::read_watch() noexcept {
    present = this;
}

read_watch::~read_watch() {
    present = nullptr;
}

void note_read(std::uint64_t bytes) {
    if (present != nullptr) {
        present->note(bytes);
    }
}

}  // namespace elog
