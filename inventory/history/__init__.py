"""What was: use over time, and what happened to objects.

``numbers`` is what is counted, ``storing`` keeps one sample of a cluster, ``spans``
does the arithmetic of step functions, ``rolling`` sums up hours and days and forgets,
``reading`` answers charts. ``happenings`` is what the mirrors write about objects.
"""
