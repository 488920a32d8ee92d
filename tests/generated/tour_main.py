# SPDX-License-Identifier: MIT
"""The same as tour.c, through the module of elog schema gen --lang python."""

import tour

tour.weather(True)
for index, session in enumerate((1, 2, 0xFEDCBA9876543210)):
    tour.session_begin(session)
    tour.step(session, index * 10, "bridge")
    tour.glance(session, "river")
    tour.glance(session, None)
    tour.session_end(session)
