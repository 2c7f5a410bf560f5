"""Cases at the level of Relay, as data: for each rule of the language and of the machine small programs, what they
are run on, and what they must give.

``families`` declares them, ``catalog`` collects them, ``batches`` makes modules of them, ``running`` runs those on
an executor in every variation. TensorFlow has no part in it.
"""
