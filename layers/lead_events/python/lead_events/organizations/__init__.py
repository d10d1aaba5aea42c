"""Organisations: what billing and offboarding tell about them, and the state that follows from it.

``contract`` are the events, ``registers`` what makes any order of arrival give one state, ``state`` the fold of the events,
``lifecycle`` whether an organisation is still there, ``showing`` how the API tells all that. Pure: no clock, no store.
"""
