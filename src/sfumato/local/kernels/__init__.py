"""The compiled kernels of local recoding; tests compare them with plain loops."""
