// SPDX-License-Identifier: MIT
//
// The same as tour.c, through the header of elog schema gen --lang c++.
#include "tour.hpp"

#include <cstdint>
#include <optional>

int main() {
    tour::provider::emit(tour::weather{true});
    std::uint32_t number = 0;
    for (const std::uint64_t id : {std::uint64_t{1}, std::uint64_t{2}, 0xfedcba9876543210}) {
        const eventlog::session<tour::provider> session(id);
        session.emit(tour::step{number, "bridge"});
        session.emit(tour::glance{"river"});
        session.emit(tour::glance{std::nullopt});
        number += 10;
    }
}
