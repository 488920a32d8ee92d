/* SPDX-License-Identifier: MIT */
/* Restores the macro that push_emit.h hid. No include guard: headers nest. */
#pragma pop_macro("emit")
