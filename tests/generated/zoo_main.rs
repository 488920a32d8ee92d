// SPDX-License-Identifier: MIT
//
// The same as zoo.c, through the module of elog schema gen --lang rust.
mod zoo;

fn main() {
    let network = u32::from_ne_bytes([127, 0, 0, 1]);
    let mut six = [0u8; 16];
    six[..4].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
    six[15] = 1;
    zoo::numbers(
        true, b'x', i8::MIN, i16::MIN, i32::MIN, i64::MIN, u8::MAX, u16::MAX, u32::MAX, u64::MAX,
        0.5, -0.25,
    );
    zoo::named(
        zoo::Size::Large,
        zoo::Balance::Debt,
        zoo::diet::GRASS | zoo::diet::FISH,
        &[zoo::Size::Large, zoo::Size::Huge],
    );
    zoo::formats(
        0xdeadbeef,
        -2,
        1500000,
        1700000000123456789,
        12345678901,
        2048,
        &[192, 0, 2, 1],
        &six,
        &[0, 1, 2, 0xfd, 0xfe, 0xff],
        b"label\0\0\0",
        network,
        50,
    );
    zoo::texts("name", b"\x01\xff", "\u{e9}", &[1, 2, 65535]);
    zoo::options(
        Some(0),
        Some(""),
        Some(b""),
        Some(true),
        Some(zoo::Size::Huge),
        Some(&[10, 0, 0, 1]),
        Some(&[-1, 2]),
    );
    zoo::options(None, None, None, None, None, None, None);
    zoo::long_texts("short", &[0; 2], 7, "text");
    zoo::long_texts(&"\u{e9}".repeat(35000), &[0; 30001], 7, "short");
    zoo::sequences(
        &[150, u32::MAX],
        &[true, false, true],
        &[0.5, -0.25],
        &[zoo::Size::Large, zoo::Size::Huge],
        Some(&[zoo::Balance::Debt]),
        &[zoo::diet::GRASS | zoo::diet::FISH, zoo::diet::MEAT],
        &[1500, 2500000],
        "den",
        Some(&[i8::MIN, 0]),
    );
    zoo::sequences(&[], &[], &[], &[], Some(&[]), &[], &[], "", None);
    let numbers: Vec<u64> = (0..10000).collect();
    let delays: Vec<u16> = (0..15000).collect();
    zoo::long_sequences("short", &numbers[..3], &[-1, 2], &delays[..2]);
    zoo::long_sequences("short", &numbers, &[-1, 2], &delays);
    zoo::visit(1500, 7, Some("dawn"));
    zoo::pause(2500000);
    zoo::visitors(3);
    zoo::nothing();
    zoo::delete(1, 2, 3, 4, 5, "text");
    zoo::nothing();
    std::process::exit(if zoo::nothing_enabled() && zoo::delete_enabled() { 0 } else { 1 });
}
