"""What tests of the compiler's middle share: random programs, and small executors that decide what they mean.

Not part of the distribution. Nothing here uses a pass or a checker of ``regvm`` to decide what is right.
"""
