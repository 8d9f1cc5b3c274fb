"""The theorems as functions: what is promised, for which problem, and from which horizon on.

``confidence`` holds mixing times, colors and the radii of the confidence sets, ``regret`` the
theorems, ``horizons`` the doubling trick and the first horizon at which a bound says something, and
``problem`` evaluates all of it for one bandit.
"""

from restive.theory.confidence import (
    color_caps,
    episodes_bound,
    exploration_cost,
    mixing_time_bound,
    n_colors,
    reversible_mixing_bound,
    reward_radius,
    reward_visits,
    transition_radius,
    transition_visits,
    two_step_mixing_bound,
)
from restive.theory.horizons import doubling_bound, doubling_rounds, first_meaningful_horizon
from restive.theory.problem import BanditBounds, problem_bounds
from restive.theory.regret import (
    RegretTerms,
    bandit_regret_bound,
    diameter_bound,
    logarithmic_bound,
    lower_bound,
    regret_bound,
    regret_terms,
    theorem_2,
    theorem_2_unknown_mixing,
    ucrl2_bound,
    ucrl2_original_bound,
)

__all__ = [
    "BanditBounds",
    "RegretTerms",
    "bandit_regret_bound",
    "color_caps",
    "diameter_bound",
    "doubling_bound",
    "doubling_rounds",
    "episodes_bound",
    "exploration_cost",
    "first_meaningful_horizon",
    "logarithmic_bound",
    "lower_bound",
    "mixing_time_bound",
    "n_colors",
    "problem_bounds",
    "regret_bound",
    "regret_terms",
    "reversible_mixing_bound",
    "reward_radius",
    "reward_visits",
    "theorem_2",
    "theorem_2_unknown_mixing",
    "transition_radius",
    "transition_visits",
    "two_step_mixing_bound",
    "ucrl2_bound",
    "ucrl2_original_bound",
]
