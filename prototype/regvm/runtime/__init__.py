"""Running an executable: values, kernels, the interpreter and the machine that users hold."""
