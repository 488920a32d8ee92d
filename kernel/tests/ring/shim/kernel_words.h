/* SPDX-License-Identifier: GPL-2.0-only */
/* Replacements for the kernel functions that ring.c uses, in a deterministic program. */
#ifndef KERNEL_WORDS_H
#define KERNEL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/cdefs.h> /* __always_inline */

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef u8 __u8;
typedef uint16_t __u16;
typedef u32 __u32;
typedef u64 __u64;

typedef struct {
	u64 value;
} local64_t;

/* Called between any two accesses that another context could observe: it may interrupt here. */
void between_instructions(void);
u64 ktime_get_mono_fast_ns(void);

#define noinline __attribute__((noinline))
#define likely(condition) (condition)
#define unlikely(condition) (condition)
#define ALIGN(value, unit) (((value) + (unit) - 1) / (unit) * (unit))
#define DIV_ROUND_UP(value, unit) (((value) + (unit) - 1) / (unit))

#define barrier() between_instructions()
#define smp_wmb() between_instructions()
#define READ_ONCE(word) (between_instructions(), (word))
#define WRITE_ONCE(word, to)                                                                       \
	do {                                                                                       \
		between_instructions();                                                            \
		(word) = (to);                                                                     \
		between_instructions();                                                            \
	} while (0)
#define smp_load_acquire(word) (between_instructions(), *(word))
#define smp_store_release(word, to) WRITE_ONCE(*(word), to)

static inline u64 cmpxchg_local_u64(u64 *word, u64 before, u64 after)
{
	u64 found;

	between_instructions();
	found = *word;
	if (found == before)
		*word = after;
	between_instructions();
	return found;
}

#define cmpxchg_local(word, before, after) cmpxchg_local_u64(word, before, after)

static inline void local64_inc(local64_t *word)
{
	between_instructions();
	word->value++;
	between_instructions();
}

/* A context that interrupts behaves as an NMI and ignores this. */
#define local_irq_save(flags) ((void)((flags) = 0), between_instructions())
#define local_irq_restore(flags) ((void)(flags), between_instructions())

#endif /* KERNEL_WORDS_H */
