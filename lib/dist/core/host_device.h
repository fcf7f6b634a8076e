// DIST_HD marks functions that run on the CPU and, when nvcc compiles them, on a GPU too.
#pragma once

#ifdef __CUDACC__
#define DIST_HD __host__ __device__
#else
#define DIST_HD
#endif
