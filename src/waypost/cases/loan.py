"""The loan application of the paper's Fig. 1: what the applicant may do, and what the bank may answer."""

from __future__ import annotations

from waypost.model import MDP


def loan() -> MDP:
    """Loan application process (paper, Fig. 1); the goal is ``"Granted"``.

    >>> loan()
    MDP(states=10, choices=14, transitions=18, initial='s0')
    """
    return MDP.from_dict(
        {
            "s0": {"Apply": {"Application": "0.95", "Error": "0.05"}, "Consult": "Consultation"},
            "Application": {"Provider": {"Application+": "0.5", "Consultation": "0.5"}},
            "Error": {"Consult": "Consultation", "Quit": "Rejected"},
            "Consultation": {"Apply": "Application+", "Angry": "Angry"},
            "Angry": {"Quit": "Rejected"},
            "Application+": {"Provider": {"Rework": "0.1", "Granted": "0.9"}},
            "Rework": {"Submit": "Resubmit", "Quit": "Rejected"},
            "Resubmit": {"Provider": {"Granted": "0.8", "Rejected": "0.2"}},
            "Granted": {},
            "Rejected": {},
        },
        initial="s0",
    )
