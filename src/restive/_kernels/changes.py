"""Evidence that an arm is not what it was: likelihood ratios of its latest samples."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit


@njit(cache=True, error_model="numpy", nogil=True)
def log_evidence(gaps, paid, older_gaps, older_paid, powers, means, tilts, evidence, peaks):
    """Write to ``evidence`` how strongly the samples since each checkpoint speak for a change.

    gaps: (S, A, S) counts N(s, n, s') and paid: (S, 3) rewards of one arm now; older_*: the same at
    C checkpoints. powers: (A', S, S) of the chain believed in, A' ages of samples at most. means:
    (S,) believed mean rewards.

    evidence[c] = log of the mean, over all tilts z and over all pairs s, s' and all states s, of
    exp(z N(s, s') - sum_n N(s, n) log(1 + P^n(s, s') (e^z - 1))) and
    exp(z sum of rewards in s - N(s) log(1 + mean(s) (e^z - 1))); peaks[c] = log of their maximum.
    """
    size, longest, count = len(gaps), len(powers), len(tilts)
    growth = np.exp(tilts) - 1.0
    parts = np.empty(size * (size + 1) * count)
    spent = np.empty(count)
    tried = np.empty(longest, dtype=np.int64)
    for c in range(len(older_gaps)):
        part = 0
        for s in range(size):
            for n in range(longest):
                tried[n] = 0
                for e in range(size):
                    tried[n] += gaps[s, n, e] - older_gaps[c, s, n, e]
            for e in range(size):
                seen = 0
                spent[:] = 0.0
                for n in range(longest):
                    if tried[n] > 0:
                        seen += gaps[s, n, e] - older_gaps[c, s, n, e]
                        for k in range(count):
                            spent[k] += tried[n] * np.log1p(powers[n, s, e] * growth[k])
                for k in range(count):
                    parts[part] = tilts[k] * seen - spent[k]
                    part += 1
            many = paid[s, 0] - older_paid[c, s, 0]
            total = paid[s, 1] - older_paid[c, s, 1]
            for k in range(count):
                parts[part] = tilts[k] * total - many * np.log1p(means[s] * growth[k])
                part += 1
        most = parts.max()
        peaks[c] = most
        evidence[c] = most + np.log(np.exp(parts - most).mean())
