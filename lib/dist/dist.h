// The tour starts here: everything a program on distlab needs.
//
//   int main() {
//     dist::init_process_group();
//     auto t = dist::full({4}, dist::get_rank());
//     dist::all_reduce(t);
//     fmt::print("rank {}: {}\n", dist::get_rank(), t.str());
//     dist::destroy_process_group();
//   }
//
//   $ distrun --nproc-per-node 4 ./program
//
// After `using namespace dist`, names such as data, nn and sim are namespaces of the library.
#pragma once

#include "dist/core/error.h"
#include "dist/core/tensor.h"
#include "dist/data/sampler.h"
#include "dist/group/process_group.h"
#include "dist/launch/spawn.h"
#include "dist/nn/nn.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/simulate/simulate.h"
