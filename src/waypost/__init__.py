"""Which steps mattered on the way to the goal?

>>> import waypost
>>> from waypost.cases import loan
>>> waypost.state_importance(loan(), target="Granted", scope="all")["Application"]
Bounds(lower=0.0, upper=1.0)
"""
