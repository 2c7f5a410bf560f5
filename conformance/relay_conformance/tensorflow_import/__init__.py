"""From a TensorFlow model to a Relay program: freeze, repair, import; and run the frozen graph itself.

Nothing here imports TensorFlow until a function needs it, so that Relay programs can do without.
"""
