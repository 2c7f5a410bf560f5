"""Does every VM agree, and with TensorFlow?"""
