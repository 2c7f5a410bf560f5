"""The runtime's side of TVM: kernels, tensors, devices, arguments. Nothing else in the runtime knows TVM."""
