"""The RFC's evidence, measured and rendered."""

# First, so that TVM is loaded in the way that lets TensorFlow share the process.
import regvm as regvm
