// The library's dtypes and reductions as MPI's.
#pragma once

#include <mpi.h>

#include "dist/core/types.h"

namespace dist::mpi {

// f16 and bf16, which MPI does not know, are moved as integers of their size, and reduced by the library's
// operations.
MPI_Datatype type_of(DType dtype);

// A base operation (neither avg nor premul_sum), defined for `dtype`. It is MPI's own where that means the
// same as the library's, else one that calls the library's kernels: for f16, bf16 and bool, and for min and
// max of floating point, which keep a NaN.
MPI_Op op_of(ReduceOp::Kind kind, DType dtype);

}  // namespace dist::mpi
