"""The authors' route, and the race against their and other tools: nothing else imports this room.

::

    encodings   QP, QP* and LP* over real solvers, with the strategies they find evaluated exactly
    studies     the paper's tables and figure, made again beside the exact values
    bench       Waypost and Storm side by side on one machine
"""
