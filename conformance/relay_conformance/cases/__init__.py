"""Cases as data: tables of operands and attributes for every operator that TVM's TensorFlow importers know.

``families`` declares them, ``catalog`` collects them, ``graphs`` makes TensorFlow graphs of them, ``running``
runs those and classes the results. Nothing here imports TensorFlow until a graph is built, so that the tables
themselves are tested fast.
"""
