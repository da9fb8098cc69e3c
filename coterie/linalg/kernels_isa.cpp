// placeholder until the kernels land in the next commit
