// SPDX-License-Identifier: MIT
//
// The same as tour.c, through the module of elog schema gen --lang rust.
mod tour;

fn main() {
    tour::weather(true);
    for (index, session) in [1, 2, 0xfedcba9876543210].into_iter().enumerate() {
        tour::session_begin(session);
        tour::step(session, index as u32 * 10, "bridge");
        tour::glance(session, Some("river"));
        tour::glance(session, None);
        tour::session_end(session);
    }
}
