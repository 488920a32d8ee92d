/* SPDX-License-Identifier: MIT */
/*
 * Hides a macro `emit`, as Qt defines it, from the header that includes this file. The header
 * includes pop_emit.h at its end. No include guard: headers nest.
 */
#pragma push_macro("emit")
#undef emit
