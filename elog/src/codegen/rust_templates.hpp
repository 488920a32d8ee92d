// SPDX-License-Identifier: MIT
//
// Fixed parts of a generated Rust module; those with parameters are fmt formats.
#pragma once

#include <string_view>

namespace elog::rust_templates {

/// 0: provider and description, 1: hash.
inline constexpr char introduction[] = R"(//! Provider {0}
//!
//! Made by elog schema gen --lang rust. Change the schema and make it anew; this is overwritten.
//! The hash of the schema is 0x{1:016x}.
//!
//! A module of a program or cdylib, for any edition up to 2021. The program is published when it
//! is loaded. Without a listener, an event is one load and a branch. All functions: any thread.
)";

inline constexpr std::string_view module_head = R"(
#![allow(dead_code, non_snake_case, non_camel_case_types, non_upper_case_globals)]
#![allow(bindings_with_variant_name)] // a field may be called like a value of its enumeration
#![allow(clippy::too_many_arguments, clippy::declare_interior_mutable_const)]

use std::os::raw::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

#[repr(C)]
struct Definition {
    size: u32,
    event_count: u32,
    gate: *const Gate,
    gate_size: usize,
    schema: *const u8,
    schema_size: usize,
}

#[repr(C)]
struct Piece {
    data: *const u8,
    size: usize,
}

#[link(name = "eventlog")]
extern "C" {
    fn eventlog_raw_provider_register(definition: *const Definition) -> *mut c_void;
    fn eventlog_raw_provider_unregister(provider: *mut c_void);
    fn eventlog_has_listener(provider: *const c_void, event: u32) -> bool;
    fn eventlog_emit_raw(provider: *mut c_void, event: u32, payload: *const u8, size: usize);
    fn eventlog_emit_raw_parts(
        provider: *mut c_void,
        event: u32,
        pieces: *const Piece,
        count: usize,
        flags: u32,
    );
}

#[cfg(target_arch = "aarch64")]
const GATE_SIZE: usize = 65536;
#[cfg(not(target_arch = "aarch64"))]
const GATE_SIZE: usize = 8192;

/// One word for each event, and room for counters. Shared memory is mapped over it: it is alone on
/// its pages.
#[cfg_attr(target_arch = "aarch64", repr(C, align(65536)))]
#[cfg_attr(not(target_arch = "aarch64"), repr(C, align(4096)))]
struct Gate([AtomicU32; GATE_SIZE / 4]);

const CLOSED: AtomicU32 = AtomicU32::new(0);
static GATE: Gate = Gate([CLOSED; GATE_SIZE / 4]);
static HANDLE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

fn handle() -> *mut c_void {
    HANDLE.load(Ordering::Acquire)
}

// Called by the loader, in front of main and behind it.
#[used]
#[link_section = ".init_array"]
static REGISTER: extern "C" fn() = register;
#[used]
#[link_section = ".fini_array"]
static UNREGISTER: extern "C" fn() = unregister;

extern "C" fn unregister() {
    let provider = HANDLE.swap(ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: nothing else has this handle any more, or it is null, which is allowed.
    unsafe { eventlog_raw_provider_unregister(provider) }
}

)";

/// 0: size of the schema, 1: its bytes, 2: number of events.
inline constexpr char registration[] = R"(static SCHEMA: [u8; {0}] = [
{1}
];

extern "C" fn register() {{
    let definition = Definition {{
        size: std::mem::size_of::<Definition>() as u32,
        event_count: {2},
        gate: &GATE,
        gate_size: std::mem::size_of::<Gate>(),
        schema: SCHEMA.as_ptr(),
        schema_size: SCHEMA.len(),
    }};
    // SAFETY: gate and schema are static.
    let provider = unsafe {{ eventlog_raw_provider_register(&definition) }};
    HANDLE.store(provider, Ordering::Release);
}}
)";

inline constexpr std::string_view variable_parts = R"(
/// A text, byte string or sequence on its way into a payload.
struct Part<'a> {
    bytes: &'a [u8],
    nul: &'static [u8], // behind a text
    unit: usize,        // the size of an element
}

impl<'a> Part<'a> {
    fn text(text: Option<&'a str>) -> Part<'a> {
        Part {
            bytes: text.unwrap_or("").as_bytes(),
            nul: if text.is_some() { b"\0" } else { b"" },
            unit: 1,
        }
    }

    fn bytes(bytes: Option<&'a [u8]>) -> Part<'a> {
        Part {
            bytes: bytes.unwrap_or(b""),
            nul: b"",
            unit: 1,
        }
    }

    fn elements<T: Copy>(elements: Option<&'a [T]>) -> Part<'a> {
        let data = elements.unwrap_or(&[]);
        // SAFETY: elements are numbers, bools or enumerations, which have no padding.
        let bytes = unsafe {
            std::slice::from_raw_parts(data.as_ptr().cast(), std::mem::size_of_val(data))
        };
        Part {
            bytes,
            nul: b"",
            unit: std::mem::size_of::<T>(),
        }
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.nul.len()
    }
}

impl Piece {
    fn of(bytes: &[u8]) -> Piece {
        Piece {
            data: bytes.as_ptr(),
            size: bytes.len(),
        }
    }
}

/// The location of a text, byte string or sequence: its size, and its offset from this word. `end`
/// is its offset in the payload, and is advanced. A payload that is too large is rejected as a
/// whole.
fn put_word(payload: &mut [u8], offset: usize, size: usize, end: &mut usize) {
    if size != 0 {
        let word = ((size & 0xffff) << 16 | ((*end - offset - 4) & 0xffff)) as u32;
        payload[offset..offset + 4].copy_from_slice(&word.to_ne_bytes());
    }
    *end += size;
}
)";

inline constexpr std::string_view cut_longest = R"(
const PAYLOAD_SIZE_MAX: usize = 65536 - 24;

/// Cuts the longest parts so that all of them fit into a record, texts between two characters and
/// sequences between two elements. Returns flags to emit.
fn cut_longest(parts: &mut [Part], fixed_size: usize) -> u32 {
    let size_with = |parts: &[Part], longest: usize| -> usize {
        let sizes = parts.iter().map(|part| part.bytes.len().min(longest) + part.nul.len());
        fixed_size + sizes.sum::<usize>()
    };
    if size_with(parts, usize::MAX) <= PAYLOAD_SIZE_MAX {
        return 0;
    }
    let (mut low, mut high) = (0, PAYLOAD_SIZE_MAX + 1); // what fits is in low..high
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if size_with(parts, middle) <= PAYLOAD_SIZE_MAX {
            low = middle;
        } else {
            high = middle;
        }
    }
    for part in parts.iter_mut().filter(|part| part.bytes.len() > low) {
        let mut size = low - low % part.unit;
        while !part.nul.is_empty() && size > 0 && part.bytes[size] & 0xc0 == 0x80 {
            size -= 1;
        }
        part.bytes = &part.bytes[..size];
    }
    1
}
)";

/// 0: event, 1: its function that tests the gate, 2: number of the event.
inline constexpr char enabled[] = R"(
/// Whether {0} has a listener now.
#[inline(always)]
pub fn {1}() -> bool {{
    let word = GATE.0[{2}].load(Ordering::Relaxed);
    // A gate may be open without a listener. SAFETY: the handle is one or null.
    word != 0
        && (word & 0x7FFE_FFFF != 0 || unsafe {{ eventlog_has_listener(handle(), {2}) }})
}}

)";

}  // namespace elog::rust_templates
