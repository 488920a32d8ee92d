# SPDX-License-Identifier: MIT
"""Statistics of paired measurements: a ratio, its 95 % confidence interval, and a verdict."""

import dataclasses
import math
import statistics

# Student's t for 1 to 9 degrees of freedom: 97.5 % lie below.
SMALL_QUANTILES = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
NORMAL_QUANTILE = 1.959964
# Trimmed at each end, of ten pairs: a single disturbed pair must not decide.
TRIMMED = 0.1
LEAST_PAIRS, MOST_PAIRS = 2, 1000

SLOWER, FASTER, WITHIN, UNDECIDED = "slower", "faster", "within", "undecided"


def student_quantile(freedom):
    """The 97.5 % quantile of Student's t distribution, with an error below 0.001."""
    if freedom <= len(SMALL_QUANTILES):
        return SMALL_QUANTILES[freedom - 1]
    z = NORMAL_QUANTILE
    # Abramowitz and Stegun, 26.7.5.
    return (z + (z**3 + z) / (4 * freedom)
            + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3))


@dataclasses.dataclass
class Interval:
    """A ratio with the ends of its 95 % confidence interval."""
    ratio: float
    low: float
    high: float


def interval_of(above, below):
    """The ratio of two variants from pairs of positive values, by the trimmed mean of the pairs'
    logarithms (Yuen). The ratio of swapped variants is the reciprocal."""
    logs = sorted(math.log(one / other) for one, other in zip(above, below, strict=True))
    count = len(logs)
    cut = int(TRIMMED * count)
    kept = logs[cut:count - cut]
    center = statistics.fmean(kept)
    replaced = [kept[0]] * cut + kept + [kept[-1]] * cut
    squares = (count - 1) * statistics.variance(replaced)
    error = math.sqrt(squares / (len(kept) * (len(kept) - 1)))
    width = student_quantile(len(kept) - 1) * error
    return Interval(math.exp(center), math.exp(center - width), math.exp(center + width))


@dataclasses.dataclass
class Verdict:
    kind: str
    text: str


def verdict_on(interval, pairs, limit):
    """Returns the verdict on a figure in which less is better. The limit is in percent; "within" it
    means not slower by more than that."""
    change = 100 * (interval.ratio - 1)
    noise = 50 * (interval.high - interval.low)
    if interval.low > 1 + limit / 100:
        return Verdict(SLOWER, f"slower by {change:.1f} % (±{noise:.1f})")
    if interval.high < 1:
        return Verdict(FASTER, f"faster by {-change:.1f} % (±{noise:.1f})")
    if interval.high <= 1 + limit / 100:
        return Verdict(WITHIN, f"within {limit:g} %")
    needed = pairs_needed(change, noise, pairs, limit)
    remedy = "use an idle machine" if needed is None else f"use --pairs {needed}"
    return Verdict(UNDECIDED, f"undecided: noise ±{noise:.1f} %; {remedy}")


def pairs_needed(change, noise, pairs, limit):
    """How many pairs should decide, in tens; None: more than there may be. Noise shrinks with the
    square root of their number. A change at the limit itself would take infinitely many: a third of
    the limit is as near as is worth the time."""
    distance = max(abs(limit - change), limit / 3)
    spread = noise * math.sqrt(pairs) / student_quantile(pairs - 1)
    for needed in range(10 * (pairs // 10 + 1), MOST_PAIRS + 1, 10):
        if spread * student_quantile(needed - 1) / math.sqrt(needed) <= distance:
            return needed
    return None
